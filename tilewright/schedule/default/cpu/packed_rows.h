// Rows of matrix tiles, stored tile by tile where they are multiplied.
//   A[i, k]  ->  A_tiles[i // 32, k // 32, i % 32, k % 32]
// A tile register then reads 1 KiB of neighbours instead of lines of 16 rows, whose places in the first cache
// are often the same few.
#pragma once
#include "tilewright/schedule/default/cpu/sum_plan.h"

namespace tilewright::schedule {

/// Whether the tiles of `plan` can read rows so.
bool can_pack_rows(const BlockShape& sum, const SumPlan& plan);
/// Whether `block`, which computes the rows, can write them so.
bool can_make_rows(const BlockShape& block, const SumPlan& plan);
/// Whether each row is read by itself, so that threads can make rows of their own: not where windows overlap.
bool are_rows_apart(const BlockShape& sum, const SumPlan& plan);
/// Whether rows that nobody makes here are better copied, part by part: many panels read each.
bool are_rows_copied(const BlockShape& sum, const SumPlan& plan);

struct RowPlace {
  std::optional<BlockRef> maker;  // of the rows; nothing: they are copied
  std::optional<LoopRef> loop;    // that it is done in; nothing: before everything else
};
/// Computes rows as tiles, or copies them.
void pack_rows(Schedule& sch, const BlockShape& sum, const SumPlan& plan, const RowPlace& place,
               const Features& features);

}  // namespace tilewright::schedule
