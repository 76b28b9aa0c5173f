// get_consumers: the blocks that read what a block writes.
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/block_list.h"

namespace tilewright::schedule {
namespace {

std::vector<BlockRef> apply(State& state, const FromBlock& args) {
  return new_block_refs(state, consumers_of(state, state[args.block]));
}

}  // namespace

extern constinit const PrimitiveInfo get_consumers_info = query<apply>("get_consumers", R"(
The blocks of the same scope that come after `block` and read a buffer that it writes, in program order.
)");
}  // namespace tilewright::schedule
