// Epilogues: element by element blocks that read a sum and are computed with its tiles.
#pragma once
#include <optional>
#include <vector>

#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {

struct SumPlan;

/// For each axis of a sum the axis of its epilogue that runs over the same elements.
using AxisMap = std::vector<std::optional<size_t>>;
/// The reason if `epilogue` reads the sum in another way, or has an axis of its own, for each value of which
/// the sum would be computed again.
OrReason<AxisMap> map_axes(const BlockShape& sum, const BlockShape& epilogue);

/// Y[.., j] = f(S[.., j // 68, j % 68])  ->  Y[.., g * 68 + c] = f(S[.., g, c]): of results of groups of
/// channels.  Stays as it is where 68 does not divide the extent of j, and where groups of less than a line
/// of memory each would be stored one after the other to a buffer that L2 does not hold.
void divide_epilogue(Schedule& sch, const BlockShape& sum, const BlockShape& epilogue,
                     const Features& features);

/// True if neighbours along `axis` are neighbours in what `shape` stores.
bool is_contiguous(const BlockShape& shape, size_t axis);

/// The block that stores results, and which of its axes are those of the sum.
struct Target {
  BlockShape block;
  AxisMap map;
};
/// The block that stores the results of `sum`, which stay near the core: its epilogue, or a copy if there is
/// none.  The reason if the epilogue reads the sum in another way than along axis `column`.
OrReason<Target> target_of(Schedule& sch, const BlockShape& sum, const std::optional<BlockShape>& epilogue,
                           size_t column, const Features& features);

/// Lets each iteration of a loop over rows fetch what the next one adds to its sums, as residuals, if L2 does
/// not hold that: rows of a tile lie too far apart for processors to see what is next.
///
/// loops  around the tiles, outermost first
void fetch_added(Schedule& sch, const BlockShape& sum, const Target& target, const SumPlan& plan,
                 const std::vector<LoopRef>& loops, const Features& features);

}  // namespace tilewright::schedule
