// reverse_compute_at: a consumer is computed where its input is produced.
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/axis_solver.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/legality/coverage.h"
#include "tilewright/schedule/legality/dependence.h"
#include "tilewright/schedule/legality/witness.h"
#include "tilewright/schedule/transforms/compute_location.h"
#include "tilewright/schedule/transforms/loop_kind.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// A block that writes what the moved one reads, and the innermost loop that will have both inside.
struct Producer {
  NodeId block, loop;
};

struct Producers {
  std::vector<NodeId> inside;  // of the loop
  std::vector<Producer> all;   // also those before it in the loops around that the block moves into
};

// Writers outside of these loops must be done before them.
Producers require_producers(const State& state, NodeId block, NodeId loop, NodeId around) {
  Producers found;
  for (const BufferRegion& read : state.node(block).block()->reads) {
    for (NodeId writer : writers_of(state, state.scope_of(block), read->buffer)) {
      if (writer == block) continue;
      const bool is_inside = state.is_inside(writer, loop);
      if (!is_inside && !is_before(state, writer, loop))
        throw refuse(state, writer, "block {} writes {}, which block {} reads, after loop {}",
                     state.node(writer).name, read->buffer->name, state.node(block).name,
                     state.node(loop).name);
      const NodeId shared = is_inside ? loop : common_ancestor(state, writer, loop);
      if (is_inside) found.inside.push_back(writer);
      if (!state.is_inside(around, shared)) found.all.push_back({writer, shared});
    }
  }
  if (found.inside.empty())
    throw refuse(state, block, "block {} reads nothing that is written inside loop {}",
                 state.node(block).name, state.node(loop).name);
  return found;
}

// The buffers that the block writes must not be used between its new place and the old one, nor in loops that
// it leaves.
void require_outputs_unused(const State& state, NodeId block, NodeId loop, NodeId around) {
  for (const BufferRegion& write : state.node(block).block()->writes) {
    for (NodeId other : users_beside(state, state.scope_of(block), write->buffer)) {
      if (other == block) continue;
      const bool is_after = is_before(state, block, other);
      const NodeId shared = common_ancestor(state, block, other);
      if (is_after && state.is_inside(around, shared)) continue;
      // it is done; in a loop that the block moves into, its later iterations would come after the block
      if (is_before(state, other, loop) && state.is_inside(around, common_ancestor(state, other, loop)))
        continue;
      for (const Access& access : accesses_of(state, other)) {
        if (!may_alias(access.buffer, write->buffer)) continue;
        if (is_after)
          throw refuse(state, other,
                       "block {} {} {}, which block {} writes, in loop {}, which it would leave",
                       state.node(other).name, access.is_write ? "writes" : "reads", access.buffer->name,
                       state.node(block).name, state.node(shared).name);
        throw refuse(state, other, "block {} {} {}, which block {} writes, before it", state.node(other).name,
                     access.is_write ? "writes" : "reads", access.buffer->name, state.node(block).name);
      }
    }
  }
}

std::vector<AxisConstraint> produced_regions(const State& state, NodeId block, NodeId loop,
                                             const std::vector<NodeId>& producers,
                                             arith::Analyzer& analyzer) {
  std::vector<AxisConstraint> constraints;
  for (NodeId producer : producers) {
    for (const Access& write : accesses_of(state, producer)) {
      if (!write.is_write) continue;
      const arith::IntervalRegion box = relaxed_unguarded(state, write, loop, analyzer);
      for (const BufferRegion& read : state.node(block).block()->reads) {
        if (read->buffer != write.buffer) continue;
        for (size_t n = 0; n < box.size(); ++n)
          constraints.push_back({read->region[n]->min, read->region[n]->extent, box[n]});
      }
    }
  }
  return constraints;
}

// The schedule with the block at its new place, before it is proved right.
State moved(const State& state, NodeId block, NodeId loop, NodeId around, const AxisNest& nest,
            size_t position) {
  const BlockRealizeNode* realize = state.node(block).realize();
  const Stmt stmt = new_stage(realize->block, nest.values, nest.predicate, nest.loops).stmt;
  State result = state;
  Edit edit(state);
  edit.remove(block);
  edit.replace(loop, with_inserted(state.node(loop).loop(), position, stmt));
  edit.commit(result, around);
  return result;
}

// Each instance runs once, as before.
void require_same_instances(const State& state, const State& after, NodeId block, NodeId loop, NodeId around,
                            const std::vector<Range>& domains) {
  if (!state.proves_steps) return;
  std::vector<Range> now;
  PrimExpr guard;
  Objection reason = why_not_bijective(after, block, around, &now, &guard);
  arith::Analyzer analyzer;
  bind_loops_above(after, block, analyzer);
  for (size_t n = 0; n < now.size() && reason.empty(); ++n) {
    if (!analyzer.can_prove_equal(now[n]->min, domains[n]->min) ||
        !analyzer.can_prove_equal(now[n]->extent, domains[n]->extent))
      reason = fmt::format("axis {} would take the values [{}, {}) instead of [{}, {})",
                           state.node(block).block()->iter_vars[n]->var->name_hint, text(now[n]->min),
                           text(analyzer.simplify(now[n]->min + now[n]->extent)), text(domains[n]->min),
                           text(analyzer.simplify(domains[n]->min + domains[n]->extent)));
  }
  if (!reason.empty())
    throw refuse(state, block,
                 "what loop {} produces in one iteration does not divide the work of block {}: {}",
                 state.node(loop).name, state.node(block).name, reason);
}

// All elements that the block reads in one iteration must have their last value in that iteration.
void require_inputs_ready(const State& state, const State& after, NodeId block, NodeId around,
                          const std::vector<Producer>& producers) {
  if (!state.proves_steps) return;
  for (const Access& read : accesses_of(after, block)) {
    if (read.is_write) continue;
    for (const auto& [producer, loop] : producers) {
      for (const Access& write : accesses_of(after, producer)) {
        if (!write.is_write || write.buffer != read.buffer) continue;
        arith::Analyzer analyzer;
        bind_loops_above(after, block, analyzer);
        const arith::IntervalRegion needed = relaxed(after, read, loop, analyzer);
        if (!surely_writes(after, producer, read.buffer, needed, loop, runs_where(after, block, loop))) {
          UserError error = refuse(
              state, block, "block {} would read elements of {} that one iteration of loop {} does not write",
              state.node(block).name, read.buffer->name, state.node(loop).name);
          explain_read(error, after, read, write, loop, false);
          throw error;
        }
        if (const std::optional<NodeId> outer = loop_that_rewrites(after, read, write, around, loop)) {
          UserError error =
              refuse(state, *outer,
                     "block {} would read elements of {} that a later iteration of loop {} writes again",
                     state.node(block).name, read.buffer->name, state.node(*outer).name);
          explain_read(error, after, read, write, loop, true);
          throw error;
        }
      }
    }
  }
}

// A loop that adds up is done with no element before its end.
void require_sums_finished(const State& state, NodeId block, NodeId loop,
                           const std::vector<NodeId>& producers) {
  for (NodeId producer : producers) {
    const BlockRealizeNode* realize = state.node(producer).realize();
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      if (realize->block->iter_vars[n]->iter_type == IterType::kReduce &&
          uses(realize->iter_values[n], state.node(loop).loop()->loop_var.get()) &&
          !is_one(state.node(loop).loop()->extent))
        throw refuse(state, loop,
                     "loop {} adds up in block {}, which has finished what block {} reads only at its end",
                     state.node(loop).name, state.node(producer).name, state.node(block).name);
    }
  }
}

// Adds as a note: what one instance of the block reads comes from several iterations of the loop.
void explain_needs(Error& error, const State& state, NodeId block, NodeId loop,
                   const std::vector<NodeId>& producers) {
  for (const Access& read : accesses_of(state, block)) {
    for (NodeId producer : producers) {
      for (const Access& write : accesses_of(state, producer)) {
        if (read.is_write || !write.is_write || !error.notes().empty()) continue;
        explain_split(error, state, read, write, loop);
      }
    }
  }
}

void apply(State& state, const MoveArgs& args) {
  if (moved_to_special_place(state, args, "reverse_compute_inline")) return;
  const NodeId block = state[args.block], loop = state[args.loop];
  require_same_scope(state, block, loop);
  if (!is_before(state, loop, block))
    throw refuse(state, loop, "loop {} comes after block {}", state.node(loop).name, state.node(block).name);
  if (const Objection reason = why_not_reorderable(state, block); !reason.empty())
    throw refuse(state, block, "block {} cannot be moved: {}", state.node(block).name, reason);
  const NodeId around = common_ancestor(state, block, loop);
  const Producers producers = require_producers(state, block, loop, around);
  require_sums_finished(state, block, loop, producers.inside);
  require_outputs_unused(state, block, loop, around);
  std::vector<Range> domains;
  PrimExpr guard;
  if (const Objection reason = why_not_bijective(state, block, around, &domains, &guard); !reason.empty())
    throw refuse(state, block, "block {} cannot be moved: {}", state.node(block).name, reason);

  arith::Analyzer analyzer;
  bind_loops_above(state, loop, analyzer);
  const ForNode* target = state.node(loop).loop();
  analyzer.bind(target->loop_var, make_range(target->min, target->extent));
  const std::vector<IterVar>& axes = state.node(block).block()->iter_vars;
  const std::vector<arith::Interval> intervals = solve_axes(
      axes, produced_regions(state, block, loop, producers.inside, analyzer), AxisGoal::kInside, analyzer);
  for (size_t n = 0; n < axes.size(); ++n) {
    if (!arith::is_empty(intervals[n], analyzer)) continue;
    UserError error = refuse(
        state, block, "one iteration of loop {} writes too little for any value of axis {} of block {}",
        state.node(loop).name, axes[n]->var->name_hint, state.node(block).name);
    explain_needs(error, state, block, loop, producers.inside);
    throw error;
  }
  AxisNest nest = make_nest(axes, intervals, domains, args.preserve_unit_loops, analyzer);
  nest.require(guard);
  const size_t position =
      insert_position(state, loop, args.index, producers.inside, consumers_of(state, block));
  State after = moved(state, block, loop, around, nest, position);
  require_same_instances(state, after, block, loop, around, domains);
  require_inputs_ready(state, after, block, around, producers.all);
  require_still_independent(after, block);
  state = std::move(after);
}

}  // namespace

extern constinit const PrimitiveInfo reverse_compute_at_info = primitive<apply>("reverse_compute_at", R"(
Moves a consumer into a loop of its producer, so that each iteration uses what it has computed.

    for i in range(n):                      for i in range(n):
        B[i] = A[i] * 2                         B[i] = A[i] * 2
    for i in range(n):              ->          C[i] = B[i] + 1
        C[i] = B[i] + 1                                                   reverse_compute_at(C, i)

block                a block that reads what is written inside of `loop`; its handle stays
loop                 a loop of the same scope, before the block
preserve_unit_loops  make loops of extent 1 for axes that take one value
index                place in the body of `loop`: -1 the last possible, -2 the first possible, else the position
Raises               UserError if the iterations of `loop` do not divide the block's work into parts whose inputs are
                     complete, or if another block uses what the block writes in between.
)");
}  // namespace tilewright::schedule
