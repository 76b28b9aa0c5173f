// parallel: iterations of a loop run on several threads.
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/transforms/loop_kind.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  static constexpr auto fields() {
    return std::tuple{field<&Args::loop>("loop", "a loop whose iterations are independent")};
  }
};

void apply(State& state, const Args& args) {
  require_independent_iterations(state, state[args.loop], "parallel");
  set_loop_kind(state, state[args.loop], ForKind::kParallel);
}

}  // namespace

extern constinit const PrimitiveInfo parallel_info = primitive<apply>("parallel", R"(
Runs the iterations of a loop on the threads of the machine.

    for i in range(n):    ->    for i in T.parallel(n):

loop    stays valid
Raises  UserError if two iterations may touch the same element and one of them writes it.
)");
}  // namespace tilewright::schedule
