#include "tilewright/schedule/transforms/tile_sampling.h"

#include <fmt/format.h>

#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/support/count_text.h"

namespace tilewright::schedule {
namespace {

constexpr int64_t kMaxFactors = 64;
// Divisors are tried one by one up to this prime; a factor with larger primes only stays whole.
constexpr int64_t kLargestPrime = 1 << 20;

}  // namespace

int64_t require_const_extent(const State& state, NodeId loop) {
  const std::optional<int64_t> extent = const_extent(state.node(loop).loop());
  if (!extent)
    throw refuse(state, loop, "loop {} has extent {}, which is not constant", state.node(loop).name,
                 text(state.node(loop).loop()->extent));
  return *extent;
}

void require_count(const State& state, NodeId loop, int64_t count) {
  if (count < 1 || count > kMaxFactors)
    throw refuse(state, loop, "{} factors are asked for, expected 1 to {}", count, kMaxFactors);
}

void require_factors(const State& state, NodeId loop, int64_t extent, int64_t count,
                     const std::vector<int64_t>& decision) {
  int64_t product = 1;
  for (int64_t factor : decision) {
    if (factor < 1 || __builtin_mul_overflow(product, factor, &product)) product = INT64_MAX;
  }
  if (static_cast<int64_t>(decision.size()) != count)
    throw refuse(state, loop, "the decision [{}] has {} instead of {}", fmt::join(decision, ", "),
                 count_text(decision.size(), "factor"), count);
  if (product != extent)
    throw refuse(state, loop, "the decision [{}] does not multiply to the extent {} of loop {}",
                 fmt::join(decision, ", "), extent, state.node(loop).name);
}

std::vector<int64_t> primes_of(int64_t number) {
  std::vector<int64_t> primes;
  for (int64_t p = 2; p <= kLargestPrime && p * p <= number; ++p) {
    for (; number % p == 0; number /= p) primes.push_back(p);
  }
  if (number > 1) primes.push_back(number);
  return primes;
}

}  // namespace tilewright::schedule
