// Element by element blocks that read a sum: they are computed with its tiles.
#pragma once
#include "tilewright/schedule/default/shape.h"

namespace tilewright::schedule {

/// For each axis of a sum the axis of its epilogue that runs over the same elements.
using AxisMap = std::vector<std::optional<size_t>>;
/// Nothing if `epilogue` reads the sum in another way, or has an axis of its own, for each value of which the
/// sum would be computed again.
std::optional<AxisMap> map_axes(const BlockShape& sum, const BlockShape& epilogue);

/// An axis of `epilogue` that reads S[j // 68, j % 68], as results of groups of channels are read, becomes
/// two axes.
void divide_epilogue(Schedule& sch, const BlockShape& sum, const BlockShape& epilogue);

/// Whether neighbours along `axis` are neighbours in what `shape` stores.
bool is_contiguous(const BlockShape& shape, size_t axis);

}  // namespace tilewright::schedule
