// Saying how a loop runs: shared by parallel, vectorize, unroll and bind.
#pragma once
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// Raises UserError when two iterations of the loop may touch the same element, so that they cannot run at
/// once. `how` completes "loop k cannot be ...".  Threads of one block (`thread_tag` of threadIdx) may add to one sum.
void require_independent_iterations(const State& state, NodeId loop, std::string_view how,
                                    std::string_view thread_tag = "");
/// Raises UserError when a loop below `scope` that runs its iterations at once and writes one of `buffers`
/// could not do so any more because of what now reads or writes them.
void require_still_independent(const State& state, NodeId scope, const std::vector<Buffer>& buffers);
/// The same for all that `block`, which has come to another place, reads and writes.
void require_still_independent(const State& state, NodeId block);
/// The loop with another kind; its handle stays.  Refuses loops bound to a thread, unless it is for another
/// binding.
void set_loop_kind(State& state, NodeId loop, ForKind kind, std::string thread_tag = "");

}  // namespace tilewright::schedule
