// fuse: perfectly nested loops become one.
#include <limits>

#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  std::vector<LoopRef> loops;
  bool preserve_unit_iters = true;
  static constexpr std::string_view kRequired[] = {"loops"};
  static constexpr bool kIsVariadic = true;
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loops>("loops", "outermost first, each the only statement of the one before"),
        field<&Args::preserve_unit_iters>("preserve_unit_iters",
                                          "keep the variables of loops of extent 1 in block bindings")};
  }
};

void require_independent_bounds(const State& state, const std::vector<NodeId>& loops) {
  for (NodeId inner : loops) {
    const ForNode* loop = state.node(inner).loop();
    for (const PrimExpr& bound : {loop->min, loop->extent}) {
      walk(bound, [&](const VarNode* var) {
        for (NodeId outer : loops) {
          if (state.node(outer).loop()->loop_var.get() == var)
            throw refuse(state, inner, "the bounds of loop {} depend on loop {}", loop->loop_var->name_hint,
                         var->name_hint);
        }
      });
    }
  }
}

// The dtype of the widest loop; 64 bits if constant extents give more iterations than 32 can count.
DataType dtype_of_fused(const State& state, const std::vector<NodeId>& loops) {
  DataType dtype = state.node(loops[0]).loop()->loop_var->dtype;
  int64_t iterations = 1;
  bool fits = true;
  for (NodeId id : loops) {
    const ForNode* loop = state.node(id).loop();
    if (loop->loop_var->dtype.bits > dtype.bits) dtype = loop->loop_var->dtype;
    int64_t extent;
    if (as_const_int(loop->extent, &extent)) fits &= !__builtin_mul_overflow(iterations, extent, &iterations);
  }
  return fits && iterations <= std::numeric_limits<int32_t>::max() ? dtype : kInt64;
}

LoopRef apply(State& state, const Args& args) {
  std::vector<NodeId> loops;
  for (LoopRef loop : args.loops) loops.push_back(state[loop]);
  if (loops.empty()) throw UserError("no loops are given");
  for (NodeId loop : loops) require_plain(state, loop);
  require_chain(state, loops);
  require_independent_bounds(state, loops);
  std::string name;
  for (NodeId loop : loops) name += state.node(loop).loop()->loop_var->name_hint + "_";
  // i -> f // (m * k), j -> f % (m * k) // k, k -> f % k
  arith::Analyzer analyzer;
  bind_loops_above(state, loops[0], analyzer);
  const DataType dtype = dtype_of_fused(state, loops);
  const Var fused = make_var(name + "fused", dtype);
  PrimExpr extent = make_const_int(dtype, 1);
  std::vector<PrimExpr> values(loops.size());
  for (size_t n = loops.size(); n-- > 0;) {
    const ForNode* loop = state.node(loops[n]).loop();
    PrimExpr value =
        n == 0 ? floordiv(PrimExpr(fused), extent)
               : floordiv(floormod(PrimExpr(fused), analyzer.simplify(extent * loop->extent)), extent);
    values[n] = cast(loop->loop_var->dtype, value);
    extent = analyzer.simplify(extent * loop->extent);
  }
  if (!args.preserve_unit_iters || !is_one(extent)) analyzer.bind(fused, make_range(imm(0, dtype), extent));
  Substitution substitution;
  for (size_t n = 0; n < loops.size(); ++n) {
    const ForNode* loop = state.node(loops[n]).loop();
    substitution[loop->loop_var.get()] = analyzer.simplify(values[n] + loop->min);
  }
  const NodeId scope = state.node(loops[0]).parent;
  Stmt body = substitute_loops(state.node(loops.back()).loop()->body, substitution, analyzer);
  state.replace(loops[0], new_loops({{fused, extent}}, body, span_of(state.node(loops[0]).stmt)));
  return state.new_loop_ref(state.find(fused.get(), scope));
}

}  // namespace

extern constinit const PrimitiveInfo fuse_info = primitive<apply>("fuse", R"(
Fuses perfectly nested loops into one.

    for i in range(n):                  for i_j_fused in range(n * m):
        for j in range(m):      ->          body(i_j_fused // m, i_j_fused % m)
            body(i, j)

loops                outermost first; serial, each the only statement of the one before, bounds independent of each other
preserve_unit_iters  keep the variables of loops of extent 1 in block bindings
Returns              the new loop; all `loops` become stale
Raises               UserError if the loops are not one nest, or one is bound, annotated or not serial.
)");
}  // namespace tilewright::schedule
