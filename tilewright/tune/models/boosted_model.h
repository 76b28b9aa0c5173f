// The cost model that learns: trees that correct the analytic model by what was measured.
#pragma once
#include <map>
#include <mutex>
#include <unordered_map>

#include "tilewright/tune/cost_model.h"
#include "tilewright/tune/features.h"
#include "tilewright/tune/models/xgboost.h"

namespace tilewright::tune {

/// Scores as AnalyticModel does until kLeastSamples were measured.  Samples of all tasks teach it, those of the
/// task that is asked about most.
class BoostedModel final : public CostModel {
 public:
  BoostedModel(target::Features features, std::shared_ptr<const XGBoost> library, uint64_t seed)
      : features_(std::move(features)), trees_(std::move(library)), seed_(seed) {}
  /// Minus the logarithm to base 2 of the predicted seconds, but for what is the same in all.
  std::vector<double> predict(const std::vector<Candidate>& candidates) override;
  void update(const std::vector<Candidate>& candidates, const std::vector<double>& seconds) override;

  /// What it has learnt, as bytes; empty before.  load raises UserError for other bytes.
  std::string save() const;
  void load(const std::string& bytes);

 private:
  struct Sample {
    Hash128 task;  // the kernel before it was scheduled
    std::vector<float> features;
    double predicted = 0, seconds = 0;  // by the analytic model, measured; infinity: it failed
  };
  struct Row {
    std::vector<float> features;
    double predicted = 0;  // seconds, by the analytic model
  };
  std::vector<Row> rows_of(const std::vector<Candidate>& candidates) const;
  void train_for(const Hash128& task);

  const target::Features features_;
  mutable std::mutex mutex_;
  Trees trees_;
  const uint64_t seed_;
  std::vector<Sample> samples_;
  std::optional<Hash128> trained_for_;  // nullopt: samples were added since
};

}  // namespace tilewright::tune
