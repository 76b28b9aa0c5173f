// Saying how a loop runs: shared by parallel, vectorize, unroll and bind.
#pragma once
#include "tilewright/schedule/state.h"

namespace tilewright::schedule {

/// Raises UserError when two iterations of the loop may touch the same element, so that they cannot run at
/// once. `how` completes "loop k cannot be ...".
void require_independent_iterations(const State& state, NodeId loop, std::string_view how);
/// The loop with another kind; its handle stays.  Refuses loops bound to a thread, unless it is for another
/// binding.
void set_loop_kind(State& state, NodeId loop, ForKind kind, std::string thread_tag = "");

}  // namespace tilewright::schedule
