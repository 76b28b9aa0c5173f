// One way to schedule a kernel: a design, a trace with samples, whose samples are decided.
#pragma once
#include <functional>
#include <optional>
#include <random>

#include "tilewright/schedule/schedule.h"
#include "tilewright/support/hash.h"

namespace tilewright::tune {
using schedule::Schedule;
using schedule::Trace;

using Random = std::mt19937_64;

struct Candidate {
  Schedule sch;
  Hash128 hash;       // of the program: traces that make the same program are one candidate
  size_t design = 0;  // which design it comes from
  double score = 0;   // of a cost model: higher is faster
};

/// A check or change of a candidate before it is built; false: the candidate is left out.
using Postproc = std::function<bool(Schedule&)>;

/// Another trace made of a candidate's, or nullopt where it has none to offer.
using Mutator = std::function<std::optional<Trace>(const Trace&, Random&)>;

/// True if the trace draws samples.
bool has_samples(const Trace& trace);
/// `trace` without its decisions, so that replaying draws them again.
Trace undecided(Trace trace);
/// `trace` with another decision of one sample: factors of a tile move a prime from one to another, other
/// samples are drawn again.  Nullopt if it draws none.
///
/// primitives  samples of these alone; empty: of all
std::optional<Trace> mutated(const Trace& trace, Random& random,
                             const std::vector<std::string>& primitives = {});

/// `program` after the steps of `trace` and `postprocs`; nullopt if a step or postprocessor refuses.
///
/// seed  of samples without a decision
std::optional<Candidate> candidate_of(const Schedule& program, const Trace& trace, uint64_t seed,
                                      const std::vector<Postproc>& postprocs);

}  // namespace tilewright::tune
