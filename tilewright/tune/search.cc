#include "tilewright/tune/search.h"

#include <algorithm>
#include <cmath>

#include "tilewright/runtime/interrupt.h"
#include "tilewright/support/error.h"

namespace tilewright::tune {
namespace {

// The best first, those with one score as they were.
void sort_by_score(std::vector<Candidate>& candidates) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t n = 0; n < candidates.size(); ++n) order.emplace_back(-candidates[n].score, n);
  std::sort(order.begin(), order.end());
  std::vector<Candidate> sorted;
  for (const auto& [score, n] : order) sorted.push_back(std::move(candidates[n]));
  candidates = std::move(sorted);
}

}  // namespace

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
  for (const Trace& design : designs_)
    starts_.emplace_back(program_.unproved(0)).run(design, steps_before_samples(design));
}

// Traces are replayed on all threads; seeds are drawn before, so that results do not depend on the threads.
std::vector<std::optional<Candidate>> Search::replay(const std::vector<std::pair<size_t, Trace>>& traces) {
  std::vector<std::optional<Candidate>> found(traces.size());
  std::vector<uint64_t> seeds;
  for (size_t n = 0; n < traces.size(); ++n) seeds.push_back(random_());
  runtime::interruptible_for(static_cast<int64_t>(traces.size()), [&](int64_t n) {
    const auto place = static_cast<size_t>(n);
    const auto& [design, trace] = traces[place];
    found[place] = candidate_of(starts_[design], trace, seeds[place], postprocs_);
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
    if (std::optional<Trace> child = mutated(parent.sch.trace(), random_))
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
  const auto num_random = static_cast<int64_t>(options_.random_share * static_cast<double>(count));
  choose(all, static_cast<size_t>(count - num_random), &chosen);
  choose(drawn, static_cast<size_t>(count), &chosen);
  choose(all, static_cast<size_t>(count), &chosen);
  return chosen;
}

// The same candidates by steps that are proved; nullopt for those that are refused then.
std::vector<std::optional<Candidate>> Search::proved(const std::vector<Candidate>& candidates) {
  std::vector<std::optional<Candidate>> found(candidates.size());
  runtime::interruptible_for(static_cast<int64_t>(candidates.size()), [&](int64_t n) {
    const Candidate& each = candidates[static_cast<size_t>(n)];
    const schedule::Replay start(program_.proved(0));
    std::optional<Candidate> made = candidate_of(start, each.sch.trace(), 0, {});
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
  const std::string text = undecided(trace).str();
  for (size_t n = 0; n < designs_.size(); ++n) {
    if (undecided(designs_[n]).str() == text) return n;
  }
  return designs_.size();
}

std::optional<Candidate> Search::candidate(const Trace& trace) {
  const size_t design = design_of(trace);
  if (design == designs_.size()) return std::nullopt;
  std::optional<Candidate> made = candidate_of(schedule::Replay(program_.proved(0)), trace, 0, postprocs_);
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
