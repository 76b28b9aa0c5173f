// Rule choose: blocks that choose one of many terms together with its place, as argmax does.
//   for i, k: I[i], V[i] = better of (I[i], V[i]) and (k, A[i, k])
//   ->  for i: I16, V16[16] = none; for ko: I16, V16[0:16] = better of them and those of A[i, ko * 16 + 0:16]
//              I[i], V[i] = best of I16, V16
// and, where neighbours are terms of different results, for i, k: better of (I[i], V[i]) and (k, A[k, i]),
//   ->  for io: I16, V16[16] = none; for k: I16, V16[0:16] = better of them and those of A[k, io * 16 + 0:16]
//               I[io * 16 + 0:16], V[io * 16 + 0:16] = I16, V16
#include <algorithm>

#include "tilewright/analysis/update.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

/// A block that chooses.
struct Choosing {
  Block block;
  analysis::Update update;
  std::vector<const BufferLoadNode*> loads;  // of terms

  bool is_reducing(size_t axis) const { return block->iter_vars[axis]->iter_type == IterType::kReduce; }
  /// The constant extent of an axis, or the likely one.
  int64_t extent(size_t axis) const {
    int64_t extent;
    return as_const_int(block->iter_vars[axis]->dom->extent, &extent) ? extent : kLoopCosts.likely_extent;
  }
  /// True if neighbours along an axis are neighbours in memory in all that is read.
  bool is_contiguous(size_t axis) const {
    bool is_found = false;
    for (const BufferLoadNode* load : loads) {
      const Along moves = along(load->buffer, load->indices, block->iter_vars[axis]->var);
      if (moves == Along::kStrided) return false;
      is_found |= moves == Along::kContiguous;
    }
    return is_found;
  }
  /// The axis of the last dimension of the results.
  std::optional<size_t> last_axis() const {
    if (update.indices.empty()) return std::nullopt;
    const PrimExpr& index = update.indices[last_dimension(update.buffers[0])];
    for (size_t axis = 0; axis < block->iter_vars.size(); ++axis) {
      if (index.get() == block->iter_vars[axis]->var.get()) return axis;
    }
    return std::nullopt;
  }
};

std::optional<Choosing> choosing(const Schedule& sch, BlockRef ref) {
  Choosing result;
  result.block = sch.get(ref);
  std::optional<analysis::Update> update = analysis::update_of(result.block.get());
  if (!update || update->buffers.size() < 2) return std::nullopt;
  for (const IterVar& axis : result.block->iter_vars) {
    if (axis->iter_type != IterType::kSpatial && axis->iter_type != IterType::kReduce) return std::nullopt;
  }
  result.update = std::move(*update);
  const auto find_loads = [&](const PrimExpr& expr) {
    walk(expr, [&](const BufferLoadNode* load) { result.loads.push_back(load); });
  };
  for (const PrimExpr& term : result.update.terms) find_loads(term);
  for (const auto& [var, value] : result.update.lets) find_loads(value);
  return result;
}

/// Lanes of a vector, and vectors that are worked on at once.
struct Width {
  int64_t lanes, vectors;
  int64_t total() const { return lanes * vectors; }
};

// As many vectors as half of the registers hold, of those that `extent` fills; whole ones if possible.
Width width_for(const analysis::Update& update, int64_t extent, const Features& features) {
  int64_t least_bytes = 8, bytes = 0;
  for (const Buffer& buffer : update.buffers) {
    least_bytes = std::min<int64_t>(least_bytes, buffer->dtype.num_bytes());
    bytes += std::max<int64_t>(4, buffer->dtype.num_bytes());
  }
  Width width{features.vector_bytes / std::max<int64_t>(4, least_bytes), 1};
  while (width.lanes > kLoopCosts.least_vector && width.lanes > extent) width.lanes /= 2;
  const int64_t in_registers =
      features.vector_bytes * features.num_vector_registers / 2 / (width.lanes * bytes);
  const int64_t most =
      std::max<int64_t>(1, std::min({in_registers, kLoopCosts.most_sums, extent / width.lanes}));
  width.vectors = most;
  while (width.vectors > 1 && extent % width.total() != 0) --width.vectors;
  if (extent % width.total() != 0) width.vectors = most;
  return width;
}

// The loops of a block inside of `row`: others first, then those that reduce, then those of `lanes`.
//
// Returns  the first that reduces
LoopRef order_loops(Schedule& sch, BlockRef ref, const std::optional<LoopRef>& row,
                    std::optional<size_t> lanes) {
  const Block block = sch.get(ref);
  const std::vector<LoopRef> loops = loops_inside(sch, ref, row);
  std::vector<LoopRef> order, reducing, last;
  for (size_t axis = 0; axis < block->iter_vars.size(); ++axis) {
    std::vector<LoopRef>& list = axis == lanes                                             ? last
                                 : block->iter_vars[axis]->iter_type == IterType::kSpatial ? order
                                                                                           : reducing;
    for (LoopRef loop : loops_of_axis(sch, ref, axis, loops)) list.push_back(loop);
  }
  TILEWRIGHT_CHECK(!reducing.empty(), "block {} has no loop that reduces", block->name_hint);
  order.insert(order.end(), reducing.begin(), reducing.end());
  order.insert(order.end(), last.begin(), last.end());
  if (order.size() > 1) steps::reorder(sch, order);
  return reducing[0];
}

// The innermost loop of a block as vectors of `lanes`, written out.
void expand_innermost(Schedule& sch, BlockRef ref, int64_t lanes) {
  const LoopRef innermost = steps::get_loops(sch, ref).back();
  const std::vector<LoopRef> parts = steps::split(sch, innermost, {None{}, lanes});
  steps::unroll(sch, parts[0]);
  steps::vectorize(sch, parts[1]);
}

void keep_in_registers(Schedule& sch, BlockRef ref, size_t num_buffers) {
  for (size_t n = 0; n < num_buffers; ++n) steps::set_scope(sch, ref, {static_cast<int64_t>(n)}, "local");
}

/// A block of partial choices.
struct Partial {
  BlockRef ref;
  int64_t lanes;
};

// First several vectors, then one, then four choices, of which `ref` takes the best.
std::vector<Partial> make_partials(Schedule& sch, BlockRef ref, const Choosing& choice, size_t axis,
                                   const Width& width) {
  std::vector<Partial> partials;
  const auto factor = [&](LoopRef loop, int64_t count, int64_t lanes) {
    const LoopRef inner = steps::split(sch, loop, {None{}, count}).back();
    const BlockRef partial = steps::rfactor(sch, inner, -1);
    keep_in_registers(sch, partial, choice.update.buffers.size());
    partials.push_back({partial, lanes});
  };
  order_loops(sch, ref, std::nullopt, std::nullopt);
  const std::vector<LoopRef> loops = steps::get_loops(sch, ref);
  const LoopRef along = loops_of_axis(sch, ref, axis, loops)[0];
  if (!is_same(sch, along, loops.back())) {
    std::vector<LoopRef> order = loops;
    std::erase_if(order, [&](LoopRef loop) { return is_same(sch, loop, along); });
    order.push_back(along);
    steps::reorder(sch, order);
  }
  factor(along, width.total(), width.lanes);
  if (width.vectors > 1) factor(steps::get_loops(sch, ref).back(), width.lanes, width.lanes);
  if (width.lanes > kLoopCosts.least_vector)
    factor(steps::get_loops(sch, ref).back(), kLoopCosts.least_vector, kLoopCosts.least_vector);
  return partials;
}

// Threads for the outer loops of `ref`, of which `loops` may be shared out, if there is enough to do.
std::vector<LoopRef> share_out(Schedule& sch, const Choosing& choice, const std::vector<LoopRef>& loops,
                               const Features& features) {
  int64_t work = kLoopCosts.element_work;
  for (size_t axis = 0; axis < choice.block->iter_vars.size(); ++axis)
    work = product(work, choice.extent(axis));
  if (features.num_cores == 1 || work < features.min_parallel_work() || loops.empty()) return loops;
  return parallelize(sch, loops, loops.size(), features);
}

// Terms of one result are neighbours: each lane chooses of its own.
void choose_by_lanes(Schedule& sch, BlockRef ref, const Choosing& choice, size_t axis,
                     const Features& features) {
  const Width width = width_for(choice.update, choice.extent(axis) / 2, features);
  const std::vector<Partial> partials = make_partials(sch, ref, choice, axis, width);
  std::vector<LoopRef> rows = steps::get_loops(sch, ref);
  rows.pop_back();
  rows = share_out(sch, choice, rows, features);
  const std::optional<LoopRef> row = rows.empty() ? std::nullopt : std::optional(rows.back());
  for (size_t k = partials.size(); row && k-- > 0;) steps::compute_at(sch, partials[k].ref, *row);
  for (size_t k = 0; k < partials.size(); ++k) {
    const BlockRef partial = partials[k].ref;
    const std::optional<Choosing> shape = choosing(sch, partial);
    TILEWRIGHT_CHECK(shape && shape->last_axis(), "a block of partial choices has no last axis");
    const LoopRef first = order_loops(sch, partial, row, shape->last_axis());
    const BlockRef init = steps::decompose_reduction(sch, partial, first);
    if (k > 0) steps::unroll(sch, first);
    expand_innermost(sch, init, partials[k].lanes);
    expand_innermost(sch, partial, partials[k].lanes);
  }
  const LoopRef last = steps::get_loops(sch, ref).back();
  steps::decompose_reduction(sch, ref, last);
  steps::unroll(sch, last);
}

// Neighbours are terms of different results: each lane has a result of its own.
void choose_by_columns(Schedule& sch, BlockRef ref, const Choosing& choice, size_t column,
                       const std::vector<Buffer>& temporary, const Features& features) {
  const Width width = width_for(choice.update, choice.extent(column), features);
  std::vector<BlockRef> copies;
  for (size_t n = 0; n < choice.update.buffers.size(); ++n) {
    const bool is_needed =
        std::find(temporary.begin(), temporary.end(), choice.update.buffers[n]) == temporary.end();
    if (is_needed)
      copies.push_back(steps::cache_write(sch, ref, {static_cast<int64_t>(n)}, "local"));
    else
      steps::set_scope(sch, ref, {static_cast<int64_t>(n)}, "local");
  }
  const LoopRef columns = loops_of_axis(sch, ref, column, steps::get_loops(sch, ref))[0];
  const LoopRef tiles = steps::split(sch, columns, {None{}, width.total()})[0];
  const Block block = sch.get(ref);
  std::vector<LoopRef> rows, reducing, lanes, loops = steps::get_loops(sch, ref);
  for (size_t axis = 0; axis < block->iter_vars.size(); ++axis) {
    for (LoopRef loop : loops_of_axis(sch, ref, axis, loops)) {
      if (axis == column)
        (is_same(sch, loop, tiles) ? rows : lanes).push_back(loop);
      else
        (choice.is_reducing(axis) ? reducing : rows).push_back(loop);
    }
  }
  std::vector<LoopRef> order = rows;
  order.insert(order.end(), reducing.begin(), reducing.end());
  order.insert(order.end(), lanes.begin(), lanes.end());
  steps::reorder(sch, order);
  for (BlockRef copy : copies) steps::reverse_compute_at(sch, copy, rows.back());
  const BlockRef init = steps::decompose_reduction(sch, ref, reducing[0]);
  for (BlockRef each : {ref, init}) expand_innermost(sch, each, width.lanes);
  for (BlockRef copy : copies) expand_innermost(sch, copy, width.lanes);
  share_out(sch, choice, rows, features);
}

}  // namespace

std::optional<Reason> choose_best(Schedule& sch, BlockRef ref, const std::vector<Buffer>& temporary,
                                  const Features& features) {
  const std::optional<Choosing> choice = choosing(sch, ref);
  const std::string& name = sch.get(ref)->name_hint;
  if (!choice) return Reason(Reason::kOther, "it does not choose one of several terms by comparing them");
  const std::optional<size_t> column = choice->last_axis();
  std::optional<size_t> reduced;
  bool is_reducing = false;
  for (size_t axis = 0; axis < choice->block->iter_vars.size(); ++axis) {
    const bool has_values = choice->is_reducing(axis) && has_loop(sch, ref, axis);
    is_reducing |= has_values;
    if (has_values && choice->is_contiguous(axis)) reduced = axis;
  }
  if (!is_reducing) return Reason(Reason::kTooSmall, "block {} chooses of one term", name);
  if (column && !choice->is_reducing(*column) && has_loop(sch, ref, *column) &&
      choice->is_contiguous(*column) && choice->extent(*column) >= kLoopCosts.least_vector) {
    choose_by_columns(sch, ref, *choice, *column, temporary, features);
    return std::nullopt;
  }
  if (!reduced) return Reason(Reason::kForm, "no axis of block {} is contiguous in all that it reads", name);
  if (choice->extent(*reduced) < 2 * kLoopCosts.least_vector)
    return Reason(Reason::kTooSmall, "axis {} of block {} has {} terms, fewer than two vectors of {}",
                  choice->block->iter_vars[*reduced]->var->name_hint, name, choice->extent(*reduced),
                  kLoopCosts.least_vector);
  choose_by_lanes(sch, ref, *choice, *reduced, features);
  return std::nullopt;
}

}  // namespace tilewright::schedule
