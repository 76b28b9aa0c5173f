// Which candidates to measure next: ask for some, tell how fast they were, ask again.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "tilewright/tune/candidate.h"
#include "tilewright/tune/cost_model.h"

namespace tilewright::tune {

struct WeightedMutator {
  Mutator mutate;
  double weight;  // how often it is drawn, relative to others, > 0
};

struct SearchOptions {
  uint64_t seed = 0;
  int64_t population = 512;     // candidates of a generation, >= 1
  int64_t generations = 4;      // between two measurements, >= 1
  int64_t most_failures = 512;  // refused or known samples in a row before the search takes what it has, >= 1
  double mutation_share = 0.85;             // of a generation, 0 to 1: the others stay as they are
  double random_share = 0.05;               // of what is measured, 0 to 1: drawn, not chosen by the model
  std::vector<WeightedMutator> mutators{};  // of candidates; empty: `mutated`
};

/// Evolutionary search over the designs of one kernel.  Without generations it draws samples alone.
class Search {
 public:
  /// program  the kernel as it was written
  /// designs  at least one; their traces have samples, and apply to `program`
  Search(Schedule program, std::vector<Design> designs, std::vector<Postproc> postprocs,
         std::shared_ptr<CostModel> model, SearchOptions options);

  /// At most `count` candidates that were not asked for before, the most promising first; fewer where the
  /// space has no others.  Each step of these is proved legal; those that were only ranked are not.
  std::vector<Candidate> ask(int64_t count);
  /// The times of candidates, in seconds per call; infinity: it failed.
  void tell(const std::vector<Candidate>& candidates, const std::vector<double>& seconds);
  /// The candidate of a trace with all samples decided, e.g. of a record; nullopt if it does not apply.
  std::optional<Candidate> candidate(const Trace& trace);
  /// Candidates that were replayed so far, refused ones included.
  int64_t num_replayed() const { return num_replayed_; }

 private:
  using Traces = std::vector<std::pair<size_t, Trace>>;  // each of a design
  std::vector<Candidate> draw(const std::vector<size_t>& designs, int64_t count, int64_t most_failures);
  std::vector<Candidate> next_generation(const std::vector<Candidate>& parents);
  std::vector<Candidate> replay(const Traces& traces);
  void add_child(const Candidate& parent, Traces* traces);
  void choose_evolved(size_t most, std::vector<Candidate>* chosen);
  void choose_finished(size_t most, std::vector<Candidate>* chosen);
  std::optional<Trace> child_of(const Trace& parent);
  void score(std::vector<Candidate>& candidates);
  size_t design_of(const Trace& trace) const;
  std::vector<std::optional<Candidate>> proved(const std::vector<Candidate>& candidates);
  void choose(std::vector<Candidate>& from, size_t most, std::vector<Candidate>* chosen);

  Schedule program_;
  std::vector<Design> designs_;
  std::vector<size_t> evolved_, finished_;  // designs without and with a `finish`
  std::vector<schedule::Replay> starts_;    // for each design: its steps before the first sample
  std::vector<Postproc> postprocs_;
  std::shared_ptr<CostModel> model_;
  SearchOptions options_;
  Random random_;
  std::set<Hash128> asked_;                             // candidates that were asked for, or told of
  std::vector<std::pair<double, Candidate>> measured_;  // fastest first
  int64_t num_replayed_ = 0;
};

}  // namespace tilewright::tune
