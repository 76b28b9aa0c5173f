// set_scope: a buffer moves to another storage scope.
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg buffer_index;
  std::string storage_scope;
  static constexpr std::string_view kRequired[] = {"storage_scope"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "a block that writes the buffer"),
                      field<&Args::buffer_index>("buffer_index", "which of the buffers it writes"),
                      field<&Args::storage_scope>("storage_scope", "\"global\", \"local\", \"shared\", ...")};
  }
};

void apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const BufferPlace place = require_buffer(state, block, &args.buffer_index, false);
  const WrittenBuffer target = allocated(state, block, place.buffer);
  if (target.buffer->scope() == args.storage_scope) return;
  if (target.owner == kNoNode)
    throw refuse(state, block, "buffer {} is {}", target.buffer->name,
                 where_from(state, block, target.buffer));
  const Buffer changed = with(target.buffer, [&](BufferNode& n) {
    n.data = pointer_var(n.data->name_hint, n.dtype, args.storage_scope);
  });
  replace_allocated_buffer(state, target, changed, {});
}

}  // namespace

extern constinit const PrimitiveInfo set_scope_info = primitive<apply>("set_scope", R"(
Moves a buffer that is allocated in the function to another storage scope.

    B = T.alloc_buffer((n,))    ->    B = T.alloc_buffer((n,), scope="shared")

block          a block that writes the buffer
buffer_index   which of the buffers it writes, in the order of T.writes
storage_scope  the new scope
Raises         UserError if the buffer is a parameter.
)");
}  // namespace tilewright::schedule
