// The range of each axis of a schedule by stages, which TVM called InferBound.
//   B is computed inside of the loop i.outer of C:   i of B is range(i.outer * 4, 4)
#pragma once
#include <utility>
#include <vector>

#include "tilewright/schedule/stages/stage_schedule.h"

namespace tilewright::schedule {

/// The ranges of all axes, also of those that were split or fused, and of the threads that axes are bound to; none of
/// stages that are computed where they are read.  Ranges of what is computed inside of another stage's loop are in terms of
/// that stage's axes.  Raises what replay_stages raises.
std::vector<std::pair<IterVar, Range>> infer_bounds(const StageSchedule& stages);

}  // namespace tilewright::schedule
