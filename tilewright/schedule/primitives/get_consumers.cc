// get_consumers: the blocks that read what a block writes.
#include "tilewright/schedule/access.h"
#include "tilewright/schedule/primitive.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "the block to start from")};
  }
};

std::vector<BlockRef> apply(State& state, const Args& args) {
  std::vector<BlockRef> blocks;
  for (NodeId block : consumers_of(state, state[args.block])) blocks.push_back(state.new_block_ref(block));
  return blocks;
}

}  // namespace

extern constinit const PrimitiveInfo get_consumers_info = query<apply>("get_consumers", R"(
The blocks of the same scope that come after `block` and read a buffer that it writes, in program order.
)");
}  // namespace tilewright::schedule
