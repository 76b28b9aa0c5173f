// decompose_reduction: the init of a reduction becomes a block of its own.
#include <algorithm>

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/same_iteration.h"
#include "tilewright/schedule/transforms/outer_regions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  LoopRef loop;
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "a reduction: a block with T.init()"),
                      field<&Args::loop>("loop", "a loop around it; the new block goes before it")};
  }
};

bool feeds_axis(const BlockRealizeNode* realize, const ForNode* loop, bool is_reduce) {
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    if ((realize->block->iter_vars[n]->iter_type == IterType::kReduce) == is_reduce &&
        uses(realize->iter_values[n], loop->loop_var.get()))
      return true;
  }
  return false;
}

bool feeds_reduce_axis(const BlockRealizeNode* realize, const ForNode* loop) {
  return feeds_axis(realize, loop, true);
}

// What the block reads of its own buffer beside the sum is not initialised before it is read: P[t - 1, k] of row t.
void require_reads_stay(const State& state, NodeId block, NodeId loop) {
  const std::vector<BufferRegion>& writes = state.node(block).realize()->block->writes;
  for (const Access& access : accesses_of(state, block)) {
    const bool is_own = !access.is_write && std::ranges::any_of(writes, [&](const BufferRegion& write) {
      return may_alias(write->buffer, access.buffer);
    });
    if (is_own && may_meet_in_iteration(state, access, block, state.node(loop).parent))
      throw refuse(state, block,
                   "block {} reads other elements of {}, which its init would set before they are read",
                   state.node(block).name, access.buffer->name)
          .help("choose a loop inside of the one whose iterations they come from");
  }
}

// Every element is initialised once and each of its terms is added once, while `loop` and the loops inside of
// it run; no other block touches it in between.
void require_single_pass(const State& state, NodeId block, NodeId loop, const std::vector<NodeId>& inner) {
  if (!state.proves_steps) return;
  const BlockRealizeNode* realize = state.node(block).realize();
  arith::Analyzer analyzer;
  bind_loops_above(state, block, analyzer);
  std::vector<PrimExpr> values;
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    if (realize->block->iter_vars[n]->iter_type == IterType::kReduce)
      values.push_back(realize->iter_values[n]);
  }
  for (const Access& access : accesses_of(state, block)) {
    if (!access.is_write) continue;
    std::vector<PrimExpr> indices = values;
    arith::IterRanges ranges = ranges_of(state, inner);
    for (const Range& range : access.region) {
      Var place = make_var("place", range->min->dtype);
      if (!is_one(range->extent)) ranges.emplace_back(place, make_range(imm(0, place->dtype), range->extent));
      indices.push_back(is_one(range->extent) ? range->min : range->min + place);
    }
    if (!arith::detect_iter_map(indices, ranges, bool_imm(true), arith::IterMapLevel::kInjective, analyzer))
      throw refuse(state, block, "block {} may compute an element of {} more than once inside loop {}",
                   state.node(block).name, access.buffer->name, state.node(loop).name);
  }
  require_reads_stay(state, block, loop);
  for (const Access& other : accesses_below(state, loop)) {
    if (other.block == block) continue;
    for (const BufferRegion& write : realize->block->writes) {
      if (!may_alias(write->buffer, other.buffer)) continue;
      if (other.is_write || is_before(state, other.block, block))
        throw refuse(state, other.block,
                     "block {} {} {} inside loop {}, so its init cannot go before the loop",
                     state.node(other.block).name, other.is_write ? "also writes" : "reads",
                     other.buffer->name, state.node(loop).name);
    }
  }
}

Stage make_init(const State& state, NodeId block_id, const std::vector<NodeId>& inner) {
  const BlockRealizeNode* realize = state.node(block_id).realize();
  const BlockNode* block = realize->block.get();
  arith::Analyzer analyzer;
  bind_loops_above(state, inner[0], analyzer);
  // Loops that feed reduce axes alone stand at their start; the others are repeated.
  Substitution values;
  std::vector<std::pair<const ForNode*, Var>> loops;
  for (NodeId id : inner) {
    const ForNode* loop = state.node(id).loop();
    if (feeds_reduce_axis(realize, loop) && !feeds_axis(realize, loop, false)) {
      values[loop->loop_var.get()] = loop->min;
      continue;
    }
    Var var = make_var(loop->loop_var->name_hint + "_init", loop->loop_var->dtype);
    analyzer.bind(var, make_range(substitute(loop->min, values), substitute(loop->extent, values)));
    values[loop->loop_var.get()] = var;
    loops.emplace_back(loop, var);
  }
  std::vector<IterVar> axes;
  std::vector<PrimExpr> bindings;
  Substitution axis_values;
  for (size_t n = 0; n < block->iter_vars.size(); ++n) {
    const IterVar& axis = block->iter_vars[n];
    const PrimExpr value = analyzer.simplify(substitute(realize->iter_values[n], values));
    if (axis->iter_type == IterType::kReduce) {
      if (!analyzer.can_prove_equal(value, axis->dom->min))
        throw refuse(state, block_id, "reduce axis {} of block {} does not start at {} when its loops start",
                     axis->var->name_hint, block->name_hint, text(axis->dom->min));
      axis_values[axis->var.get()] = axis->dom->min;
      continue;
    }
    Var var = make_var(axis->var->name_hint, axis->var->dtype);
    axis_values[axis->var.get()] = var;
    axes.push_back(with(axis, [&](IterVarNode& changed) { changed.var = var; }));
    bindings.push_back(value);
  }
  const Block init = new_block(block->name_hint + "_init", std::move(axes), Stmt(),
                               substitute(block->init, axis_values), block->span);
  const PrimExpr predicate = analyzer.simplify(substitute(realize->predicate, values));
  Stmt stmt = new_stage(init, std::move(bindings), predicate, {}).stmt;
  for (size_t n = loops.size(); n-- > 0;) {
    const auto& [loop, var] = loops[n];
    stmt = with(loop, [&](ForNode& changed) {
      changed.min = substitute(loop->min, values);
      changed.extent = substitute(loop->extent, values);
      changed.loop_var = var;
      changed.body = stmt;
    });
  }
  return {init, stmt};
}

Block make_update(const BlockNode* block) {
  const Block update = with(block, [&](BlockNode& n) {
    n.init = nullptr;
    n.name_hint += "_update";
  });
  // The update reads what init had started.  Declared regions stay when they are not the ones found in the
  // body.
  const analysis::AccessRegions regions = analysis::access_regions(update);
  return with(update, [&](BlockNode& n) {
    const analysis::AccessRegions before = analysis::access_regions(Block(block));
    const bool was_inferred =
        structural_equal(ArrayNode::make(std::vector<ObjectRef>(before.reads.begin(), before.reads.end())),
                         ArrayNode::make(std::vector<ObjectRef>(n.reads.begin(), n.reads.end())), {true});
    // P[t, i] = sum(P[t - 1, k]): the hull of both would have rows t of all others
    const bool reads_others = std::ranges::any_of(before.reads, [&](const BufferRegion& read) {
      return std::ranges::any_of(n.writes, [&](const auto& write) { return write->buffer == read->buffer; });
    });
    if (was_inferred && !reads_others)
      n.reads = regions.reads;
    else
      n.reads.insert(n.reads.begin(), n.writes.begin(), n.writes.end());
  });
}

BlockRef apply(State& state, const Args& args) {
  const NodeId block_id = state[args.block], loop_id = state[args.loop];
  const BlockRealizeNode* realize = state.node(block_id).realize();
  const std::string& name = state.node(block_id).name;
  if (!realize->block->init)
    throw refuse(state, block_id, "block {} has no init", name)
        .help("only reductions, blocks with T.init(), can be decomposed");
  const std::vector<NodeId> above = state.loops_above(block_id);
  const auto at = std::find(above.begin(), above.end(), loop_id);
  if (at == above.end())
    throw refuse(state, loop_id, "loop {} is not around block {}", state.node(loop_id).name, name);
  for (auto outer = above.begin(); outer != at; ++outer) {
    if (feeds_reduce_axis(realize, state.node(*outer).loop()))
      throw refuse(state, *outer, "loop {} reduces in block {}, but is outside of loop {}",
                   state.node(*outer).name, name, state.node(loop_id).name)
          .help("choose loop {} or one outside of it, or reorder the loops", state.node(*outer).name);
  }
  const std::vector<NodeId> inner(at, above.end());
  require_single_pass(state, block_id, loop_id, inner);
  const Stage init = make_init(state, block_id, inner);
  const Block update = make_update(realize->block.get());
  Edit inside(state);
  inside.replace_block(block_id, with(realize, [&](BlockRealizeNode& n) { n.block = update; }));
  Edit edit(state);
  edit.forward(realize->block.get(), update);
  edit.replace(loop_id, seq({init.stmt, inside.build(loop_id)}));
  edit.commit(state, loop_id);
  complete_outer_regions(state, block_id);
  return state.new_block_ref(state.find(init.block.get(), block_id));
}

}  // namespace

extern constinit const PrimitiveInfo decompose_reduction_info = primitive<apply>("decompose_reduction", R"(
Puts the init of a reduction into a block of its own before `loop`.

    for i, k in T.grid(n, m):             for i in range(n):
        with T.block("Y"):                    with T.block("Y_init"):
            with T.init():                        Y[vi] = 0
                Y[vi] = 0             ->      for k in range(m):
            Y[vi] += A[vi, vk]                    with T.block("Y_update"):
                                                      Y[vi] += A[vi, vk]           decompose_reduction(Y, k)

block    a block with T.init(); its handle goes on as the update
loop     a loop around it; loops that reduce must be this one or inside of it
Returns  the new init block
Raises   UserError if a loop outside of `loop` reduces, if an element is computed more than once inside of it, or if
         another block uses the elements in between.
)");
}  // namespace tilewright::schedule
