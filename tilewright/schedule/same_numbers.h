// Two programs compared by running them: what Schedule::verify does.
#pragma once
#include <string>

#include "tilewright/ir/module.h"

namespace tilewright::schedule {
using namespace ir;

/// Runs each loop program of both modules on the reference interpreter, `samples` times with random arguments
/// drawn from `seed`; symbolic dimensions are small and not divisible (3, 5, 7, 11, 13).  Raises UserError at
/// the first element that differs; floats may differ by 1e-4 of their size.  `what` begins its text.
void require_same_numbers(const IRModule& before, const IRModule& after, int64_t samples, uint64_t seed,
                          const std::string& what);

}  // namespace tilewright::schedule
