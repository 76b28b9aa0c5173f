// rolling_buffer: what two iterations of a loop have in common is kept instead of computed again.
#include <algorithm>

#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/transforms/buffers.h"
#include "tilewright/schedule/transforms/inline.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  BufferArg write_buffer_index;
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::block>("block", "a producer that stands in a loop of its consumers"),
        field<&Args::write_buffer_index>("write_buffer_index", "which of the buffers it writes")};
  }
};

// An iteration needs `width` elements along dimension `dim`, from `first` on; the window of the next
// iteration of the innermost loop begins `steps.back()` elements later.
struct Rolling {
  std::vector<NodeId> loops;   // each the only content of the one before; together they never jump
  std::vector<int64_t> steps;  // how far an iteration of each moves
  size_t dim = 0;
  int64_t width = 0;
  PrimExpr first;  // of the iteration
};

// The loop in which `block` and all readers of the buffer are.
NodeId require_shared_loop(const State& state, NodeId block, const Buffer& buffer, NodeId owner) {
  NodeId shared = block;
  for (NodeId reader : readers_of(state, owner, buffer, block)) {
    if (reader == block) continue;
    shared = common_ancestor(state, shared, reader);
    if (!is_before(state, block, reader))
      throw refuse(state, reader, "block {} reads {} before block {} writes it", state.node(reader).name,
                   buffer->name, state.node(block).name);
  }
  if (shared == block || !state.node(shared).is_loop())
    throw refuse(state, block, "no loop is around block {} and all that reads {}", state.node(block).name,
                 buffer->name)
        .help("move the block to its consumers with compute_at first");
  return shared;
}

// How far `expr` moves when the variable grows by 1, if that is always the same.
std::optional<int64_t> step_of(const PrimExpr& expr, const Var& var, arith::Analyzer& analyzer) {
  const PrimExpr moved = analyzer.simplify(substitute(expr, {{var.get(), var + 1}}) - expr);
  int64_t step;
  if (!as_const_int(moved, &step)) return std::nullopt;
  return step;
}

// Adds loops outside of `rolling.loops` whose iterations begin where the previous one ended: the outer parts
// of a loop that was split.
void take_outer_parts(const State& state, const std::vector<NodeId>& loops, const PrimExpr& first,
                      arith::Analyzer& analyzer, Rolling* rolling) {
  auto place = std::find(loops.begin(), loops.end(), rolling->loops[0]);
  while (place != loops.begin()) {
    const auto inner = const_extent(state.node(*place).loop());
    --place;
    const ForNode* outer = state.node(*place).loop();
    const auto step = step_of(first, outer->loop_var, analyzer);
    if (!inner || !step || *step != *inner * rolling->steps[0] || outer->for_kind != ForKind::kSerial) return;
    rolling->loops.insert(rolling->loops.begin(), *place);
    rolling->steps.insert(rolling->steps.begin(), *step);
  }
}

// The innermost of `loops` that moves `first`; an iteration of those outside of it begins anew.
std::optional<NodeId> innermost_mover(const State& state, const std::vector<NodeId>& loops,
                                      const PrimExpr& first) {
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    if (uses(first, state.node(*loop).loop()->loop_var.get())) return *loop;
  }
  return std::nullopt;
}

Rolling require_rolling(const State& state, NodeId block, const Buffer& buffer, NodeId shared) {
  std::vector<NodeId> loops = state.loops_above(shared);
  loops.push_back(shared);
  arith::Analyzer analyzer;
  bind_loops_above(state, block, analyzer);
  for (const Access& access : accesses_of(state, block)) {
    if (!access.is_write || access.buffer != buffer) continue;
    const arith::IntervalRegion box = relaxed_unguarded(state, access, shared, analyzer);
    for (NodeId loop : loops) {
      const Var& var = state.node(loop).loop()->loop_var;
      for (size_t dim = 0; dim < box.size(); ++dim) {
        if (!box[dim].is_bounded() || innermost_mover(state, loops, box[dim].min) != loop) continue;
        const auto step = step_of(box[dim].min, var, analyzer);
        int64_t width;
        if (!step || *step < 1 || !as_const_int(analyzer.simplify(box[dim].max - box[dim].min + 1), &width))
          continue;
        Rolling rolling{{loop}, {*step}, dim, width, box[dim].min};
        take_outer_parts(state, loops, box[dim].min, analyzer, &rolling);
        // elsewhere the iterations need the same: a window that moves along two dimensions keeps nothing
        const auto stays = [&](NodeId each) {
          const VarNode* mover = state.node(each).loop()->loop_var.get();
          for (size_t other = 0; other < box.size(); ++other) {
            if (other != dim && box[other].is_bounded() &&
                (uses(box[other].min, mover) || uses(box[other].max, mover)))
              return false;
          }
          return true;
        };
        if (width > *step && std::all_of(rolling.loops.begin(), rolling.loops.end(), stays)) return rolling;
      }
    }
  }
  throw refuse(state, block, "no two iterations of a loop around block {} need the same elements of {}",
               state.node(block).name, buffer->name);
}

// The condition of the block must leave out the same elements in every iteration that needs them: it must not
// change when an element moves to its next place in the window.
void require_same_guard(const State& state, NodeId block, const PrimExpr& index, const Rolling& rolling) {
  arith::Analyzer analyzer;
  bind_loops_above(state, block, analyzer);
  const auto refuse_guard = [&](const PrimExpr& part) {
    throw refuse(state, block, "block {} runs only where {}, which differs from iteration to iteration",
                 state.node(block).name, text(part));
  };
  std::optional<Var> window;  // moves by one element within an iteration
  for (NodeId loop : loops_between(state, rolling.loops.back(), block)) {
    const Var& var = state.node(loop).loop()->loop_var;
    if (uses(index, var.get()) && step_of(index, var, analyzer) == 1) window = var;
  }
  std::vector<PrimExpr> pending = {state.node(block).realize()->predicate};
  while (!pending.empty()) {
    const PrimExpr part = pending.back();
    pending.pop_back();
    if (const auto* both = part.as<AndNode>()) {
      pending.insert(pending.end(), {both->a, both->b});
      continue;
    }
    for (size_t n = 0; n < rolling.loops.size(); ++n) {
      const Var& var = state.node(rolling.loops[n]).loop()->loop_var;
      if (!uses(part, var.get())) continue;
      const auto* compared = part.as<BinaryOpNode>();
      if (!window || !compared || !part->dtype.is_bool()) refuse_guard(part);
      const Substitution next{{var.get(), var + 1},
                              {window->get(), *window - make_const_int((*window)->dtype, rolling.steps[n])}};
      for (const PrimExpr& side : {compared->a, compared->b}) {
        if (!side->dtype.is_integral() || !analyzer.can_prove_equal(substitute(side, next), side))
          refuse_guard(part);
      }
    }
  }
}

// From the outermost loop that moves the window on, iterations follow each other.
void require_plain_loops(const State& state, NodeId block, const Rolling& rolling) {
  bool is_moved = false;
  for (NodeId loop : state.loops_above(block)) {
    is_moved |= uses(rolling.first, state.node(loop).loop()->loop_var.get());
    if (is_moved) require_plain(state, loop);
  }
}

// All that the readers need is in the part of the buffer that is kept.
void require_kept(const State& state, NodeId block, const Buffer& buffer, NodeId shared,
                  const Rolling& rolling) {
  for (NodeId reader : state.blocks_below(shared)) {
    for (const Access& access : accesses_of(state, reader)) {
      if (reader == block || access.is_write || access.buffer != buffer) continue;
      arith::Analyzer analyzer;
      bind_loops_above(state, reader, analyzer);
      const arith::Interval needed = relaxed(state, access, shared, analyzer)[rolling.dim];
      if (!arith::covers({rolling.first, rolling.first + (rolling.width - 1)}, needed, analyzer))
        throw refuse(state, reader,
                     "block {} reads elements of {} that are not among the {} of its iteration",
                     state.node(reader).name, buffer->name, rolling.width);
    }
  }
}

// Values live on from iteration to iteration: axes along the loop are no longer spatial, which would let the
// buffer be allocated anew in each iteration.
Block with_carrying_axes(const State& state, const BlockRealizeNode* realize, const Rolling& rolling) {
  return with(realize->block, [&](BlockNode& n) {
    for (size_t axis = 0; axis < n.iter_vars.size(); ++axis) {
      if (std::any_of(rolling.loops.begin(), rolling.loops.end(), [&](NodeId loop) {
            return uses(realize->iter_values[axis], state.node(loop).loop()->loop_var.get());
          }))
        n.iter_vars[axis] =
            with(n.iter_vars[axis], [](IterVarNode& axis) { axis.iter_type = IterType::kOpaque; });
    }
  });
}

void apply(State& state, Args& args) {
  const NodeId block = state[args.block];
  const Buffer buffer = require_buffer(state, block, &args.write_buffer_index, false).buffer;
  const WrittenBuffer target = allocated(state, block, buffer);
  for (const Objection& reason : {why_not_only_writer(state, block), why_not_reorderable(state, block)}) {
    if (!reason.empty()) throw refuse(state, block, "{} cannot roll: {}", buffer->name, reason);
  }
  require_element_access(state, target.owner, buffer);
  const NodeId shared = require_shared_loop(state, block, buffer, target.owner);
  const Rolling rolling = require_rolling(state, block, buffer, shared);
  require_plain_loops(state, block, rolling);
  require_kept(state, block, buffer, shared, rolling);
  const BlockRealizeNode* realize = state.node(block).realize();
  // from the second iteration on, only what the one before had not
  Substitution bindings;
  for (size_t n = 0; n < realize->iter_values.size(); ++n)
    bindings[realize->block->iter_vars[n]->var.get()] = realize->iter_values[n];
  PrimExpr index;
  for (const BufferRegion& write : realize->block->writes) {
    if (write->buffer != buffer) continue;
    if (!is_one(write->region[rolling.dim]->extent))
      throw refuse(state, block, "block {} writes several elements of {} along dimension {} at once",
                   state.node(block).name, buffer->name, rolling.dim);
    index = substitute(write->region[rolling.dim]->min, bindings);
  }
  arith::Analyzer analyzer;
  bind_loops_above(state, block, analyzer);
  require_same_guard(state, block, index, rolling);
  const int64_t overlap = rolling.width - rolling.steps.back();
  PrimExpr is_first = bool_imm(true);
  for (NodeId id : rolling.loops) {
    const ForNode* loop = state.node(id).loop();
    is_first = logical_and(is_first, PrimExpr(loop->loop_var) < loop->min + 1);
  }
  is_first = analyzer.simplify(is_first);
  const PrimExpr is_new = analyzer.simplify(index - rolling.first >= make_const_int(index->dtype, overlap));
  State after = state;
  const Block carrying = with_carrying_axes(state, realize, rolling);
  const BlockRealize guarded = with(realize, [&](BlockRealizeNode& n) {
    const PrimExpr is_wanted = logical_or(is_first, is_new);
    n.predicate = is_one(n.predicate) ? is_wanted : logical_and(n.predicate, is_wanted);
    n.block = carrying;
  });
  after.replace(block, guarded, {{realize->block.get(), carrying}});
  const Buffer rolled = with(buffer, [&](BufferNode& n) {
    n.shape[rolling.dim] = make_const_int(n.shape[rolling.dim]->dtype, rolling.width);
    n.data = pointer_var(n.data->name_hint, n.dtype, n.scope());
  });
  replace_allocated_buffer(after, target, rolled, [&](const std::vector<PrimExpr>& indices) {
    std::vector<PrimExpr> result = indices;
    result[rolling.dim] = floormod(indices[rolling.dim], rolling.width);
    return result;
  });
  state = std::move(after);
}

}  // namespace

extern constinit const PrimitiveInfo rolling_buffer_info = primitive<apply>("rolling_buffer", R"(
Keeps what the next iteration of a loop needs as well, in a buffer that only holds one iteration's elements.

    for i in range(8):                     for i in range(8):
        for ax0 in range(3):                   for ax0 in range(3):
            B[i + ax0] = A[i + ax0]    ->          if i < 1 or 2 <= ax0:
        C[i] = B[i] + B[i + 2]                         B[(i + ax0) % 3] = A[i + ax0]
                                               C[i] = B[i % 3] + B[(i + 2) % 3]               rolling_buffer(B, 0)

block               a producer in a loop of its consumers (after compute_at), the only writer of an intermediate buffer; its
                    handle stays
write_buffer_index  which of the buffers it writes: its number, its name or the buffer
Raises              UserError if no loop around it needs elements again that the iteration before had, if a loop from there on is
                    not serial, or if the buffer is used elsewhere.
)");
}  // namespace tilewright::schedule
