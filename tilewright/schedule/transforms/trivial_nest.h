// Blocks as they are before anything is scheduled: each axis is one loop.
#pragma once
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// The loops around `block`, outermost first, if there is one for each axis, all of it from 0, and nothing
/// else is in them.  Raises UserError otherwise.
std::vector<NodeId> require_trivial_nest(const State& state, NodeId block);

}  // namespace tilewright::schedule
