// sample_perfect_tile: factors of a loop's extent drawn at random.
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/tile_sampling.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  int64_t n = 0, max_innermost_factor = 16;
  std::optional<std::vector<int64_t>> decision;
  static constexpr std::string_view kRequired[] = {"n"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loop>("loop", "a loop of constant extent"), field<&Args::n>("n", "how many factors"),
        field<&Args::max_innermost_factor>("max_innermost_factor", "largest value of the last factor"),
        field<&Args::decision>("decision", "the factors, when they are already decided")};
  }
};

// Each prime of the extent goes to a place drawn at random; the last place takes only what keeps it small
// enough.
std::vector<int64_t> draw(State& state, int64_t extent, const Args& args) {
  std::vector<int64_t> factors(static_cast<size_t>(args.n), 1);
  for (int64_t prime : primes_of(extent)) {
    const bool fits_last = factors.back() * prime <= args.max_innermost_factor || args.n == 1;
    const uint64_t places = static_cast<uint64_t>(args.n) - (fits_last ? 0 : 1);
    factors[state.random()() % places] *= prime;
  }
  return factors;
}

std::vector<ExprRef> apply(State& state, Args& args) {
  const NodeId loop = state[args.loop];
  const int64_t extent = require_const_extent(state, loop);
  require_count(state, loop, args.n);
  if (args.max_innermost_factor < 1)
    throw refuse(state, loop, "max_innermost_factor {} is below 1", args.max_innermost_factor);
  if (args.decision)
    require_factors(state, loop, extent, args.n, *args.decision);
  else
    args.decision = draw(state, extent, args);
  std::vector<ExprRef> results;
  for (int64_t factor : *args.decision) results.push_back(state.new_expr_ref(factor));
  return results;
}

}  // namespace

extern constinit const PrimitiveInfo sample_perfect_tile_info = query<apply>("sample_perfect_tile", R"(
Draws `n` factors whose product is the extent of `loop`, for split.

loop                  a loop of constant extent
n                     how many factors, >= 1
max_innermost_factor  largest value of the last factor (if n > 1)
decision              the factors, when they are already decided; a trace records what was drawn here
Returns               one value per factor
)");
}  // namespace tilewright::schedule
