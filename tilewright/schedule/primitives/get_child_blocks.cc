// get_child_blocks: the blocks directly inside a block or loop.
#include "tilewright/schedule/primitive.h"

namespace tilewright::schedule {
namespace {

struct Args {
  PlaceRef block_or_loop;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block_or_loop>("block_or_loop", "where to look")};
  }
};

std::vector<BlockRef> apply(State& state, const Args& args) {
  std::vector<BlockRef> blocks;
  for (NodeId block : state.blocks_below(state[args.block_or_loop]))
    blocks.push_back(state.new_block_ref(block));
  return blocks;
}

}  // namespace

extern constinit const PrimitiveInfo get_child_blocks_info = query<apply>("get_child_blocks", R"(
The outermost blocks inside a block or loop, in program order.
)");
}  // namespace tilewright::schedule
