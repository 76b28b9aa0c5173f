// Blocks that put values of several places next to each other, as transposed convolutions, pixel shuffles and
// nearest neighbours of pictures do.
#pragma once
#include "tilewright/schedule/default/cpu/shape.h"

namespace tilewright::schedule {

/// How many neighbours along `axis` an element by element block takes from as many places, of which each gives
/// contiguous elements: 2 for B[i] = A[i % 2, i // 2].  Nothing for other blocks.
std::optional<int64_t> num_phases(const BlockShape& shape, size_t axis);

/// Writes out the loop over phases, inside of that over the elements of each: compilers make vectors of each
/// and interleave them.
///
/// loops    of the block, the innermost of which is that of `axis`; without it afterwards, if the extent is no
///          multiple of `phases`, as the rest has a loop of its own
/// Returns  false if it is not known whether `phases` divides the extent
bool separate_phases(Schedule& sch, const BlockShape& shape, size_t axis, int64_t phases,
                     std::vector<LoopRef>* loops);

}  // namespace tilewright::schedule
