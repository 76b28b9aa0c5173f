// storage_align: rows of a buffer start at aligned addresses.
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/annotations.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/layout.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg buffer_index;
  int64_t axis = 0, factor = 1, offset = 0;
  static constexpr std::string_view kRequired[] = {"axis", "factor", "offset"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block that writes the buffer"),
        field<&Args::buffer_index>("buffer_index", "which of the buffers it writes"),
        field<&Args::axis>("axis", "the dimension whose stride is aligned; negative counts from the last"),
        field<&Args::factor>("factor", "the stride is a multiple of this ..."),
        field<&Args::offset>("offset", "... plus this, in elements")};
  }
};

void apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const BufferPlace place = require_buffer(state, block, &args.buffer_index, false);
  const WrittenBuffer target = allocated(state, block, place.buffer);
  const auto ndim = static_cast<int64_t>(target.buffer->shape.size());
  if (target.owner == kNoNode)
    throw refuse(state, block, "buffer {} is {}", target.buffer->name,
                 where_from(state, block, target.buffer));
  if (args.axis < -ndim || args.axis >= ndim)
    throw refuse(state, block, "buffer {} has {}, there is no axis {}", target.buffer->name,
                 count_text(ndim, "dimension"), args.axis);
  if (args.factor < 1) throw refuse(state, block, "factor {} is below 1", args.factor);
  const int64_t axis = args.axis < 0 ? args.axis + ndim : args.axis;
  // a list of (buffer, axis, factor, offset); a new entry for the same buffer and axis replaces the old one
  edit_annotations(state, block, [&](AttrMap& annotations) {
    std::vector<ObjectRef> entries;
    const ObjectRef known = annotations.get(kStorageAlign);
    if (const auto* list = known.as<ArrayNode>()) {
      for (const ObjectRef& entry : list->items) {
        const auto* parts = entry.as<ArrayNode>();
        const bool is_same =
            parts && parts->items.size() == 4 &&
            is_const_int(ref_as<PrimExprNode>(parts->items[0]), static_cast<int64_t>(place.index)) &&
            is_const_int(ref_as<PrimExprNode>(parts->items[1]), axis);
        if (!is_same) entries.push_back(entry);
      }
    }
    std::vector<ObjectRef> entry = {imm(static_cast<int64_t>(place.index)), imm(axis), imm(args.factor),
                                    imm(args.offset)};
    entries.push_back(ArrayNode::make(std::move(entry)));
    annotations.set(std::string(kStorageAlign), ArrayNode::make(std::move(entries)));
  });
}

}  // namespace

extern constinit const PrimitiveInfo storage_align_info = primitive<apply>("storage_align", R"(
Asks that the stride of a dimension be `factor * n + offset` elements, so that rows start at aligned addresses or, with an
odd offset, in different memory banks.  It is an annotation, which buffer compaction follows.

block         a block that writes the buffer, which must be allocated in the function
buffer_index  which of the buffers it writes, in the order of T.writes
axis          the dimension; negative counts from the last
factor        >= 1
offset        in elements
)");
}  // namespace tilewright::schedule
