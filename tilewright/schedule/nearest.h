// Finds calls that would be accepted in the place of a step that was refused.
#pragma once
#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {

/// "compute_at(block B, loop j) or compute_inline(block B) would be legal": calls near to the refused
/// `primitive(values)` which copies of the schedule accept; empty if none of those that are tried is.
std::string nearest_legal_calls(const State& state, std::string_view primitive,
                                const std::vector<ArgValue>& values);

}  // namespace tilewright::schedule
