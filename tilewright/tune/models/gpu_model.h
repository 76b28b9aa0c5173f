// The cost model of GPUs that needs no measurement: instructions, shared memory and the common cache of what the
// busiest multiprocessor computes (target/gpu_work.h), by the terms that the default schedules choose tiles by.
#pragma once
#include "tilewright/tune/cost_model.h"
#include "tilewright/tune/gpu_work.h"

namespace tilewright::tune {

class GpuModel final : public CostModel {
 public:
  explicit GpuModel(target::GpuFeatures features) : features_(features) {}
  /// Minus the logarithm to base 2 of the predicted cycles.
  std::vector<double> predict(const std::vector<Candidate>& candidates) override;
  void update(const std::vector<Candidate>&, const std::vector<double>&) override {}
  /// The predicted cycles of one call; infinity if the GPU does not run it.
  double cycles(const ir::IRModule& module) const;
  /// Why the GPU does not run a program, or it is not worth building; nothing if it is.
  std::optional<schedule::Reason> why_beyond(const ir::IRModule& module) const;

 private:
  target::GpuFeatures features_;
};

}  // namespace tilewright::tune
