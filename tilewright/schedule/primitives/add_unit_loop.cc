// add_unit_loop: a loop of one iteration around a block or loop.
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  PlaceRef block_or_loop;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block_or_loop>("block_or_loop", "what the new loop is put around")};
  }
};

LoopRef apply(State& state, const Args& args) {
  const NodeId id = state[args.block_or_loop];
  const NodeId scope = require_scope(state, id);
  const Var unit = make_var("u");
  const Stmt& body = state.node(id).stmt;
  state.replace(id, new_loops({{unit, imm(1)}}, body, span_of(body)));
  return state.new_loop_ref(state.find(unit.get(), scope));
}

}  // namespace

extern constinit const PrimitiveInfo add_unit_loop_info = primitive<apply>("add_unit_loop", R"(
Puts a loop of one iteration around a block or loop.

    body    ->    for u in range(1):
                      body

Returns  the new loop
)");
}  // namespace tilewright::schedule
