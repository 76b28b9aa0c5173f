// set_axis_separator: where the dimensions of a buffer are cut when it is laid out in memory.
#include "tilewright/schedule/transforms/buffers.h"

#include <fmt/format.h>
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg buffer;
  std::vector<int64_t> axis_separators;
  static constexpr std::string_view kRequired[] = {"axis_separators"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block that accesses the buffer"),
        field<&Args::buffer>("buffer", "its name, (\"read\" | \"write\", number) or itself"),
        field<&Args::axis_separators>("axis_separators", "dimensions before which to cut, rising")};
  }
};

void apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const WrittenBuffer target = allocated(state, block, require_buffer(state, block, &args.buffer).buffer);
  const auto ndim = static_cast<int64_t>(target.buffer->shape.size());
  int64_t last = 0;
  for (int64_t separator : args.axis_separators) {
    if (separator < last || separator > ndim)
      throw refuse(state, block, "axis separators [{}] are no rising list of numbers from 0 to {}",
                   fmt::join(args.axis_separators, ", "), ndim);
    last = separator;
  }
  if (target.buffer->axis_separators == args.axis_separators) return;
  const Buffer changed =
      with(target.buffer, [&](BufferNode& n) { n.axis_separators = args.axis_separators; });
  replace_allocated_buffer(state, target, changed, {});
}

}  // namespace

extern constinit const PrimitiveInfo set_axis_separator_info = primitive<apply>("set_axis_separator", R"(
Cuts the dimensions of a buffer into groups; each group becomes one dimension in memory.

    B = T.alloc_buffer((8, 8))    ->    B = T.alloc_buffer((8, 8), axis_separators=[1])     set_axis_separator(B, "B", [1])

block            a block that accesses the buffer; stays valid
buffer           its name, ("read" | "write", number) in the block's lists, or the buffer itself
axis_separators  before which dimensions to cut, in rising order
Raises           UserError if they are out of order or range.
)");
}  // namespace tilewright::schedule
