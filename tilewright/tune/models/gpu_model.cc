#include "tilewright/tune/models/gpu_model.h"

#include <cmath>

#include "tilewright/runtime/interrupt.h"

namespace tilewright::tune {

double GpuModel::cycles(const ir::IRModule& module) const {
  return cycles_of(gpu_kernels_of(nest_of(module), features_), features_);
}

std::optional<schedule::Reason> GpuModel::why_beyond(const ir::IRModule& module) const {
  return tune::why_beyond(gpu_kernels_of(nest_of(module), features_), features_);
}

std::vector<double> GpuModel::predict(const std::vector<Candidate>& candidates) {
  std::vector<double> scores(candidates.size());
  runtime::interruptible_for(static_cast<int64_t>(candidates.size()), [&](int64_t n) {
    const auto place = static_cast<size_t>(n);
    scores[place] = -std::log2(cycles(candidates[place].sch.module()));
  });
  return scores;
}

}  // namespace tilewright::tune
