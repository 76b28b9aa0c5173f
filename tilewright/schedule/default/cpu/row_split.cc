#include "tilewright/schedule/default/cpu/row_split.h"

#include <algorithm>

#include "tilewright/tir/uses.h"

namespace tilewright::schedule {
namespace {

std::vector<size_t> rows_of(const SumPlan& plan) {
  std::vector<size_t> rows = plan.others;
  if (plan.outer_row) rows.push_back(*plan.outer_row);
  if (plan.row) rows.push_back(*plan.row);
  return rows;
}

Operands operands_of_rows(const BlockShape& sum, const std::vector<size_t>& rows) {
  Operands operands;
  for (const BufferLoadNode* load : sum.loads) {
    const bool is_of_row = std::any_of(rows.begin(), rows.end(),
                                       [&](size_t axis) { return along(sum, load, axis) != Along::kStays; });
    const int64_t bytes = std::min(sum.num_bytes(load->buffer, kLoopCosts.likely_extent), kMostBytes);
    (is_of_row ? operands.of_rows : operands.fixed) += bytes / std::max<int64_t>(4, load->dtype.num_bytes());
  }
  return operands;
}

// True if each thread had better have rows of its own, and read all panels: it then finds in its own cache
// the rows that it made in the kernel before; lines that another core wrote come slower than those of
// weights, which nobody writes.  kwt1 on two threads of a Xeon: 98 rows of 256 channels by 64 take 8 us, as
// on one thread if threads have panels of their own.  Unless what all rows read is more than five times as
// large: 128 rows by 768 x 3072 weights.  Where weights belong to groups of channels, which are other axes
// than rows and columns, results must lie row by row, as their readers share them out.
bool are_rows_shared_out(const BlockShape& sum, const SumPlan& plan, const Operands& operands) {
  if (plan.packed) return false;  // panels are made by those who read them
  if (!has_several_shared(sum, plan))
    return product(operands.of_rows, kTileCosts.fixed_weight_ratio) > operands.fixed;
  const Operands of_groups = operands_of_rows(sum, rows_of(plan));
  if (product(of_groups.of_rows, kTileCosts.fixed_weight_ratio) <= of_groups.fixed) return false;
  for (const PrimExpr& index : sum.store->indices) {
    for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
      if (sum.extent(axis) != 1 && uses(index, sum.block->iter_vars[axis]->var.get()))
        return axis != plan.column &&
               std::find(plan.shared.begin(), plan.shared.end(), axis) == plan.shared.end();
    }
  }
  return false;
}

}  // namespace

Operands operands_of(const BlockShape& sum, const SumPlan& plan) {
  std::vector<size_t> rows = rows_of(plan);
  rows.insert(rows.end(), plan.shared.begin(), plan.shared.end());
  return operands_of_rows(sum, rows);
}

RowSplit split_of_rows(const BlockShape& sum, const SumPlan& plan, const Operands& operands, bool is_parallel,
                       const Features& features) {
  const int64_t wish = sum.planned("row_parts", kByRules);
  if (wish > 0 && !plan.packed) return {wish, wish, wish};
  const int64_t num_threads = is_parallel ? features.num_cores : 1,
                near = std::max<int64_t>(1, features.l2_bytes / 3 / 4);
  if (plan.matrix && operands.of_rows > near && !plan.packed && !has_several_shared(sum, plan)) {
    const int64_t panels = (sum.likely_extent(plan.column) - 1) / plan.panel_width() + 1,
                  parts = (operands.of_rows - 1) / near + 1,
                  fixed = operands.fixed > near ? product(operands.fixed, parts) : 0,
                  least = (parts + num_threads - 1) / num_threads * num_threads;
    if (operands.of_rows + fixed < product(operands.of_rows, panels)) return {least, 2 * least, num_threads};
  }
  if (!are_rows_shared_out(sum, plan, operands)) return {};
  return {num_threads, num_threads, num_threads};
}

int64_t num_parts(const RowSplit& parts, int64_t extent) {
  for (int64_t count = parts.least; count <= std::min(parts.most, extent); count += parts.step) {
    if (extent % count == 0) return count;
  }
  if (parts.least <= extent) return parts.least;
  return parts.most > parts.least ? extent : 1;
}

}  // namespace tilewright::schedule
