// transform_block_layout: a block runs over other axes, and the loops around it become one for each.
#include "tilewright/analysis/regions.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/legality/layout.h"
#include "tilewright/schedule/transforms/trivial_nest.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  IndexMap index_map;
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a block whose axes are the loops around it"),
        field<&Args::index_map>("index_map", "from its axes to the new ones, one to one and onto")};
  }
};

// A new axis reduces if all it is made of reduces; no axis of the block is of another kind than these two.
IterType type_of(const State& state, NodeId id, const PrimExpr& index, const IndexMap& map) {
  const BlockNode* block = state.node(id).block();
  bool has_spatial = false, has_reduce = false;
  walk(index, [&](const VarNode* var) {
    for (size_t n = 0; n < map->initial_indices.size(); ++n) {
      if (map->initial_indices[n].get() != var) continue;
      (block->iter_vars[n]->iter_type == IterType::kSpatial ? has_spatial : has_reduce) = true;
    }
  });
  if (has_spatial && has_reduce)
    throw refuse(state, id, "new axis {} would mix spatial and reduce axes", text(index));
  return has_reduce ? IterType::kReduce : IterType::kSpatial;
}

// In 64 bits: a product of matrices can have more instances than 32 bits count.
PrimExpr num_instances(const std::vector<PrimExpr>& extents) {
  PrimExpr count = make_const_int(kInt64, 1);
  for (const PrimExpr& extent : extents) count = count * tir::cast(kInt64, extent);
  return count;
}

void apply(State& state, const Args& args) {
  const NodeId id = state[args.block];
  const std::vector<NodeId> nest = require_trivial_nest(state, id);
  const BlockRealizeNode* realize = state.node(id).realize();
  if (const Objection reason = why_not_reorderable(state, id); !reason.empty())
    throw refuse(state, id, "the instances of block {} cannot run in another order: {}", state.node(id).name,
                 reason);
  std::vector<PrimExpr> extents;
  for (const IterVar& axis : realize->block->iter_vars) extents.push_back(axis->dom->extent);
  const IndexMap map = fit_map(args.index_map, extents);
  const MappedSpace space =
      require_one_to_one(state, id, map, extents, fmt::format("block {}", state.node(id).name));
  arith::Analyzer analyzer;
  if (!analyzer.can_prove_equal(num_instances(space.shape), num_instances(extents)))
    throw refuse(state, id, "the map leaves gaps: {} instances of block {} in a space of {}",
                 text(analyzer.simplify(product(extents))), state.node(id).name,
                 text(analyzer.simplify(product(space.shape))));
  std::vector<IterVar> axes;
  std::vector<std::pair<Var, PrimExpr>> loops;
  std::vector<PrimExpr> values, outputs;
  for (size_t n = 0; n < space.shape.size(); ++n) {
    const DataType dtype = space.shape[n]->dtype;
    const Range range = make_range(imm(0, dtype), space.shape[n]);
    loops.emplace_back(make_var(fmt::format("ax{}", n), dtype), space.shape[n]);
    axes.push_back(IterVarNode::make(make_var(fmt::format("v{}", n), dtype), range,
                                     type_of(state, id, map->final_indices[n], map), std::string()));
    analyzer.bind(axes.back()->var, range);
    values.push_back(loops.back().first);
    outputs.push_back(axes.back()->var);
  }
  const std::vector<PrimExpr> inverse = inverse_of(state, id, map, space, outputs);
  Substitution old_axes;
  for (size_t n = 0; n < inverse.size(); ++n) {
    const Var& var = realize->block->iter_vars[n]->var;
    old_axes[var.get()] = cast(var->dtype, analyzer.simplify(inverse[n]));
  }
  const Block moved =
      rewrite(substitute(realize->block, old_axes), [&](auto& self, const PrimExprNode* expr) -> PrimExpr {
        return expr->dtype.is_int() ? analyzer.simplify(PrimExpr(expr)) : self.children(expr);
      });
  const Block block = with(moved, [&](BlockNode& n) { n.iter_vars = axes; });
  Stmt stmt = with(realize, [&](BlockRealizeNode& n) { n.block = block, n.iter_values = values; });
  stmt = new_loops(loops, stmt, block->span);
  state.replace(nest.empty() ? id : nest[0], stmt, {{realize->block.get(), block}});
}

}  // namespace

extern constinit const PrimitiveInfo transform_block_layout_info =
    primitive<apply>("transform_block_layout", R"(
Runs a block over other axes; the loops around it become one for each new axis.

    for i, j in T.grid(8, 8):             for ax0 in range(64):
        with T.block("B"):                    with T.block("B"):
            vi, vj = i, j         ->              v0 = ax0
            B[vi, vj] = A[vi, vj]                 B[v0 // 8, v0 % 8] = A[v0 // 8, v0 % 8]
                                                               transform_block_layout(B, lambda i, j: (i * 8 + j,))

block      each axis is a loop of its own, all of it, and the loops hold nothing else; its handle stays, loops become stale
index_map  from the axes to the new ones, one to one and without gaps
Raises     UserError if the instances of the block may not change their order, or if the map leaves gaps or mixes spatial
           and reduce axes.
)");
}  // namespace tilewright::schedule
