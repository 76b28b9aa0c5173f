// Whether two blocks in a loop meet in the same iteration of it: what steps carry from one to the next is in order anyhow.
#pragma once
#include "tilewright/schedule/core/access.h"

namespace tilewright::schedule {

/// True if `writer` may write what `read` reads in the same iteration of loop `around` and of those around it.
///     for t: B[i] = S[t - 1, i]; S[t, i] = B[i] + 1         no: the row that is read is written an iteration before
bool may_meet_in_iteration(const State& state, const Access& read, NodeId writer, NodeId around);

}  // namespace tilewright::schedule
