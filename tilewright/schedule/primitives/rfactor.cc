// rfactor: each iteration of a reducing loop gets a partial result, and a second block combines them.
#include "tilewright/analysis/regions.h"
#include "tilewright/analysis/update.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/transforms/factor_axes.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

using analysis::TermOrder;
using analysis::Update;

struct Args {
  LoopRef loop;
  int64_t factor_axis = 0;
  static constexpr std::string_view kRequired[] = {"factor_axis"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loop>("loop", "a loop that reduces, around one reduction block"),
        field<&Args::factor_axis>(
            "factor_axis",
            "which dimension of the new buffer the loop becomes; negative counts from the last")};
  }
};

Update require_update(const State& state, NodeId id) {
  const BlockNode* block = state.node(id).block();
  std::optional<Update> update = analysis::update_of(block);
  if (!update)
    throw refuse(
        state, id,
        "block {} is not a reduction of the form Y[...] = op(Y[...], x) with an init, nor one that chooses "
        "the better of what was and a term by comparing both",
        block->name_hint);
  return std::move(*update);
}

// One of both blocks, of `update` on `buffers` at `indices`.
Block reduction_block(std::string name, const std::vector<IterVar>& axes, const std::vector<Buffer>& buffers,
                      const std::vector<PrimExpr>& indices, const Update& update,
                      const std::vector<PrimExpr>& identities, const Stmt& body, const Span& written) {
  std::vector<Stmt> init;
  for (size_t n = 0; n < buffers.size(); ++n) init.push_back(store(buffers[n], identities[n], indices));
  return new_block(std::move(name), axes, seq(std::move(init)), body, written);
}

std::vector<PrimExpr> substituted(const std::vector<PrimExpr>& exprs, const Substitution& values) {
  std::vector<PrimExpr> result;
  for (const PrimExpr& expr : exprs) result.push_back(substitute(expr, values));
  return result;
}

// Terms of the partial block, with their names.
Stmt partial_body(const Update& update, const std::vector<Buffer>& buffers,
                  const std::vector<PrimExpr>& indices, Substitution values) {
  std::vector<std::pair<Var, PrimExpr>> lets;
  for (const auto& [var, value] : update.lets) {
    const Var own = make_var(var->name_hint, var->dtype);
    lets.emplace_back(own, substitute(value, values));
    values[var.get()] = own;
  }
  Stmt body = update_stmt(update, buffers, indices, substituted(update.terms, values));
  for (size_t n = lets.size(); n-- > 0;) body = LetStmtNode::make(lets[n].second, lets[n].first, body);
  return body;
}

// The outermost loop around the block that has nothing else inside, or the block.
NodeId nest_of(const State& state, NodeId block) {
  NodeId nest = block;
  for (NodeId id = block; id != kNoNode && id != state.scope_of(block); id = state.node(id).parent) {
    if (state.blocks_below(id).size() > 1) break;
    nest = id;
  }
  return nest;
}

// The place in the tuple of the value that grows from term to term: an axis that alone reduces, whose loops
// count it upwards; nothing if there is none.
std::optional<size_t> part_that_grows(const State& state, NodeId block_id, const Update& update) {
  const BlockRealizeNode* realize = state.node(block_id).realize();
  std::optional<size_t> reduced;
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    if (realize->block->iter_vars[n]->iter_type != IterType::kReduce) continue;
    if (reduced) return std::nullopt;
    reduced = n;
  }
  if (!reduced) return std::nullopt;
  PrimExpr counted = imm(0, realize->iter_values[*reduced]->dtype);
  for (NodeId id : state.loops_above(block_id)) {
    const ForNode* loop = state.node(id).loop();
    if (!is_zero(loop->min)) return std::nullopt;
    if (uses(realize->iter_values[*reduced], loop->loop_var.get()))
      counted = counted * tir::cast(counted->dtype, loop->extent) + tir::cast(counted->dtype, loop->loop_var);
  }
  if (!is_zero(arith::simplify(realize->iter_values[*reduced] - counted))) return std::nullopt;
  const Var& axis = realize->block->iter_vars[*reduced]->var;
  for (size_t n = 0; n < update.terms.size(); ++n) {
    const auto* cast = update.terms[n].as<CastNode>();
    const PrimExpr& place =
        cast && cast->dtype.bits >= cast->value->dtype.bits ? cast->value : update.terms[n];
    if (update.terms[n]->dtype.is_int() && place.get() == axis.get()) return n;
  }
  return std::nullopt;
}

// Terms that are chosen from in order stay in order only where the loop is the outermost one that reduces.
void require_order(const State& state, NodeId block_id, NodeId loop_id, const Update& update) {
  if (update.order == TermOrder::kFree) return;
  const BlockRealizeNode* realize = state.node(block_id).realize();
  for (NodeId id : state.loops_above(block_id)) {
    if (id == loop_id) return;
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      if (realize->block->iter_vars[n]->iter_type == IterType::kReduce &&
          uses(realize->iter_values[n], state.node(id).loop()->loop_var.get()))
        throw refuse(
            state, loop_id,
            "block {} takes one of equal terms by their order, which loop {} inside of loop {} changes",
            state.node(block_id).name, state.node(loop_id).name, state.node(id).name)
            .help("factor loop {}, or let the block compare places too: a > b or (a == b and i < j)",
                  state.node(id).name);
    }
  }
}

// Other blocks stand beside the nest, in loops that do not reduce.
NodeId require_nest(const State& state, NodeId block_id) {
  const NodeId nest = nest_of(state, block_id);
  const BlockRealizeNode* realize = state.node(block_id).realize();
  for (NodeId id : state.loops_above(block_id)) {
    if (id == nest || state.is_inside(id, nest)) break;
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      if (realize->block->iter_vars[n]->iter_type == IterType::kReduce &&
          uses(realize->iter_values[n], state.node(id).loop()->loop_var.get()))
        throw refuse(state, id, "loop {} has other blocks than {} inside", state.node(id).name,
                     state.node(block_id).name);
    }
  }
  return nest;
}

// The second block's nest: loops over the spatial axes, as far as they run inside of the nest, then over the
// partial results that are `started`.
Stmt combining_nest(const Block& block, const BlockRealizeNode* realize, const std::vector<Range>& domains,
                    const ForNode* factor_loop, const PrimExpr& guard, const PrimExpr& started) {
  std::vector<PrimExpr> values = {nullptr};
  std::vector<std::pair<Var, PrimExpr>> loops;
  size_t spatial = 0;
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    if (realize->block->iter_vars[n]->iter_type == IterType::kReduce) continue;
    Var var = make_var(fmt::format("ax{}", spatial++), realize->block->iter_vars[n]->var->dtype);
    loops.emplace_back(var, domains[n]->extent);
    values.push_back(is_zero(domains[n]->min) ? PrimExpr(var) : domains[n]->min + var);
  }
  const Var combine_var = make_var(fmt::format("ax{}", spatial), factor_loop->loop_var->dtype);
  loops.emplace_back(combine_var, factor_loop->extent);
  values[0] = combine_var;
  if (!started) return new_stage(block, values, guard, loops).stmt;
  const PrimExpr is_started = substitute(started, {{factor_loop->loop_var.get(), combine_var}});
  return new_stage(block, values, guard ? logical_and(guard, is_started) : is_started, loops).stmt;
}

BlockRef apply(State& state, const Args& args) {
  const NodeId loop_id = state[args.loop];
  const ForNode* factor_loop = state.node(loop_id).loop();
  const std::vector<NodeId> blocks = state.blocks_below(loop_id);
  if (blocks.size() != 1)
    throw refuse(state, loop_id, "loop {} has {} blocks inside, not one", state.node(loop_id).name,
                 blocks.size());
  const NodeId block_id = blocks[0];
  const BlockRealizeNode* realize = state.node(block_id).realize();
  const std::string& name = state.node(block_id).name;
  const Update update = require_update(state, block_id);
  if (!has_neutral_init(update))
    throw refuse(state, block_id,
                 "block {} starts at {}, which would be counted once per iteration of loop {}", name,
                 text(update.identities[0]), state.node(loop_id).name);
  const NodeId scope = state.scope_of(block_id), nest = require_nest(state, block_id);
  std::vector<Range> domains;
  PrimExpr guard;
  // several instances of the enclosing block may continue one sum, which each of them would start anew
  for (const Objection& reason :
       {why_not_reorderable(state, block_id),
        why_not_bijective(state, block_id, state.node(nest).parent, &domains, &guard),
        why_not_whole_sum(state, block_id)}) {
    if (!reason.empty()) throw refuse(state, block_id, "block {} cannot be factored: {}", name, reason);
  }
  const std::optional<size_t> place =
      update.order == TermOrder::kKept ? part_that_grows(state, block_id, update) : std::nullopt;
  const std::optional<Update> by_place = place ? ordered_by_place(update, *place) : std::nullopt;
  if (!by_place) require_order(state, block_id, loop_id, update);
  const Update& combining = by_place ? *by_place : update;
  const auto ndim = static_cast<int64_t>(update.indices.size()) + 1;
  if (args.factor_axis < -ndim || args.factor_axis >= ndim)
    throw refuse(state, block_id, "the new buffer has {}, there is no axis {}", count_text(ndim, "dimension"),
                 args.factor_axis);
  const auto position = static_cast<long>(args.factor_axis < 0 ? args.factor_axis + ndim : args.factor_axis);
  if (!is<IntImmNode>(factor_loop->extent))
    throw refuse(state, loop_id, "loop {} has extent {}, which is not constant", state.node(loop_id).name,
                 text(factor_loop->extent));
  const PrimExpr started = started_iterations(state, block_id, loop_id);

  const FactorAxes axes = divide_axes(state, block_id, loop_id);
  std::vector<Buffer> partial;
  for (const Buffer& result : update.buffers) {
    std::vector<PrimExpr> shape = result->shape;
    shape.insert(shape.begin() + position, factor_loop->extent);
    partial.push_back(make_buffer(result->name + "_rf", shape, result->dtype, result->scope()));
  }
  const auto partial_indices = [&](const Substitution& values, const Var& factor) {
    std::vector<PrimExpr> indices = substituted(update.indices, values);
    indices.insert(indices.begin() + position, factor);
    return indices;
  };
  const std::vector<PrimExpr> first_indices = partial_indices(axes.reduce_values, axes.factor);
  const Block first =
      reduction_block(name + "_rf", axes.partial, partial, first_indices, update,
                      substituted(update.identities, axes.reduce_values),
                      partial_body(update, partial, first_indices, axes.reduce_values), realize->block->span);
  std::vector<IterVar> combine_axes = axes.combine;
  combine_axes.insert(
      combine_axes.begin(),
      IterVarNode::make(axes.combine_factor, make_range(factor_loop->min, factor_loop->extent),
                        IterType::kReduce, std::string()));
  const std::vector<PrimExpr> indices = substituted(update.indices, axes.combine_spatial);
  std::vector<PrimExpr> partial_results;
  for (const Buffer& buffer : partial)
    partial_results.push_back(load(buffer, partial_indices(axes.combine_spatial, axes.combine_factor)));
  Block second =
      reduction_block(name, combine_axes, update.buffers, indices, update,
                      substituted(update.identities, axes.combine_spatial),
                      update_stmt(combining, update.buffers, indices, partial_results), realize->block->span);
  second = with(second, [&](BlockNode& n) { n.annotations = realize->block->annotations; });

  // The first block stays in the nest; the second gets one of its own behind it.
  const Stmt second_nest = combining_nest(second, realize, domains, factor_loop, guard, started);
  Edit inside(state);
  inside.replace(block_id, new_stage(first, axes.partial_values, realize->predicate, {}).stmt);
  Edit edit(state);
  edit.forward(realize->block.get(), second);
  edit.replace(nest, seq({inside.build(nest), second_nest}));
  edit.edit_block(scope, [&](BlockNode& n) {
    n.alloc_buffers.insert(n.alloc_buffers.end(), partial.begin(), partial.end());
  });
  edit.commit(state, scope);
  return state.new_block_ref(state.find(first.get(), scope));
}

}  // namespace

extern constinit const PrimitiveInfo rfactor_info = primitive<apply>("rfactor", R"(
Gives each iteration of a reducing loop a partial result of its own, so that they can run in parallel or as vector lanes.

    for k0, k1 in T.grid(n, 4):            for k0, k1 in T.grid(n, 4):
        Y[0] += A[k0 * 4 + k1]     ->          Y_rf[k1] += A[k0 * 4 + k1]
                                           for ax0 in range(4):
                                               Y[0] += Y_rf[ax0]                 rfactor(k1, 0)

loop         a loop of constant extent around one block, a reduction Y[...] = op(Y[...], x) with op one of + * min max and or
             that starts at the neutral element, or one that chooses the better of several values by comparing them, as
             argmax does; if that depends on the order of equal terms, the outermost loop that reduces, or any if one
             of the values is the place of a term: the new block then compares places, too
factor_axis  which dimension of the new buffer the loop becomes; negative counts from the last
Returns      the block of the partial results; the old block's handle goes on as the one that combines them
Raises       UserError if the block is no such reduction, or if other blocks are inside of loops that reduce.
)");
}  // namespace tilewright::schedule
