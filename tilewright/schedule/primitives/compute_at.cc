// compute_at: a producer is computed where it is used.
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/axis_solver.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/legality/coverage.h"
#include "tilewright/schedule/legality/dependence.h"
#include "tilewright/schedule/legality/same_iteration.h"
#include "tilewright/schedule/legality/witness.h"
#include "tilewright/schedule/transforms/compute_location.h"
#include "tilewright/schedule/transforms/loop_kind.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// All blocks that read what `block` writes; each must be inside of the loop.
std::vector<NodeId> require_consumers_inside(const State& state, NodeId block, NodeId loop) {
  std::vector<NodeId> consumers;
  for (const BufferRegion& write : state.node(block).block()->writes) {
    const NodeId owner = allocation_of(state, write->buffer, state.node(block).parent);
    const NodeId scope = owner == kNoNode ? state.func_of(block).root : owner;
    for (NodeId reader : readers_of(state, scope, write->buffer, block)) {
      if (reader == block) continue;
      if (!state.is_inside(reader, loop))
        throw refuse(state, reader, "block {} reads {}, but is not inside loop {}", state.node(reader).name,
                     write->buffer->name, state.node(loop).name);
      consumers.push_back(reader);
    }
  }
  if (consumers.empty())
    throw refuse(state, block, "nothing reads what block {} writes", state.node(block).name);
  return consumers;
}

// The block must read the same values at its new place.
void require_inputs_stay(const State& state, NodeId block, NodeId loop) {
  const NodeId around = common_ancestor(state, block, loop);
  for (const Access& read : accesses_of(state, block)) {
    if (read.is_write) continue;
    for (NodeId writer : writers_of(state, state.scope_of(block), read.buffer)) {
      if (writer == block) continue;
      if (!is_before(state, writer, block) && may_meet_in_iteration(state, read, writer, around))
        throw refuse(state, writer, "block {} writes {}, which block {} reads, after it",
                     state.node(writer).name, read.buffer->name, state.node(block).name);
      // the block leaves loops in which its input is written: only their last iteration's would be left
      const NodeId shared = common_ancestor(state, writer, block);
      if (!state.is_inside(around, shared)) require_not_rewritten(state, read, writer, around, shared);
    }
  }
}

// Threads that share a buffer compute together what all of them need.
bool is_shared_by(const ForNode* loop, const std::string& scope) {
  if (loop->for_kind != ForKind::kThreadBinding) return false;
  const bool is_thread = loop->thread_tag.starts_with("threadIdx") || loop->thread_tag.starts_with("vthread");
  return is_thread && (scope == "global" || scope.starts_with("shared"));
}

std::vector<AxisConstraint> required_regions(const State& state, NodeId block, NodeId loop,
                                             const std::vector<NodeId>& consumers,
                                             arith::Analyzer& analyzer) {
  std::vector<AxisConstraint> constraints;
  for (const BufferRegion& write : state.node(block).block()->writes) {
    std::vector<NodeId> shared_by;  // loops whose iterations use one buffer
    for (NodeId id = loop; id != kNoNode && state.node(id).is_loop(); id = state.node(id).parent) {
      if (is_shared_by(state.node(id).loop(), write->buffer.get()->scope())) shared_by.push_back(id);
    }
    std::optional<arith::IntervalRegion> needed;
    for (NodeId consumer : consumers) {
      for (const Access& access : accesses_of(state, consumer)) {
        if (access.is_write || access.buffer != write->buffer) continue;
        arith::IntervalRegion box = relaxed_unguarded(state, access, loop, analyzer);
        if (!shared_by.empty()) {
          const arith::Domains threads = arith::domains_of(ranges_of(state, shared_by));
          for (arith::Interval& side : box) {
            if (side.is_bounded())
              side = {arith::eval_interval(side.min, threads, analyzer).min,
                      arith::eval_interval(side.max, threads, analyzer).max};
          }
        }
        needed = needed ? arith::hull(*needed, box, analyzer) : box;
      }
    }
    if (!needed) continue;
    for (size_t n = 0; n < needed->size(); ++n)
      constraints.push_back({write->region[n]->min, write->region[n]->extent, (*needed)[n]});
  }
  return constraints;
}

// In loops around both, the block computed only a part of its result, which must contain what the consumers
// need.
void require_needs_computed(const State& after, NodeId block, NodeId loop,
                            const std::vector<NodeId>& consumers) {
  for (NodeId consumer : consumers) {
    for (const Access& read : accesses_of(after, consumer)) {
      for (const BufferRegion& write : after.node(block).block()->writes) {
        if (read.is_write || read.buffer != write->buffer) continue;
        arith::Analyzer analyzer;
        bind_loops_above(after, consumer, analyzer);
        arith::IntervalRegion needed =
            arith::intersect(relaxed(after, read, loop, analyzer),
                             arith::to_intervals(full_region(read.buffer)->region), analyzer);
        if (surely_writes(after, block, read.buffer, needed, loop, runs_where(after, consumer, loop)))
          continue;
        UserError error =
            refuse(after, consumer,
                   "block {} reads elements of {} that block {} writes in another iteration of the "
                   "loops around both",
                   after.node(consumer).name, read.buffer->name, after.node(block).name);
        for (const Access& made : accesses_of(after, block)) {
          if (made.is_write && made.buffer == read.buffer)
            explain_read(error, after, read, made, loop, false);
        }
        throw error;
      }
    }
  }
}

// Who calls the function gets every element of a parameter that the block wrote before.
void require_parameters_whole(const State& before, const State& after, NodeId block, NodeId around) {
  for (const Access& write : accesses_of(before, block)) {
    if (!write.is_write || !is_parameter_of(before, block, write.buffer)) continue;
    arith::Analyzer analyzer;
    bind_loops_above(before, around, analyzer);
    const arith::IntervalRegion written =
        arith::intersect(relaxed(before, write, around, analyzer),
                         arith::to_intervals(full_region(write.buffer)->region), analyzer);
    if (!surely_writes(after, block, write.buffer, written, around))
      throw refuse(before, block,
                   "block {} writes {}, {}, and its consumers do not need every element that it writes",
                   before.node(block).name, write.buffer->name, where_from(before, block, write.buffer));
  }
}

void apply(State& state, const MoveArgs& args) {
  if (moved_to_special_place(state, args, "compute_inline")) return;
  const NodeId block = state[args.block], loop = state[args.loop];
  require_same_scope(state, block, loop);
  auto require = [&](const Objection& reason) {
    if (!reason.empty())
      throw refuse(state, block, "block {} cannot be moved: {}", state.node(block).name, reason);
  };
  require(why_not_only_writer(state, block, true));
  require(why_not_reorderable(state, block));
  const std::vector<NodeId> consumers = require_consumers_inside(state, block, loop);
  if (!is_before(state, block, loop))
    throw refuse(state, loop, "loop {} comes before block {}", state.node(loop).name, state.node(block).name);
  require_inputs_stay(state, block, loop);
  const NodeId around = common_ancestor(state, block, loop);
  std::vector<Range> domains;
  PrimExpr guard, axis_guard = bool_imm(true);
  require(why_not_bijective(state, block, around, &domains, &guard, &axis_guard));

  const BlockRealizeNode* realize = state.node(block).realize();
  arith::Analyzer analyzer;
  bind_loops_above(state, loop, analyzer);
  const ForNode* target = state.node(loop).loop();
  analyzer.bind(target->loop_var, make_range(target->min, target->extent));
  const std::vector<IterVar>& axes = realize->block->iter_vars;
  std::vector<arith::Interval> intervals =
      solve_axes(axes, required_regions(state, block, loop, consumers, analyzer), AxisGoal::kTouch, analyzer);
  for (size_t n = 0; n < axes.size(); ++n) {
    if (axes[n]->iter_type == IterType::kReduce) intervals[n] = {};
  }
  AxisNest nest = make_nest(axes, intervals, domains, args.preserve_unit_loops, analyzer);
  nest.require(guard);
  Substitution values;
  for (size_t n = 0; n < axes.size(); ++n) values[axes[n]->var.get()] = nest.values[n];
  nest.require(substitute(axis_guard, values));
  const Stmt stmt = new_stage(realize->block, nest.values, nest.predicate, nest.loops).stmt;
  const size_t position = insert_position(state, loop, args.index, producers_of(state, block), consumers);
  Edit edit(state);
  edit.remove(block);
  edit.replace(loop, with_inserted(target, position, stmt));
  State after = state;
  edit.commit(after, around);
  if (state.node(around).is_loop()) require_needs_computed(after, block, loop, consumers);
  require_parameters_whole(state, after, block, around);
  require_still_independent(after, block);
  state = std::move(after);
}

}  // namespace

extern constinit const PrimitiveInfo compute_at_info = primitive<apply>("compute_at", R"(
Moves a producer into a loop of its consumer, so that each iteration computes what it needs.

    for i in range(n):                      for i in range(n):
        B[i] = A[i] * 2                         B[i] = A[i] * 2
    for i in range(n):              ->          C[i] = B[i] + 1
        C[i] = B[i] + 1                                                   compute_at(B, i)

block                a block whose results nothing else writes; its handle stays.  If a result is a parameter of the
                     function, all of it must still be computed
loop                 a loop of the same scope with all consumers inside, after the block
preserve_unit_loops  make loops of extent 1 for axes that take one value
index                place in the body of `loop`: -1 the last possible, -2 the first possible, else the position
Raises               UserError if a consumer is outside of `loop`, if the block's instances are not independent, if what
                     the block reads changes in between, or if elements of a parameter would not be written any more.
)");
}  // namespace tilewright::schedule
