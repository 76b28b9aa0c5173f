// get_loops: the loops around a block.
#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "the block inside of the loops")};
  }
};

std::vector<LoopRef> apply(State& state, const Args& args) {
  std::vector<LoopRef> loops;
  for (NodeId loop : state.loops_above(state[args.block])) loops.push_back(state.new_loop_ref(loop));
  return loops;
}

}  // namespace

extern constinit const PrimitiveInfo get_loops_info = query<apply>("get_loops", R"(
The loops around `block`, outermost first, up to the block that encloses it.
)");
}  // namespace tilewright::schedule
