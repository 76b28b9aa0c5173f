#include "tilewright/tune/search.h"

#include <algorithm>
#include <cmath>

#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"

namespace tilewright::tune {
namespace {

constexpr double k53 = 0x1p-53;

double unit(Random& random) { return static_cast<double>(random() >> 11) * k53; }

// The best first, those with one score as they were.
void sort_by_score(std::vector<Candidate>& candidates) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t n = 0; n < candidates.size(); ++n) order.emplace_back(-candidates[n].score, n);
  std::sort(order.begin(), order.end());
  std::vector<Candidate> sorted;
  for (const auto& [score, n] : order) sorted.push_back(std::move(candidates[n]));
  candidates = std::move(sorted);
}

void check_share(std::string_view name, double share) {
  if (!(share >= 0 && share <= 1)) throw UserError("{} is {}, expected 0 to 1", name, share);
}

}  // namespace

std::vector<double> RandomModel::predict(const std::vector<Candidate>& candidates) {
  std::vector<double> scores;
  for (size_t n = 0; n < candidates.size(); ++n) scores.push_back(unit(random_));
  return scores;
}

Search::Search(Schedule program, std::vector<Trace> designs, std::vector<Postproc> postprocs,
               std::shared_ptr<CostModel> model, SearchOptions options)
    : program_(std::move(program)),
      designs_(std::move(designs)),
      postprocs_(std::move(postprocs)),
      model_(std::move(model)),
      options_(options),
      random_(options.seed) {
  if (designs_.empty()) throw UserError("the space has no design");
  if (options.population < 1) throw UserError("population is {}, expected at least 1", options.population);
  if (options.generations < 0) throw UserError("generations is {}, expected at least 0", options.generations);
  check_share("mutation_share", options_.mutation_share);
  check_share("random_share", options_.random_share);
  for (const WeightedMutator& each : options_.mutators) {
    if (!(each.weight > 0) || !std::isfinite(each.weight))
      throw UserError("a mutator has weight {}, expected a number above 0", each.weight);
  }
}

// Traces are replayed on all threads; seeds are drawn before, so that results do not depend on the threads.
std::vector<std::optional<Candidate>> Search::replay(const std::vector<std::pair<size_t, Trace>>& traces) {
  std::vector<std::optional<Candidate>> found(traces.size());
  std::vector<uint64_t> seeds;
  for (size_t n = 0; n < traces.size(); ++n) seeds.push_back(random_());
  runtime::interruptible_for(static_cast<int64_t>(traces.size()), [&](int64_t n) {
    const auto place = static_cast<size_t>(n);
    const auto& [design, trace] = traces[place];
    found[place] = candidate_of(program_, trace, seeds[place], postprocs_);
    if (found[place]) found[place]->design = design;
  });
  num_replayed_ += static_cast<int64_t>(traces.size());
  return found;
}

// Samples of all designs, one after the other.
std::vector<Candidate> Search::draw(int64_t count) {
  std::vector<Candidate> found;
  std::set<Hash128> hashes;
  int64_t failures = 0;
  size_t design = 0;
  while (static_cast<int64_t>(found.size()) < count && failures < options_.most_failures) {
    std::vector<std::pair<size_t, Trace>> traces;
    for (int64_t n = static_cast<int64_t>(found.size()); n < count; ++n) {
      traces.emplace_back(design, undecided(designs_[design]));
      design = (design + 1) % designs_.size();
    }
    const size_t before = found.size();
    for (std::optional<Candidate>& each : replay(traces)) {
      if (each && hashes.insert(each->hash).second) found.push_back(std::move(*each));
    }
    failures = found.size() == before ? failures + static_cast<int64_t>(traces.size()) : 0;
  }
  return found;
}

void Search::score(std::vector<Candidate>& candidates) {
  const std::vector<double> scores = model_->predict(candidates);
  if (scores.size() != candidates.size())
    throw UserError("the cost model gave {} scores for {} candidates", scores.size(), candidates.size());
  for (size_t n = 0; n < scores.size(); ++n)
    candidates[n].score = std::isnan(scores[n]) ? -HUGE_VAL : scores[n];
  sort_by_score(candidates);
}

std::optional<Trace> Search::child_of(const Trace& parent) {
  if (options_.mutators.empty()) return mutated(parent, random_);
  double sum = 0;
  for (const WeightedMutator& each : options_.mutators) sum += each.weight;
  double place = unit(random_) * sum;
  for (const WeightedMutator& each : options_.mutators) {
    place -= each.weight;
    if (place < 0) return each.mutate(parent, random_);
  }
  return options_.mutators.back().mutate(parent, random_);
}

// Children of ranked parents, better ones more often: of two that are drawn, the better one.
std::vector<Candidate> Search::next_generation(const std::vector<Candidate>& parents) {
  std::vector<std::pair<size_t, Trace>> traces;
  std::vector<Candidate> kept;
  for (int64_t n = 0; n < options_.population; ++n) {
    const Candidate& parent = parents[std::min(random_() % parents.size(), random_() % parents.size())];
    if (unit(random_) >= options_.mutation_share) {
      kept.push_back(parent);
      continue;
    }
    const Trace trace = parent.sch.trace();
    if (std::optional<Trace> child = child_of(postprocs_.empty() ? trace : trace.without_postproc()))
      traces.emplace_back(parent.design, std::move(*child));
  }
  std::set<Hash128> hashes;
  std::vector<Candidate> found;
  for (std::optional<Candidate>& each : replay(traces)) {
    if (each && hashes.insert(each->hash).second) found.push_back(std::move(*each));
  }
  for (Candidate& each : kept) {
    if (hashes.insert(each.hash).second) found.push_back(std::move(each));
  }
  return found;
}

std::vector<Candidate> Search::ask(int64_t count) {
  if (count < 1) throw UserError("ask: count is {}, expected at least 1", count);
  const int64_t least = options_.generations == 0 ? count : std::max(count, options_.population / 4);
  std::vector<Candidate> drawn = draw(least), pool = drawn;
  for (const auto& [seconds, candidate] : measured_) {
    if (static_cast<int64_t>(pool.size()) >= 2 * options_.population || !std::isfinite(seconds)) break;
    if (options_.generations > 0) pool.push_back(candidate);
  }
  std::vector<Candidate> all;
  for (int64_t n = 0; !pool.empty(); ++n) {
    if (options_.generations > 0) score(pool);  // samples alone stay as they were drawn
    all.insert(all.end(), pool.begin(), pool.end());
    if (n == options_.generations) break;
    pool = next_generation(pool);
  }
  sort_by_score(all);
  // most by their scores, some as they were drawn
  std::vector<Candidate> chosen;
  const auto take = [&](std::vector<Candidate>& from, int64_t most) {
    for (Candidate& each : from) {
      if (static_cast<int64_t>(chosen.size()) >= most) return;
      if (asked_.insert(each.hash).second) chosen.push_back(std::move(each));
    }
  };
  const auto num_random = static_cast<int64_t>(options_.random_share * static_cast<double>(count));
  take(all, count - num_random);
  take(drawn, count);
  take(all, count);
  return chosen;
}

void Search::tell(const std::vector<Candidate>& candidates, const std::vector<double>& seconds) {
  if (candidates.size() != seconds.size())
    throw UserError("tell: {} times for {} candidates", seconds.size(), candidates.size());
  for (size_t n = 0; n < candidates.size(); ++n) {
    asked_.insert(candidates[n].hash);
    const auto place = std::upper_bound(measured_.begin(), measured_.end(), seconds[n],
                                        [](double time, const auto& other) { return time < other.first; });
    measured_.insert(place, {seconds[n], candidates[n]});
  }
  model_->update(candidates, seconds);
}

}  // namespace tilewright::tune
