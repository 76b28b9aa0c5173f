#include "tilewright/tune/search.h"

#include <algorithm>
#include <cmath>

#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"

namespace tilewright::tune {
namespace {

// Of each of the fastest candidates that a design finishes.
constexpr int kChildren = 4;
// SearchOptions::most_failures of these: rules take milliseconds where a replay takes a fraction of one.
constexpr int64_t kFailures = 64;

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

Search::Search(Schedule program, std::vector<Design> designs, std::vector<Postproc> postprocs,
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
  for (size_t n = 0; n < designs_.size(); ++n) {
    const Trace& trace = designs_[n].trace;
    (designs_[n].finish ? finished_ : evolved_).push_back(n);
    starts_.emplace_back(program_.unproved(0)).run(trace, steps_before_samples(trace));
  }
}

// The candidates of traces, those of one program once.  Traces are replayed on all threads; seeds are drawn before, so
// that results do not depend on the threads.
std::vector<Candidate> Search::replay(const Traces& traces) {
  std::vector<std::optional<Candidate>> made(traces.size());
  std::vector<uint64_t> seeds;
  for (size_t n = 0; n < traces.size(); ++n) seeds.push_back(random_());
  runtime::interruptible_for(static_cast<int64_t>(traces.size()), [&](int64_t n) {
    const auto place = static_cast<size_t>(n);
    const auto& [design, trace] = traces[place];
    made[place] = candidate_of(starts_[design], {trace, designs_[design].finish}, seeds[place], postprocs_);
    if (made[place]) made[place]->design = design;
  });
  num_replayed_ += static_cast<int64_t>(traces.size());
  std::set<Hash128> hashes;
  std::vector<Candidate> found;
  for (std::optional<Candidate>& each : made) {
    if (each && hashes.insert(each->hash).second) found.push_back(std::move(*each));
  }
  return found;
}

// Samples of `designs`, one after the other, that were not asked for.
std::vector<Candidate> Search::draw(const std::vector<size_t>& designs, int64_t count,
                                    int64_t most_failures) {
  std::vector<Candidate> found;
  std::set<Hash128> hashes;
  int64_t failures = 0;
  size_t next = 0;
  while (static_cast<int64_t>(found.size()) < count && failures < most_failures) {
    Traces traces;
    for (int64_t n = static_cast<int64_t>(found.size()); n < count; ++n) {
      const size_t design = designs[next++ % designs.size()];
      traces.emplace_back(design, undecided(designs_[design].trace));
    }
    const size_t before = found.size();
    for (Candidate& each : replay(traces)) {
      if (!asked_.contains(each.hash) && hashes.insert(each.hash).second) found.push_back(std::move(each));
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

void Search::add_child(const Candidate& parent, Traces* traces) {
  if (std::optional<Trace> child = child_of(parent.sch.trace().without_postproc()))
    traces->emplace_back(parent.design, std::move(*child));
}

// Children of ranked parents, better ones more often: of two that are drawn, the better one.
std::vector<Candidate> Search::next_generation(const std::vector<Candidate>& parents) {
  Traces traces;
  std::vector<Candidate> kept;
  for (int64_t n = 0; n < options_.population; ++n) {
    const Candidate& parent = parents[std::min(random_() % parents.size(), random_() % parents.size())];
    if (unit(random_) >= options_.mutation_share)
      kept.push_back(parent);
    else
      add_child(parent, &traces);
  }
  std::vector<Candidate> found = replay(traces);
  std::set<Hash128> hashes;
  for (const Candidate& each : found) hashes.insert(each.hash);
  for (Candidate& each : kept) {
    if (hashes.insert(each.hash).second) found.push_back(std::move(each));
  }
  return found;
}

// Generations of designs that are traces alone, whose replay is quick.
void Search::choose_evolved(size_t most, std::vector<Candidate>* chosen) {
  if (evolved_.empty() || chosen->size() >= most) return;
  const auto count = static_cast<int64_t>(most - chosen->size());
  const int64_t least = options_.generations == 0 ? count : std::max(count, options_.population / 4);
  std::vector<Candidate> drawn = draw(evolved_, least, options_.most_failures), pool = drawn;
  for (const auto& [seconds, candidate] : measured_) {
    if (static_cast<int64_t>(pool.size()) >= 2 * options_.population || !std::isfinite(seconds)) break;
    if (options_.generations > 0 && !designs_[candidate.design].finish) pool.push_back(candidate);
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
  const auto num_random = static_cast<size_t>(options_.random_share * static_cast<double>(count));
  choose(all, most - num_random, chosen);
  choose(drawn, most, chosen);
  choose(all, most, chosen);
}

// Samples of designs that are finished by more than a trace, which takes its time, and children of the fastest ones.
void Search::choose_finished(size_t most, std::vector<Candidate>* chosen) {
  if (finished_.empty() || chosen->size() >= most) return;
  const auto count = static_cast<int64_t>(most - chosen->size());
  std::vector<Candidate> pool = draw(finished_, 2 * count, kFailures);
  Traces children;
  for (const auto& [seconds, candidate] : measured_) {
    if (static_cast<int64_t>(children.size()) >= 2 * count || !std::isfinite(seconds)) break;
    if (!designs_[candidate.design].finish) continue;
    for (int n = 0; n < kChildren; ++n) add_child(candidate, &children);
  }
  for (Candidate& each : replay(children)) pool.push_back(std::move(each));
  score(pool);
  choose(pool, most, chosen);
}

std::vector<Candidate> Search::ask(int64_t count) {
  if (count < 1) throw UserError("ask: count is {}, expected at least 1", count);
  const auto most = static_cast<size_t>(count);
  std::vector<Candidate> chosen;
  // half of each, unless there are not so many
  choose_finished(evolved_.empty() ? most : (most + 1) / 2, &chosen);
  choose_evolved(most, &chosen);
  choose_finished(most, &chosen);
  return chosen;
}

// The same candidates by steps that are proved; nullopt for those that are refused then.
std::vector<std::optional<Candidate>> Search::proved(const std::vector<Candidate>& candidates) {
  std::vector<std::optional<Candidate>> found(candidates.size());
  runtime::interruptible_for(static_cast<int64_t>(candidates.size()), [&](int64_t n) {
    const Candidate& each = candidates[static_cast<size_t>(n)];
    const schedule::Replay start(program_.proved(0));
    std::optional<Candidate> made = candidate_of(start, {each.sch.trace()}, 0, {});
    if (!made) return;
    TILEWRIGHT_CHECK(made->hash == each.hash, "steps make another program when they are proved");
    made->design = each.design;
    made->score = each.score;
    found[static_cast<size_t>(n)] = std::move(made);
  });
  return found;
}

// Moves candidates of `from` that were not asked for before to `chosen`, until it has `most`.
void Search::choose(std::vector<Candidate>& from, size_t most, std::vector<Candidate>* chosen) {
  size_t next = 0;
  while (chosen->size() < most && next < from.size()) {
    std::vector<Candidate> some;
    for (; next < from.size() && chosen->size() + some.size() < most; ++next) {
      if (asked_.insert(from[next].hash).second) some.push_back(std::move(from[next]));
    }
    for (std::optional<Candidate>& each : proved(some)) {
      if (each) chosen->push_back(std::move(*each));
    }
  }
}

size_t Search::design_of(const Trace& trace) const {
  const std::string text = undecided(trace.without_postproc()).str();
  for (size_t n = 0; n < designs_.size(); ++n) {
    if (undecided(designs_[n].trace).str() == text) return n;
  }
  return designs_.size();
}

std::optional<Candidate> Search::candidate(const Trace& trace) {
  const size_t design = design_of(trace);
  if (design == designs_.size()) return std::nullopt;
  std::optional<Candidate> made = candidate_of(schedule::Replay(program_.proved(0)), {trace}, 0, {});
  if (made) made->design = design;
  return made;
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
