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
/// A number in [0, 1).
inline double unit(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

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

/// A way to schedule the kernel: samples to decide, and what is done when they are.
struct Design {
  Trace trace;
  /// After the trace; its steps begin with enter_postproc.  None: nothing.
  std::function<void(Schedule&)> finish = {};
};

/// The steps of `trace` before its first sample.
size_t steps_before_samples(const Trace& trace);

/// What `start` becomes by the steps of `design` that it lacks, and by `postprocs`; nullopt if one refuses.
///
/// seed  of samples without a decision
std::optional<Candidate> candidate_of(const schedule::Replay& start, const Design& design, uint64_t seed,
                                      const std::vector<Postproc>& postprocs);

}  // namespace tilewright::tune
