// The cost model that needs no measurement: what the program takes from the units, caches and memory of the
// machine by its description (tune/store_cost.h).
#pragma once
#include "tilewright/tune/cost_model.h"
#include "tilewright/tune/features.h"

namespace tilewright::tune {

class AnalyticModel final : public CostModel {
 public:
  explicit AnalyticModel(target::Features features) : features_(std::move(features)) {}
  /// Minus the logarithm to base 2 of the predicted seconds.
  std::vector<double> predict(const std::vector<Candidate>& candidates) override;
  void update(const std::vector<Candidate>&, const std::vector<double>&) override {}
  /// The predicted seconds of one call.
  double seconds(const ir::IRModule& module) const;

 private:
  target::Features features_;
};

}  // namespace tilewright::tune
