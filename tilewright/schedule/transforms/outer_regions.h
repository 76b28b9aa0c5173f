// Blocks around a changed block say what it accesses now.
#pragma once
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// Adds to T.reads and T.writes of the blocks around `id` what they leave out.
void complete_outer_regions(State& state, NodeId id);

}  // namespace tilewright::schedule
