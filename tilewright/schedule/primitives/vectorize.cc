// vectorize: iterations of a loop become lanes of vectors.
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/loop_kind.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loop>("loop", "a loop of constant extent whose iterations are independent")};
  }
};

void require_vectorizable(const State& state, NodeId id) {
  const ForNode* loop = state.node(id).loop();
  if (!const_extent(loop))
    throw refuse(state, id, "loop {} has extent {}, which is not constant", state.node(id).name,
                 text(loop->extent))
        .help("split it by a constant and vectorize the inner loop");
  require_independent_iterations(state, id, "vectorized");
}

void apply(State& state, const Args& args) {
  require_vectorizable(state, state[args.loop]);
  set_loop_kind(state, state[args.loop], ForKind::kVectorized);
}

}  // namespace

extern constinit const PrimitiveInfo vectorize_info = primitive<apply>("vectorize", R"(
Runs the iterations of a loop as lanes of vector instructions.

    for i in range(8):    ->    for i in T.vectorized(8):

loop    of constant extent; stays valid
Raises  UserError if two iterations may touch the same element and one of them writes it, or if the extent
        is not constant.
)");
}  // namespace tilewright::schedule
