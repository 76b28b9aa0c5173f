#include "tilewright/tune/models/analytic_model.h"

#include <cmath>

#include "tilewright/runtime/interrupt.h"

namespace tilewright::tune {

double AnalyticModel::seconds(const ir::IRModule& module) const {
  const Nest nest = nest_of(module);
  return cost_of(nest, Footprints(nest, features_), features_).seconds();
}

std::vector<double> AnalyticModel::predict(const std::vector<Candidate>& candidates) {
  std::vector<double> scores(candidates.size());
  runtime::interruptible_for(static_cast<int64_t>(candidates.size()), [&](int64_t n) {
    const auto place = static_cast<size_t>(n);
    scores[place] = -std::log2(seconds(candidates[place].sch.module()));
  });
  return scores;
}

}  // namespace tilewright::tune
