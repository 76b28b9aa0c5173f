// Drawing factors of a loop's extent.
#pragma once
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// Raises UserError unless so many factors can be asked for.
void require_count(const State& state, NodeId loop, int64_t count);
/// The constant extent of a loop; raises UserError if it has none.
int64_t require_const_extent(const State& state, NodeId loop);
/// Raises UserError unless `decision` has `count` factors >= 1 whose product is the extent.
void require_factors(const State& state, NodeId loop, int64_t extent, int64_t count,
                     const std::vector<int64_t>& decision);
/// The primes of a number >= 1, smallest first; a part whose primes are all above 2^20 stays whole.
std::vector<int64_t> primes_of(int64_t number);

}  // namespace tilewright::schedule
