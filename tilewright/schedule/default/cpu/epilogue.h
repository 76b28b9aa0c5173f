// Element by element blocks that read a sum: they are computed with its tiles.
#pragma once
#include <optional>
#include <vector>

#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/default/default.h"

namespace tilewright::schedule {

struct SumPlan;

/// For each axis of a sum the axis of its epilogue that runs over the same elements.
using AxisMap = std::vector<std::optional<size_t>>;
/// Nothing if `epilogue` reads the sum in another way, or has an axis of its own, for each value of which the
/// sum would be computed again.
std::optional<AxisMap> map_axes(const BlockShape& sum, const BlockShape& epilogue);

/// Y[.., j] = f(S[.., j // 68, j % 68])  ->  Y[.., g * 68 + c] = f(S[.., g, c]): of results of groups of
/// channels.  Stays as it is where 68 does not divide the extent of j, and where groups of less than a line
/// of memory each would be stored one after the other to what the second cache does not hold.
void divide_epilogue(Schedule& sch, const BlockShape& sum, const BlockShape& epilogue,
                     const Features& features);

/// Whether neighbours along `axis` are neighbours in what `shape` stores.
bool is_contiguous(const BlockShape& shape, size_t axis);

/// The block that stores results, and which of its axes are those of the sum.
struct Target {
  BlockShape block;
  AxisMap map;
};
/// That of `sum`, which stays near the core: its epilogue, or a copy if there is none.  Nothing if the
/// epilogue reads the sum in another way than along axis `column`.
std::optional<Target> target_of(Schedule& sch, const BlockShape& sum,
                                const std::optional<BlockShape>& epilogue, size_t column,
                                const Features& features);

/// Has the tile of one turn of a loop over rows fetch what the next one adds to its sums, as residuals, if
/// the second cache does not hold that: rows of a tile lie too far apart for processors to see what is next.
///
/// loops  around the tiles, outermost first
void fetch_added(Schedule& sch, const BlockShape& sum, const Target& target, const SumPlan& plan,
                 const std::vector<LoopRef>& loops, const Features& features);

}  // namespace tilewright::schedule
