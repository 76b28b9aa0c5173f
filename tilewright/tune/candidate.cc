#include "tilewright/tune/candidate.h"

#include <algorithm>

#include "tilewright/ir/services.h"
#include "tilewright/schedule/transforms/tile_sampling.h"
#include "tilewright/support/error.h"

namespace tilewright::tune {
namespace {

using schedule::ArgInfo;
using schedule::ArgValue;
using schedule::Instruction;

// The place of the argument that holds what a sample decided.
std::optional<size_t> place_of_decision(const Instruction& step) {
  const std::vector<ArgInfo> infos = step.primitive->args();
  if (infos.empty() || infos.back().name != "decision") return std::nullopt;
  return infos.size() - 1;
}

// Moves one prime of a factor to another place.  The last factor stays at most as large as the step allows.
bool move_prime(Instruction& step, size_t place, Random& random) {
  auto* list = std::get_if<ArgValue::List>(&step.args[place].data);
  if (!list || list->size() < 2) return false;
  std::vector<int64_t> factors;
  for (const ArgValue& item : *list) factors.push_back(*item.as<int64_t>());
  int64_t most_last = INT64_MAX;
  const std::vector<ArgInfo> infos = step.primitive->args();
  for (size_t n = 0; n < infos.size(); ++n) {
    if (infos[n].name == "max_innermost_factor") most_last = *step.args[n].as<int64_t>();
  }
  for (int attempt = 0; attempt < 16; ++attempt) {
    const size_t from = random() % factors.size(), to = random() % factors.size();
    if (from == to || factors[from] == 1) continue;
    const std::vector<int64_t> primes = schedule::primes_of(factors[from]);
    const int64_t prime = primes[random() % primes.size()];
    if (to + 1 == factors.size() && factors[to] * prime > most_last) continue;
    (*list)[from] = factors[from] / prime;
    (*list)[to] = factors[to] * prime;
    return true;
  }
  return false;
}

}  // namespace

bool has_samples(const Trace& trace) {
  return std::any_of(trace.steps.begin(), trace.steps.end(),
                     [](const Instruction& step) { return place_of_decision(step).has_value(); });
}

Trace undecided(Trace trace) {
  for (Instruction& step : trace.steps) {
    if (const std::optional<size_t> place = place_of_decision(step)) step.args[*place] = ArgValue();
  }
  return trace;
}

std::optional<Trace> mutated(const Trace& trace, Random& random, const std::vector<std::string>& primitives) {
  const auto is_meant = [&](const Instruction& step) {
    return primitives.empty() || std::ranges::count(primitives, step.primitive->name) > 0;
  };
  std::vector<size_t> samples;
  for (size_t n = 0; n < trace.steps.size(); ++n) {
    if (is_meant(trace.steps[n]) && place_of_decision(trace.steps[n])) samples.push_back(n);
  }
  if (samples.empty()) return std::nullopt;
  Trace changed = trace;
  Instruction& step = changed.steps[samples[random() % samples.size()]];
  const size_t place = *place_of_decision(step);
  if (!move_prime(step, place, random)) step.args[place] = ArgValue();
  return changed;
}

size_t steps_before_samples(const Trace& trace) {
  size_t count = 0;
  while (count < trace.steps.size() && !place_of_decision(trace.steps[count])) ++count;
  return count;
}

std::optional<Candidate> candidate_of(const schedule::Replay& start, const Design& design, uint64_t seed,
                                      const std::vector<Postproc>& postprocs) {
  schedule::Replay replay = start;
  replay.sch.set_seed(seed);
  try {
    replay.run(design.trace, design.trace.steps.size());
    // mutations begin from the steps before
    if (design.finish || !postprocs.empty()) replay.sch.call("enter_postproc");
    if (design.finish) design.finish(replay.sch);
    for (const Postproc& postproc : postprocs) {
      if (!postproc(replay.sch)) return std::nullopt;
    }
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return std::nullopt;
  }
  const Hash128 hash = ir::structural_hash(replay.sch.module());
  return Candidate{std::move(replay.sch), hash};
}

}  // namespace tilewright::tune
