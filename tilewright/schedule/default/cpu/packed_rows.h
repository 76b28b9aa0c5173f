// Rows of matrix tiles, stored tile by tile where they are multiplied.
//   A[i, k]  ->  A_tiles[i // 32, k // 32, i % 32, k % 32]
// A tile register then reads 1 KiB of neighbours instead of lines of 16 rows, which are often in the same few
// sets of L1.
#pragma once
#include "tilewright/schedule/default/cpu/sum_plan.h"

namespace tilewright::schedule {

/// True if the tiles of `plan` can read rows that are stored this way.
bool can_pack_rows(const BlockShape& sum, const SumPlan& plan);
/// True if `block`, which computes the rows, can write them this way.
bool can_make_rows(const BlockShape& block, const SumPlan& plan);
/// True if each row is read by itself, so that threads can make rows of their own: not where windows overlap.
bool are_rows_apart(const BlockShape& sum, const SumPlan& plan);
/// True if it pays to copy rows that no block of the function computes, part by part: many panels read each.
bool are_rows_copied(const BlockShape& sum, const SumPlan& plan);

struct RowPlace {
  std::optional<BlockRef> maker;  // of the rows; nothing: they are copied
  std::optional<LoopRef> loop;    // that it is done in; nothing: before everything else
};
/// Computes rows as tiles, or copies them.
void pack_rows(Schedule& sch, const BlockShape& sum, const SumPlan& plan, const RowPlace& place,
               const Features& features);

}  // namespace tilewright::schedule
