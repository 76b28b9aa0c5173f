// Rule reduce_rows: programs that reduce rows, sums and maxima along what is contiguous, softmax, norms.
//   for i, k: S[i] += A[i, k]
//   for i, j: B[i, j] = A[i, j] / S[i]
//   ->  for i: P[64] = 0; for ko: P[0:64] += A[i, ko * 64 + 0:64]
//              P1[16] = sum of the four vectors in P; ...; S[i] = sum of four numbers
//              for jo: B[i, jo * 16 + 0:16] = A[i, jo * 16 + 0:16] / S[i]
// Partial sums are kept in vectors, and all blocks work on one row while it is near the core.  Where there is
// one row, which is everything, blocks work one after the other.
#include <algorithm>

#include "tilewright/schedule/default/cpu/prefetch.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/schedule/default/rows.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::schedule {
namespace {

/// How the terms of one sum are put into vectors.
struct Terms {
  size_t axis = 0;  // reduces, and is contiguous in what is read
  int64_t lanes = 1, vectors = 1;
};

struct Plan {
  size_t num_rows = 0;                     // axes that all blocks begin with
  std::vector<std::optional<Terms>> sums;  // of each block; nothing: it works element by element
};

// The reason why no axis along which the block adds gives its vectors.
Reason why_no_terms(const BlockShape& sum) {
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const IterVar& var = sum.block->iter_vars[axis];
    if (var->iter_type == IterType::kSpatial || sum.extent(axis) > 0 || !is_contiguous_alone(sum, axis))
      continue;
    return open_extent(sum, axis);
  }
  return Reason(Reason::kForm, "no axis along which block {} adds is contiguous in all that it reads",
                sum.block->name_hint);
}

OrReason<Terms> terms_of(const BlockShape& sum, const Features& features) {
  Terms terms;
  bool is_found = false;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const IterVar& var = sum.block->iter_vars[axis];
    if (var->iter_type == IterType::kSpatial || sum.extent(axis) <= 1) continue;
    if (!is_contiguous_alone(sum, axis)) continue;
    terms.axis = axis;
    is_found = true;
  }
  if (!is_found) return why_no_terms(sum);
  if (sum.output()->dtype.is_bool()) return Reason(Reason::kForm, "{} is of bool", sum.output()->name);
  // at least two of all vectors, if possible without an edge
  const int64_t extent = sum.extent(terms.axis);
  terms.lanes = features.vector_bytes / std::max<int64_t>(1, sum.output()->dtype.num_bytes());
  while (terms.lanes > kLoopCosts.least_vector && extent < 2 * terms.lanes) terms.lanes /= 2;
  const int64_t most = std::min(kLoopCosts.most_sums, extent / terms.lanes / 2);
  if (terms.lanes < kLoopCosts.least_vector || most < 1)
    return Reason(Reason::kTooSmall, "axis {} of block {} has {} terms, fewer than two vectors of {}",
                  axis_name(sum, terms.axis), sum.block->name_hint, extent,
                  std::max(terms.lanes, kLoopCosts.least_vector));
  terms.vectors = most;
  while (terms.vectors > 1 && extent % (terms.vectors * terms.lanes) != 0) --terms.vectors;
  if (extent % (terms.vectors * terms.lanes) != 0) terms.vectors = most;
  return terms;
}

OrReason<Plan> make_plan(const std::vector<BlockShape>& shapes, const Features& features) {
  Plan plan;
  const BlockShape* first_sum = nullptr;
  for (const BlockShape& shape : shapes) {
    plan.sums.emplace_back();
    if (!shape.is_reduction()) continue;
    const OrReason<Terms> terms = terms_of(shape, features);
    if (!terms) return terms.reason();
    plan.sums.back() = *terms;
    const size_t num_rows = spatial_axes(shape).size();
    if (first_sum && plan.num_rows != num_rows)
      return Reason(Reason::kForm, "block {} reduces rows of {} axes, and block {} of {}",
                    first_sum->block->name_hint, plan.num_rows, shape.block->name_hint, num_rows);
    if (!first_sum) first_sum = &shape;
    plan.num_rows = num_rows;
  }
  if (!first_sum) return Reason(Reason::kOther, "nothing is added up");
  const BlockShape& last = shapes.back();
  for (const BlockShape& shape : shapes) {
    if (std::optional<Reason> why = why_other_rows(shape, last, plan.num_rows, shapes)) return *why;
  }
  return plan;
}

/// A block of partial sums.
struct Partial {
  BlockRef ref;
  int64_t lanes;
};

// First vectors of partial sums, then one vector, then four numbers, which `sum` adds.
std::vector<Partial> make_partials(Schedule& sch, BlockRef sum, const Terms& terms) {
  std::vector<Partial> partials;
  const auto factor = [&](LoopRef loop, int64_t count, int64_t lanes) {
    const LoopRef inner = steps::split(sch, loop, {None{}, count}).back();
    const BlockRef partial = steps::rfactor(sch, inner, -1);
    steps::set_scope(sch, partial, {0}, "local");
    partials.push_back({partial, lanes});
  };
  std::vector<LoopRef> loops = steps::get_loops(sch, sum);
  const LoopRef along = loops_of_axis(sch, sum, terms.axis, loops)[0];
  if (!is_same(sch, along, loops.back())) {
    std::erase_if(loops, [&](LoopRef loop) { return is_same(sch, loop, along); });
    loops.push_back(along);
    steps::reorder(sch, loops);
  }
  factor(along, terms.lanes * terms.vectors, terms.lanes);
  const auto rest = [&] { return steps::get_loops(sch, sum).back(); };
  if (terms.vectors > 1) factor(rest(), terms.lanes, terms.lanes);
  if (terms.lanes > kLoopCosts.least_vector) factor(rest(), kLoopCosts.least_vector, kLoopCosts.least_vector);
  return partials;
}

// Loops that reduce after all others but those of `column`; gives the first of them.
LoopRef order_loops(Schedule& sch, BlockRef block, const std::optional<LoopRef>& row,
                    std::optional<size_t> column) {
  const Block node = sch.get(block);
  const std::vector<LoopRef> loops = loops_inside(sch, block, row);
  std::vector<LoopRef> order, reducing, columns;
  for (size_t axis = 0; axis < node->iter_vars.size(); ++axis) {
    std::vector<LoopRef>& list = axis == column                                           ? columns
                                 : node->iter_vars[axis]->iter_type == IterType::kSpatial ? order
                                                                                          : reducing;
    for (LoopRef loop : loops_of_axis(sch, block, axis, loops)) list.push_back(loop);
  }
  TILEWRIGHT_CHECK(!reducing.empty(), "block {} has no loop that reduces", node->name_hint);
  order.insert(order.end(), reducing.begin(), reducing.end());
  order.insert(order.end(), columns.begin(), columns.end());
  if (order.size() > 1) steps::reorder(sch, order);
  return reducing[0];
}

// The block that fetches rows to come, if they do not stay in L2: one of those that read them,
// best one whose arithmetic leaves memory time.
std::optional<size_t> block_that_fetches(const std::vector<BlockShape>& shapes, const Features& features) {
  std::optional<size_t> found;
  for (size_t n = shapes.size(); n-- > 0;) {
    if (!reads_beyond(shapes[n], features.l2_bytes)) continue;
    const bool is_better = shapes[n].is_expensive() || !found || !shapes[*found].is_expensive();
    if (is_better) found = n;
  }
  return found;
}

// True if one row of what `sum` reads does not fit into registers.  LLVM would unroll the loop over it, keep what
// it reads for the next loop over the row, and spill it.
bool exceeds_registers(const BlockShape& sum, const Terms& terms, const Features& features) {
  const int64_t bytes = product(sum.extent(terms.axis), sum.output()->dtype.num_bytes());
  return bytes > features.num_vector_registers * features.vector_bytes;
}

// is_first    the partial sums are of what is read, not of other sums
// keeps_loop  the loop over what is read is not unrolled
void vectorize_partial(Schedule& sch, const Partial& partial, const std::optional<LoopRef>& row,
                       bool is_first, bool keeps_loop, bool is_fetching, const Features& features) {
  const OrReason<BlockShape> shape = shape_of(sch, partial.ref);
  const std::optional<size_t> column = shape ? shape->last_axis() : std::nullopt;
  TILEWRIGHT_CHECK(column, "a block of partial sums has no last axis");
  const LoopRef first = order_loops(sch, partial.ref, row, column);
  const LoopRef lanes = loops_inside(sch, partial.ref, row).back();
  const auto expand = [&](BlockRef block) {
    const std::vector<LoopRef> loops = loops_inside(sch, block, row);
    steps::unroll(sch, loops[loops.size() - 2]);
    steps::vectorize(sch, loops.back());
  };
  steps::split(sch, lanes, {None{}, partial.lanes});
  const BlockRef init = steps::decompose_reduction(sch, partial.ref, first);
  expand(init);
  expand(partial.ref);
  if (!is_first)
    steps::unroll(sch, first);
  else if (keeps_loop)
    steps::annotate(sch, first, kKeepLoop, bool_imm(true));
  if (is_fetching) fetch_ahead(sch, first, prefetch_at(features.far_fetch_bytes(), features));
}

}  // namespace

std::optional<Reason> reduce_rows(Schedule& sch, const std::vector<BlockShape>& shapes,
                                  const Features& features) {
  const OrReason<Plan> plan = make_plan(shapes, features);
  if (!plan) return plan.reason();
  int64_t work = 0;
  std::vector<std::vector<Partial>> partials(shapes.size());
  for (size_t n = 0; n < shapes.size(); ++n) {
    const int64_t of_one = shapes[n].is_expensive() ? kLoopCosts.expensive_work
                                                    : kLoopCosts.element_work / 2;  // it is only read
    work = std::max(work, product(shapes[n].num_instances(), of_one));
    if (plan->sums[n]) partials[n] = make_partials(sch, shapes[n].ref, *plan->sums[n]);
  }
  const BlockRef last = shapes.back().ref;
  std::vector<LoopRef> rows;
  const std::vector<LoopRef> loops = steps::get_loops(sch, last);
  const OrReason<BlockShape> shape = shape_of(sch, last);
  const std::vector<size_t> axes = spatial_axes(*shape);
  for (size_t row = 0; row < plan->num_rows; ++row)
    rows.push_back(loops_of_axis(sch, last, axes[row], loops)[0]);
  std::optional<LoopRef> row;
  if (!rows.empty()) {
    std::vector<LoopRef> order = rows;
    for (LoopRef loop : loops) {
      if (std::none_of(rows.begin(), rows.end(), [&](LoopRef other) { return is_same(sch, loop, other); }))
        order.push_back(loop);
    }
    if (order.size() > 1) steps::reorder(sch, order);
    if (features.num_cores > 1 && work >= features.min_parallel_work())
      rows = parallelize(sch, rows, rows.size(), features);
    row = rows.back();
    for (size_t n = shapes.size(); n-- > 0;) {
      if (n + 1 < shapes.size()) steps::compute_at(sch, shapes[n].ref, *row);
      for (size_t k = partials[n].size(); k-- > 0;) steps::compute_at(sch, partials[n][k].ref, *row);
    }
  }
  const std::optional<size_t> fetching = row ? block_that_fetches(shapes, features) : std::nullopt;
  for (size_t n = 0; n < shapes.size(); ++n) {
    if (!plan->sums[n]) {
      std::vector<LoopRef> inner = loops_inside(sch, shapes[n].ref, row);
      if (!row)
        vectorize_elements(sch, shapes[n], features);
      else if (!inner.empty())
        vectorize_last_axis(sch, *shape_of(sch, shapes[n].ref), &inner, features);
      if (n == fetching && !inner.empty())
        fetch_ahead(sch, inner.back(), prefetch_at(features.far_fetch_bytes(), features));
      // stores that wait for memory hold up loads of the next row, which may be of the same address but for
      // pages
      if (features.fetches_writes && row && n + 1 == shapes.size() && !inner.empty() &&
          shapes[n].num_bytes(shapes[n].output()) > features.l2_bytes)
        steps::annotate(sch, inner.back(), kPrefetchWrites, imm(features.far_fetch_bytes() / 2));
      continue;
    }
    const bool keeps_loop = row && exceeds_registers(shapes[n], *plan->sums[n], features);
    for (size_t k = 0; k < partials[n].size(); ++k)
      vectorize_partial(sch, partials[n][k], row, k == 0, keeps_loop, k == 0 && n == fetching, features);
    const LoopRef final_loop = order_loops(sch, shapes[n].ref, row, std::nullopt);
    steps::decompose_reduction(sch, shapes[n].ref, final_loop);
    steps::unroll(sch, final_loop);
  }
  return std::nullopt;
}

}  // namespace tilewright::schedule
