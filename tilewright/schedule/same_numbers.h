// Two programs compared by running them: what Schedule::verify does.
#pragma once
#include <string>
#include <vector>

#include "tilewright/ir/module.h"

namespace tilewright::schedule {
using namespace ir;

/// The extent of a comparison.
struct Compared {
  struct Sample {
    std::string function;
    std::string sizes;  // "n = 5, m = 7"; "" if all are fixed
  };
  std::vector<Sample> samples;
  int64_t num_left_out = 0;  // samples for which there were not enough steps
  int64_t num_steps = 0;     // iterations of loops
};

/// How much is run.
struct Sampling {
  int64_t samples = 3;
  uint64_t seed = 0;
  int64_t max_steps = 1'000'000'000;  // iterations of loops, for each function
};

/// Runs each loop program of both modules on the reference interpreter, `sampling.samples` times with random
/// arguments: whole numbers from -3 to 3; symbolic dimensions are small and not divisible (3, 5, 7, 11, 13).
/// Raises UserError at the first element that differs, and for a function that takes more steps for one
/// sample; floats may differ by 1e-4 of their size.  `what` begins its text.
Compared require_same_numbers(const IRModule& before, const IRModule& after, const Sampling& sampling,
                              const std::string& what);

}  // namespace tilewright::schedule
