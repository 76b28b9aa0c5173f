// Which candidates to measure next: ask for some, tell how fast they were, ask again.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <set>
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

struct WeightedMutator {
  Mutator mutate;
  double weight;  // how often it is drawn, relative to others, > 0
};

struct SearchOptions {
  uint64_t seed = 0;
  int64_t population = 512;      // candidates of a generation, >= 1
  int64_t generations = 4;       // between two measurements, >= 1
  int64_t most_failures = 64;    // refused samples in a row before the search takes what it has, >= 1
  double mutation_share = 0.85;  // of a generation, 0 to 1: the others stay as they are
  double random_share = 0.05;    // of what is measured, 0 to 1: drawn, not chosen by the model
  std::vector<WeightedMutator> mutators{};  // of candidates; empty: `mutated`
};

/// Evolutionary search over the designs of one kernel.  Without generations it draws samples alone.
class Search {
 public:
  /// program  the kernel as it was written
  /// designs  traces with samples; at least one
  Search(Schedule program, std::vector<Trace> designs, std::vector<Postproc> postprocs,
         std::shared_ptr<CostModel> model, SearchOptions options);

  /// At most `count` candidates that were not asked for before, the most promising first; fewer where the
  /// space has no others.
  std::vector<Candidate> ask(int64_t count);
  /// The times of candidates, in seconds per call; infinity: it failed.
  void tell(const std::vector<Candidate>& candidates, const std::vector<double>& seconds);
  /// Candidates that were replayed so far, refused ones included.
  int64_t num_replayed() const { return num_replayed_; }

 private:
  std::vector<Candidate> draw(int64_t count);
  std::vector<Candidate> next_generation(const std::vector<Candidate>& parents);
  std::vector<std::optional<Candidate>> replay(const std::vector<std::pair<size_t, Trace>>& traces);
  std::optional<Trace> child_of(const Trace& parent);
  void score(std::vector<Candidate>& candidates);

  Schedule program_;
  std::vector<Trace> designs_;
  std::vector<Postproc> postprocs_;
  std::shared_ptr<CostModel> model_;
  SearchOptions options_;
  Random random_;
  std::set<Hash128> asked_;                             // candidates that were asked for, or told of
  std::vector<std::pair<double, Candidate>> measured_;  // fastest first
  int64_t num_replayed_ = 0;
};

}  // namespace tilewright::tune
