#include "tilewright/tune/cost_model.h"

namespace tilewright::tune {

std::vector<double> RandomModel::predict(const std::vector<Candidate>& candidates) {
  std::vector<double> scores;
  for (size_t n = 0; n < candidates.size(); ++n) scores.push_back(unit(random_));
  return scores;
}

}  // namespace tilewright::tune
