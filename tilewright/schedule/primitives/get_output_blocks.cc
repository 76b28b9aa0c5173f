// get_output_blocks: the blocks whose results leave the function.
#include <algorithm>

#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/block_list.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef scope_block;
  static constexpr auto fields() {
    return std::tuple{field<&Args::scope_block>("scope_block", "where to look, e.g. the root block")};
  }
};

std::vector<BlockRef> apply(State& state, const Args& args) {
  std::vector<NodeId> found;
  for (NodeId block : state.child_blocks(state[args.scope_block])) {
    const auto& writes = state.node(block).block()->writes;
    if (std::any_of(writes.begin(), writes.end(), [&](const BufferRegion& write) {
          return allocation_of(state, write->buffer, block) == kNoNode;
        }))
      found.push_back(block);
  }
  return new_block_refs(state, found);
}

}  // namespace

extern constinit const PrimitiveInfo get_output_blocks_info = query<apply>("get_output_blocks", R"(
The blocks directly inside of `scope_block` that write a parameter of the function, in program order.
)");
}  // namespace tilewright::schedule
