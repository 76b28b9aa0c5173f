// get_producers: the blocks that write what a block reads.
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/block_list.h"

namespace tilewright::schedule {
namespace {

std::vector<BlockRef> apply(State& state, const FromBlock& args) {
  return new_block_refs(state, producers_of(state, state[args.block]));
}

}  // namespace

extern constinit const PrimitiveInfo get_producers_info = query<apply>("get_producers", R"(
The blocks of the same scope that come before `block` and write a buffer that it reads, in program order.
)");
}  // namespace tilewright::schedule
