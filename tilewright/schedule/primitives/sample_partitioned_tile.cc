// sample_partitioned_tile: factors of a loop's extent of which the inner ones have a given divisor.
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/transforms/tile_sampling.h"

namespace tilewright::schedule {
namespace {

struct Args {
  LoopRef loop;
  int64_t n = 0, partition_pos = 0, innerpart_factor = 1;
  std::optional<std::vector<int64_t>> decision;
  static constexpr std::string_view kRequired[] = {"n"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::loop>("loop", "a loop of constant extent"), field<&Args::n>("n", "how many factors"),
        field<&Args::partition_pos>("partition_pos", "where the inner factors begin"),
        field<&Args::innerpart_factor>("innerpart_factor", "what divides the product of the inner factors"),
        field<&Args::decision>("decision", "the factors, when they are already decided")};
  }
};

// Primes of the divisor go to inner places, the others anywhere.
std::vector<int64_t> draw(State& state, int64_t extent, const Args& args) {
  std::vector<int64_t> factors(static_cast<size_t>(args.n), 1);
  const auto first = static_cast<uint64_t>(args.partition_pos), count = static_cast<uint64_t>(args.n);
  for (int64_t prime : primes_of(args.innerpart_factor))
    factors[first + state.random()() % (count - first)] *= prime;
  for (int64_t prime : primes_of(extent / args.innerpart_factor)) factors[state.random()() % count] *= prime;
  return factors;
}

std::vector<ExprRef> apply(State& state, Args& args) {
  const NodeId loop = state[args.loop];
  const int64_t extent = require_const_extent(state, loop);
  require_count(state, loop, args.n);
  if (args.partition_pos < 0 || args.partition_pos >= args.n)
    throw refuse(state, loop, "partition_pos {} is none of the {} factors", args.partition_pos, args.n);
  if (args.innerpart_factor < 1 || extent % args.innerpart_factor != 0)
    throw refuse(state, loop, "innerpart_factor {} does not divide the extent {} of loop {}",
                 args.innerpart_factor, extent, state.node(loop).name);
  if (!args.decision) args.decision = draw(state, extent, args);
  require_factors(state, loop, extent, args.n, *args.decision);
  int64_t inner = 1;
  for (auto n = static_cast<size_t>(args.partition_pos); n < args.decision->size(); ++n)
    inner *= (*args.decision)[n];
  if (inner % args.innerpart_factor != 0)
    throw refuse(state, loop, "the inner factors of the decision multiply to {}, which {} does not divide",
                 inner, args.innerpart_factor);
  std::vector<ExprRef> results;
  for (int64_t factor : *args.decision) results.push_back(state.new_expr_ref(factor));
  return results;
}

}  // namespace

extern constinit const PrimitiveInfo sample_partitioned_tile_info =
    query<apply>("sample_partitioned_tile", R"(
Draws `n` factors whose product is the extent of `loop`; the product of those from `partition_pos` on is a multiple of
`innerpart_factor`.

loop              a loop of constant extent
n                 how many factors, >= 1
partition_pos     0 <= partition_pos < n
innerpart_factor  a divisor of the extent
decision          the factors, when they are already decided; a trace records what was drawn here
Returns           one value per factor
)");
}  // namespace tilewright::schedule
