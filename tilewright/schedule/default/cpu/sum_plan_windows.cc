// Plan of a sum, part windows that take each channel for itself: depthwise convolutions, pools.
#include <algorithm>

#include "tilewright/schedule/default/cpu/sum_plan.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

bool uses_axis(const BlockShape& shape, const PrimExpr& expr, size_t axis) {
  return uses(expr, shape.block->iter_vars[axis]->var.get());
}

// True if few conditions of padding are left when rows and the unrolled step are written out: those of the
// first and the last rows, where a tile may be the first or the last one.  Measured: of up to an eighth of
// the loads they gain 10 to 30 %, of a sixth they lose as much.
bool decides_most(const BlockShape& sum, const SumPlan& plan) {
  const int64_t step = sum.extent(*plan.unrolled), pad = (step - 1) / 2;
  return product(8, pad * (pad + 1)) <= product(plan.rows, step) || step <= 3;
}

// True if neighbouring rows read the same of some load, in other iterations of `step`.
bool is_shared_by_rows(const BlockShape& sum, const SumPlan& plan, size_t step,
                       const std::vector<const BufferLoadNode*>& vectors) {
  return std::any_of(vectors.begin(), vectors.end(), [&](const BufferLoadNode* load) {
    return std::any_of(load->indices.begin(), load->indices.end(), [&](const PrimExpr& index) {
      return uses_axis(sum, index, *plan.row) && uses_axis(sum, index, step);
    });
  });
}

bool is_by_channel(const BlockShape& sum, const SumPlan& plan,
                   const std::vector<const BufferLoadNode*>& vectors) {
  return plan.row && !plan.dot && vectors.size() == sum.loads.size();
}

}  // namespace

int64_t size_of_windows(const BlockShape& sum, const SumPlan& plan,
                        const std::vector<const BufferLoadNode*>& vectors, const Features& features) {
  if (!is_by_channel(sum, plan, vectors)) return 1;
  for (size_t axis = sum.block->iter_vars.size(); axis-- > 0;) {
    if (sum.block->iter_vars[axis]->iter_type != IterType::kReduce || sum.extent(axis) < 2) continue;
    // longer ones leave no registers for rows, which gain more
    const bool fits = 2 * sum.extent(axis) <= features.num_vector_registers;
    return fits && is_shared_by_rows(sum, plan, axis, vectors) ? sum.extent(axis) : 1;
  }
  return 1;
}

std::optional<size_t> axis_of_windows(const BlockShape& sum, const SumPlan& plan,
                                      const std::vector<const BufferLoadNode*>& vectors) {
  if (!is_by_channel(sum, plan, vectors) || plan.tile.rows <= 1) return std::nullopt;
  const size_t step = plan.steps.back();
  const bool is_sum = sum.block->iter_vars[step]->iter_type == IterType::kReduce;
  const int64_t copies = product(product(plan.tile.rows, plan.tile.vectors), sum.extent(step));
  if (!is_sum || sum.extent(step) < 2 || copies > kTileCosts.written_out) return std::nullopt;
  return is_shared_by_rows(sum, plan, step, vectors) ? std::optional(step) : std::nullopt;
}

bool needs_loops(const BlockShape& sum, const SumPlan& plan,
                 const std::vector<const BufferLoadNode*>& vectors, const Features& features) {
  const auto num_shared = std::count_if(vectors.begin(), vectors.end(), [&](const BufferLoadNode* load) {
    return plan.row && along(sum, load, *plan.row) == Along::kStays;
  });
  const int64_t rows = plan.tile.rows, vectors_of_row = plan.tile.vectors,
                shared = product(num_shared, product(num_steps(sum), vectors_of_row));
  return product(rows, vectors_of_row) + shared + 2 > features.num_vector_registers;
}

bool is_padding_of_windows(const BlockShape& padding, const BlockShape& sum, const Features& features) {
  if (!is_padding(padding)) return false;
  const OrReason<SumPlan> plan = plan_sum(sum, features);
  if (!plan || !plan->unrolled || !plan->row || sum.likely_extent(*plan->row, 0) == 0) return false;
  const bool fills_vectors = sum.extent(plan->column) >= plan->tile.lanes;
  const Var& column = sum.block->iter_vars[plan->column]->var;
  const bool has_whole_vectors = std::all_of(sum.loads.begin(), sum.loads.end(), [&](const auto* load) {
    return load->indices.back().get() == column.get() && along(sum, load, plan->column) == Along::kContiguous;
  });
  return fills_vectors && has_whole_vectors && decides_most(sum, *plan);
}

}  // namespace tilewright::schedule
