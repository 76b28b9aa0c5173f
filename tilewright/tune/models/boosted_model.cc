#include "tilewright/tune/models/boosted_model.h"

#include <algorithm>
#include <cmath>

#include "tilewright/ir/services.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"

namespace tilewright::tune {
namespace {

constexpr size_t kLeastSamples = 8;
// Few samples are mostly noise to many trees; the options of trees were chosen by 32 of 64 measured candidates
// of six kernels, in eight splits (docs/decisions/0030-cost-models.md).
constexpr int kLeastRounds = 40, kMostRounds = 120;
// A slow candidate counts less, as the order of the fast ones is what is asked for; and so does another task.
constexpr double kLeastWeight = 0.3, kWeightOfOthers = 0.3;
// A candidate that failed counts as so many times slower than the slowest.
constexpr double kFailedRatio = 2;

/// The measurements of one task.
struct TaskTimes {
  double best = INFINITY, worst = 0;
  double sum = 0, weights = 0;  // of the differences between the models and the machine

  double mean() const { return weights == 0 ? 0 : sum / weights; }
};

Hash128 task_of(const Candidate& candidate) { return ir::structural_hash(candidate.sch.original()); }

}  // namespace

std::vector<BoostedModel::Row> BoostedModel::rows_of(const std::vector<Candidate>& candidates) const {
  std::vector<Row> rows(candidates.size());
  runtime::interruptible_for(static_cast<int64_t>(candidates.size()), [&](int64_t n) {
    const auto place = static_cast<size_t>(n);
    Described described = describe(candidates[place].sch.module(), features_);
    rows[place] = {std::move(described.all), described.cost.seconds()};
  });
  return rows;
}

// Labels are how far measurements are from the analytic model, apart from what is the same for all of a task.
void BoostedModel::train_for(const Hash128& task) {
  std::map<Hash128, TaskTimes> times;
  for (const Sample& each : samples_) {
    if (!std::isfinite(each.seconds)) continue;
    TaskTimes& found = times[each.task];
    found.best = std::min(found.best, each.seconds);
    found.worst = std::max(found.worst, each.seconds);
  }
  const auto weight_of = [&](const Sample& sample, double seconds) {
    return std::max(times[sample.task].best / seconds, kLeastWeight);
  };
  for (const Sample& each : samples_) {
    if (!std::isfinite(each.seconds)) continue;
    TaskTimes& found = times[each.task];
    const double weight = weight_of(each, each.seconds);
    found.sum += weight * std::log2(each.seconds / each.predicted);
    found.weights += weight;
  }
  Table table;
  std::vector<float> labels, weights;
  for (const Sample& each : samples_) {
    const auto found = times.find(each.task);
    if (found == times.end()) continue;  // all of the task failed
    const double seconds = std::isfinite(each.seconds) ? each.seconds : kFailedRatio * found->second.worst;
    table.columns = each.features.size();
    table.values.insert(table.values.end(), each.features.begin(), each.features.end());
    labels.push_back(static_cast<float>(std::log2(seconds / each.predicted) - found->second.mean()));
    weights.push_back(
        static_cast<float>(weight_of(each, seconds) * (each.task == task ? 1.0 : kWeightOfOthers)));
  }
  const int rounds = std::clamp(static_cast<int>(labels.size() / 2), kLeastRounds, kMostRounds);
  if (labels.size() >= kLeastSamples) trees_.train(table, labels, weights, {.seed = seed_, .rounds = rounds});
  trained_for_ = task;
}

std::vector<double> BoostedModel::predict(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return {};
  const std::vector<Row> rows = rows_of(candidates);
  const std::lock_guard lock(mutex_);
  const Hash128 task = task_of(candidates[0]);
  if (!samples_.empty() && trained_for_ != task) train_for(task);
  Table table;
  std::vector<double> scores;
  for (const Row& row : rows) {
    table.columns = row.features.size();
    table.values.insert(table.values.end(), row.features.begin(), row.features.end());
    scores.push_back(-std::log2(row.predicted));
  }
  if (!trees_.is_trained()) return scores;
  const std::vector<float> corrections = trees_.predict(table);
  for (size_t n = 0; n < scores.size(); ++n) scores[n] -= static_cast<double>(corrections[n]);
  return scores;
}

void BoostedModel::update(const std::vector<Candidate>& candidates, const std::vector<double>& seconds) {
  if (candidates.size() != seconds.size())
    throw UserError("update: {} times for {} candidates", seconds.size(), candidates.size());
  std::vector<Row> rows = rows_of(candidates);
  const std::lock_guard lock(mutex_);
  for (size_t n = 0; n < rows.size(); ++n)
    samples_.push_back({task_of(candidates[n]), std::move(rows[n].features), rows[n].predicted, seconds[n]});
  trained_for_.reset();
}

std::string BoostedModel::save() const {
  const std::lock_guard lock(mutex_);
  return trees_.is_trained() ? trees_.save() : "";
}

void BoostedModel::load(const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  trees_.load(bytes);
}

}  // namespace tilewright::tune
