// Measures how long a function takes.
#pragma once
#include <string>
#include <vector>

#include "tilewright/runtime/function.h"

namespace tilewright::runtime {

struct TimingOptions {
  int number = 10;        // calls per measurement, >= 1
  int repeat = 1;         // measurements, >= 1
  int min_repeat_ms = 0;  // `number` grows until one measurement takes at least this long; 0: `number` stays
  int64_t cache_flush_bytes =
      0;  // before each measurement so much other memory is written; 0: caches stay warm
};

/// The measured times: seconds per call, one entry per measurement.
struct TimingResult {
  std::vector<double> results_s;
  double mean_s = 0, median_s = 0, min_s = 0, max_s = 0, std_s = 0;
  int number = 0;  // calls per measurement that were used in the end
  /// A summary in a suitable unit: "mean 1.234 ms, median ..."
  std::string str() const;
};

/// Calls `function` with `args` once to warm up, then measures; where an argument or the result is on a GPU,
/// between events of that device.  Raises UserError for options out of range,
/// and what the function raises.
TimingResult time_evaluator(const Function& function, Args args, const TimingOptions& options = {});

}  // namespace tilewright::runtime
