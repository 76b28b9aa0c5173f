// rfactor: each iteration of a reducing loop gets a partial result, and a second block combines them.
#include "tilewright/analysis/regions.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/block_checks.h"
#include "tilewright/schedule/edit.h"
#include "tilewright/schedule/loops.h"
#include "tilewright/schedule/primitive.h"
#include "tilewright/schedule/reduction.h"
#include "tilewright/schedule/report.h"
#include "tilewright/schedule/stage.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

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

// Y[indices] = op(Y[indices], term)
struct Update {
  const BufferStoreNode* store;
  const BinaryOpNode* op;
  PrimExpr term, identity;
  bool self_is_left;
};

Update require_update(const State& state, NodeId id) {
  const BlockNode* block = state.node(id).block();
  const auto* store = block->body.as<BufferStoreNode>();
  const auto* init = block->init.as<BufferStoreNode>();
  if (!init || !store || !is_commutative_update(block))
    throw refuse(state, id, "block {} is not a reduction of the form Y[...] = op(Y[...], x) with an init",
                 block->name_hint);
  const auto* op = store->value.as<BinaryOpNode>();
  const auto* left = op->a.as<BufferLoadNode>();
  const bool self_is_left = left && left->buffer == store->buffer;
  return {store, op, self_is_left ? op->b : op->a, init->value, self_is_left};
}

// The identity must be the operator's neutral element: it is put in once per iteration of the loop.
bool is_neutral(const Update& update) {
  const PrimExpr& value = update.identity;
  switch (update.op->kind) {
    case Kind::kAdd:
    case Kind::kMul: {
      const double wanted = update.op->kind == Kind::kAdd ? 0 : 1;
      if (const auto* number = value.as<FloatImmNode>()) return number->value == wanted;
      return is_const_int(value, static_cast<int64_t>(wanted));
    }
    default: return true;  // min, max, and, or: taking the init in more than once changes nothing
  }
}

// The loop that is factored out is the first axis; in the place of each axis that reduces stand the loops
// that make it up, and spatial axes stay.
struct Axes {
  std::vector<IterVar> partial, combine;
  std::vector<PrimExpr> partial_values;
  Substitution reduce_values;  // old reduce axis -> expression of the new axes
  Var factor, combine_factor;
  Substitution combine_spatial;  // old spatial axis -> axis of the second block
};

Axes divide_axes(const State& state, NodeId block_id, NodeId loop_id) {
  const BlockRealizeNode* realize = state.node(block_id).realize();
  Axes axes;
  Substitution loop_axes;
  std::vector<const ForNode*> pending;  // loops that reduce and have no axis yet
  const auto add_loop = [&](const ForNode* loop, IterType type) {
    const Var var = ref_as<VarNode>(loop_axes.at(loop->loop_var.get()));
    axes.partial.push_back(IterVarNode::make(var, make_range(loop->min, loop->extent), type, std::string()));
    axes.partial_values.push_back(loop->loop_var);
  };
  for (NodeId id : state.loops_above(block_id)) {
    const ForNode* loop = state.node(id).loop();
    bool feeds_reduce = false, feeds_spatial = false;
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      const bool is_reduce = realize->block->iter_vars[n]->iter_type == IterType::kReduce;
      if (uses(realize->iter_values[n], loop->loop_var.get()))
        (is_reduce ? feeds_reduce : feeds_spatial) = true;
    }
    if (feeds_reduce && feeds_spatial)
      throw refuse(state, id, "loop {} feeds both spatial and reduce axes of block {}", state.node(id).name,
                   state.node(block_id).name);
    if (id == loop_id && !feeds_reduce)
      throw refuse(state, id, "loop {} does not reduce in block {}", state.node(id).name,
                   state.node(block_id).name);
    if (!feeds_reduce) continue;
    if (!is_zero(loop->min)) throw refuse(state, id, "loop {} does not start at 0", state.node(id).name);
    const Var var = make_var("v" + loop->loop_var->name_hint, loop->loop_var->dtype);
    loop_axes[loop->loop_var.get()] = var;
    if (id == loop_id)
      axes.factor = var;
    else
      pending.push_back(loop);
  }
  add_loop(state.node(loop_id).loop(), IterType::kSpatial);
  axes.combine_factor = make_var(axes.factor->name_hint, axes.factor->dtype);
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    const IterVar& axis = realize->block->iter_vars[n];
    if (axis->iter_type == IterType::kReduce) {
      axes.reduce_values[axis->var.get()] = substitute(realize->iter_values[n], loop_axes);
      std::erase_if(pending, [&](const ForNode* loop) {
        const bool is_part = uses(realize->iter_values[n], loop->loop_var.get());
        if (is_part) add_loop(loop, IterType::kReduce);
        return is_part;
      });
      continue;
    }
    axes.partial.push_back(with(axis, [&](IterVarNode& changed) {
      changed.var = make_var(axis->var->name_hint, axis->var->dtype);
      axes.reduce_values[axis->var.get()] = changed.var;
    }));
    axes.partial_values.push_back(realize->iter_values[n]);
    axes.combine.push_back(with(axis, [&](IterVarNode& changed) {
      changed.var = make_var(axis->var->name_hint, axis->var->dtype);
      axes.combine_spatial[axis->var.get()] = changed.var;
    }));
  }
  return axes;
}

Block reduction_block(std::string name, const std::vector<IterVar>& axes, const Buffer& buffer,
                      const std::vector<PrimExpr>& indices, const Update& update, const PrimExpr& identity,
                      const PrimExpr& term, const Span& written) {
  const PrimExpr self = load(buffer, indices);
  const PrimExpr value = update.self_is_left ? make_binary(update.op->kind, self, term)
                                             : make_binary(update.op->kind, term, self);
  return new_block(std::move(name), axes, store(buffer, identity, indices), store(buffer, value, indices),
                   written);
}

// Where the guard keeps a partial result from being started, the combination would read what nobody has
// written.
void require_all_started(const State& state, NodeId block_id, NodeId loop_id) {
  const BlockRealizeNode* realize = state.node(block_id).realize();
  arith::Analyzer analyzer;
  bind_loops_above(state, block_id, analyzer);
  Substitution start;
  std::vector<const VarNode*> reducing = {state.node(loop_id).loop()->loop_var.get()};
  for (NodeId id : state.loops_above(block_id)) {
    const ForNode* loop = state.node(id).loop();
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      const bool is_reduce = realize->block->iter_vars[n]->iter_type == IterType::kReduce;
      if (!is_reduce || id == loop_id || !uses(realize->iter_values[n], loop->loop_var.get())) continue;
      start[loop->loop_var.get()] = loop->min;
      reducing.push_back(loop->loop_var.get());
    }
  }
  std::vector<PrimExpr> pending = {realize->predicate};
  while (!pending.empty()) {
    const PrimExpr part = pending.back();
    pending.pop_back();
    if (const auto* both = part.as<AndNode>()) {
      pending.push_back(both->a);
      pending.push_back(both->b);
      continue;
    }
    const bool is_spatial =
        std::none_of(reducing.begin(), reducing.end(), [&](const VarNode* var) { return uses(part, var); });
    if (!is_spatial && !analyzer.can_prove(substitute(part, start)))
      throw refuse(state, block_id,
                   "block {} is guarded by {}, which may leave iterations of loop {} without any term",
                   state.node(block_id).name, text(part), state.node(loop_id).name);
  }
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
  const Update update = require_update(state, block_id);
  if (!is_neutral(update))
    throw refuse(state, block_id,
                 "block {} starts at {}, which would be counted once per iteration of loop {}",
                 state.node(block_id).name, text(update.identity), state.node(loop_id).name);
  if (const Reason reason = why_not_reorderable(state, block_id); !reason.empty())
    throw refuse(state, block_id, "block {} cannot be factored: {}", state.node(block_id).name, reason);
  const NodeId scope = state.scope_of(block_id);
  std::vector<Range> domains;
  if (const Reason reason = why_not_bijective(state, block_id, scope, &domains); !reason.empty())
    throw refuse(state, block_id, "block {} cannot be factored: {}", state.node(block_id).name, reason);
  // runs of the block around may go on with one sum: each of them would start anew
  if (const Reason reason = why_not_whole_sum(state, block_id); !reason.empty())
    throw refuse(state, block_id, "block {} cannot be factored: {}", state.node(block_id).name, reason);
  const NodeId nest = child_towards(state, scope, block_id);
  if (state.blocks_below(nest).size() != 1)
    throw refuse(state, nest, "loop {} has other blocks than {} inside", state.node(nest).name,
                 state.node(block_id).name);
  const auto ndim = static_cast<int64_t>(update.store->indices.size()) + 1;
  if (args.factor_axis < -ndim || args.factor_axis >= ndim)
    throw refuse(state, block_id, "the new buffer has {} dimensions, there is no axis {}", ndim,
                 args.factor_axis);
  const auto position = static_cast<long>(args.factor_axis < 0 ? args.factor_axis + ndim : args.factor_axis);
  if (!is<IntImmNode>(factor_loop->extent))
    throw refuse(state, loop_id, "loop {} has extent {}, which is not constant", state.node(loop_id).name,
                 text(factor_loop->extent));

  require_all_started(state, block_id, loop_id);
  const Axes axes = divide_axes(state, block_id, loop_id);
  const Buffer& result = update.store->buffer;
  std::vector<PrimExpr> shape = result->shape;
  shape.insert(shape.begin() + position, factor_loop->extent);
  const Buffer partial = make_buffer(result->name + "_rf", shape, result->dtype, result->scope());
  auto partial_indices = [&](const Substitution& values, const Var& factor) {
    std::vector<PrimExpr> indices;
    for (const PrimExpr& index : update.store->indices) indices.push_back(substitute(index, values));
    indices.insert(indices.begin() + position, factor);
    return indices;
  };
  const std::string& name = state.node(block_id).name;
  const Block first =
      reduction_block(name + "_rf", axes.partial, partial, partial_indices(axes.reduce_values, axes.factor),
                      update, substitute(update.identity, axes.reduce_values),
                      substitute(update.term, axes.reduce_values), realize->block->span);
  std::vector<IterVar> combine_axes = axes.combine;
  combine_axes.insert(
      combine_axes.begin(),
      IterVarNode::make(axes.combine_factor, make_range(factor_loop->min, factor_loop->extent),
                        IterType::kReduce, std::string()));
  std::vector<PrimExpr> indices;
  for (const PrimExpr& index : update.store->indices)
    indices.push_back(substitute(index, axes.combine_spatial));
  Block second = reduction_block(
      name, combine_axes, result, indices, update, substitute(update.identity, axes.combine_spatial),
      load(partial, partial_indices(axes.combine_spatial, axes.combine_factor)), realize->block->span);
  second = with(second, [&](BlockNode& n) { n.annotations = realize->block->annotations; });

  // The first block stays in the nest; the second gets one of its own behind it.
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
  const Stmt second_nest = new_stage(second, values, bool_imm(true), loops).stmt;
  Edit inside(state);
  inside.replace(block_id, new_stage(first, axes.partial_values, realize->predicate, {}).stmt);
  Edit edit(state);
  edit.forward(realize->block.get(), second);
  edit.replace(nest, seq({inside.build(nest), second_nest}));
  edit.edit_block(scope, [&](BlockNode& n) { n.alloc_buffers.push_back(partial); });
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
             that starts at the neutral element
factor_axis  which dimension of the new buffer the loop becomes; negative counts from the last
Returns      the block of the partial results; the old block's handle goes on as the one that combines them
Raises       UserError if the block is no such reduction, or if other blocks are in its nest.
)");
}  // namespace tilewright::schedule
