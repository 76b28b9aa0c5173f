// unroll: the body of a loop is repeated in the code.
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/transforms/loop_kind.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  static constexpr auto fields() { return std::tuple{field<&Args::loop>("loop", "any loop")}; }
};

void apply(State& state, const Args& args) { set_loop_kind(state, state[args.loop], ForKind::kUnrolled); }

}  // namespace

extern constinit const PrimitiveInfo unroll_info = primitive<apply>("unroll", R"(
Repeats the body of a loop in the generated code.

    for i in range(n):    ->    for i in T.unroll(n):

loop    stays valid
Raises  UserError if the loop is bound to a thread.
)");
}  // namespace tilewright::schedule
