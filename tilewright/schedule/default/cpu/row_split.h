// Divides rows of a sum among threads and into parts that L2 holds.
#pragma once
#include "tilewright/schedule/default/cpu/sum_plan.h"

namespace tilewright::schedule {

/// The size of what a sum reads, in words of four bytes at least: the part that differs from row to row, and
/// the part that all rows read.
struct Operands {
  int64_t of_rows = 0, fixed = 0;
};
Operands operands_of(const BlockShape& sum, const SumPlan& plan);

/// Into how many parts rows are divided, each of which reads all panels: `least`, or up to `most` that divide
/// them, in steps that give each thread as many.
struct RowSplit {
  int64_t least = 1, most = 1, step = 1;
};
/// For matrix tiles so many that a part stays in L2 while panels pass by, if that takes less
/// from farther memory than rows that come again for each panel; else one for each thread, where rows are
/// shared out.
RowSplit split_of_rows(const BlockShape& sum, const SumPlan& plan, const Operands& operands, bool is_parallel,
                       const Features& features);
/// Into how many a loop of `extent` rows is divided; 1: not at all.
int64_t num_parts(const RowSplit& parts, int64_t extent);

}  // namespace tilewright::schedule
