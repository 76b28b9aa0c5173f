// Samples that several rules draw.
#pragma once
#include <vector>

#include "tilewright/schedule/schedule.h"

namespace tilewright::tune {

/// A sampled number of iterations from 1 to `most` for a tile of a loop of `extent`: 1, 2, 3, 4, 6, 8, 12, 16, ...,
/// and `extent` itself if it is at most `most`.  It need not divide the extent: split(loop, {None, it}) guards the last
/// tile.
///
/// rivals  how many loops share the registers with it: the more, the likelier is 1
schedule::ExprRef sample_count(schedule::Schedule& sch, int64_t most, int64_t extent, int64_t rivals);

/// Sampled lanes of a vector: `most`, or with `has_choice` also half of them.
schedule::ExprRef sample_lanes(schedule::Schedule& sch, int64_t most, bool has_choice);

/// One of `values`, each as likely as the others.
schedule::ExprRef sample_of(schedule::Schedule& sch, const std::vector<int64_t>& values);

}  // namespace tilewright::tune
