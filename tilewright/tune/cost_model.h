// Which candidates are likely to be fast, before they are measured.
#pragma once
#include <vector>

#include "tilewright/tune/candidate.h"

namespace tilewright::tune {

/// Scores of candidates, which order those that were not measured.
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// A score for each: higher is faster.
  virtual std::vector<double> predict(const std::vector<Candidate>& candidates) = 0;
  /// Learns from measured times, in seconds per call; infinity: it failed.
  virtual void update(const std::vector<Candidate>& candidates, const std::vector<double>& seconds) = 0;
};

/// Draws scores.
class RandomModel final : public CostModel {
 public:
  explicit RandomModel(uint64_t seed) : random_(seed) {}
  std::vector<double> predict(const std::vector<Candidate>& candidates) override;
  void update(const std::vector<Candidate>&, const std::vector<double>&) override {}

 private:
  Random random_;
};

}  // namespace tilewright::tune
