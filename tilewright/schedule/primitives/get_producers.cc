// get_producers: the blocks that write what a block reads.
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
  for (NodeId block : producers_of(state, state[args.block])) blocks.push_back(state.new_block_ref(block));
  return blocks;
}

}  // namespace

extern constinit const PrimitiveInfo get_producers_info = query<apply>("get_producers", R"(
The blocks of the same scope that come before `block` and write a buffer that it reads, in program order.
)");
}  // namespace tilewright::schedule
