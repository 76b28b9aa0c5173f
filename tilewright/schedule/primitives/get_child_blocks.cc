// get_child_blocks: the blocks directly inside a block or loop.
#include "tilewright/schedule/core/block_list.h"

namespace tilewright::schedule {
namespace {

struct Args {
  PlaceRef block_or_loop;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block_or_loop>("block_or_loop", "where to look")};
  }
};

std::vector<BlockRef> apply(State& state, const Args& args) {
  return new_block_refs(state, state.blocks_below(state[args.block_or_loop]));
}

}  // namespace

extern constinit const PrimitiveInfo get_child_blocks_info = query<apply>("get_child_blocks", R"(
The outermost blocks inside a block or loop, in program order.
)");
}  // namespace tilewright::schedule
