// factor_reduction: neighbouring terms of a sum are added apart from each other, as lanes of vectors, and their sums at
// the end: where there are few results, vectors of results have nothing to do.
//   for i, k: S[i] += A[i, k]   ->   for i, ko: vectorized ki: P[i, ki] += A[i, ko * n + ki]
//                                    for i, ki: S[i] += P[i, ki]
// Another order of summation than the program's, but of integers and of the largest of numbers.
#include <algorithm>

#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"
#include "tilewright/tune/samples.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::Along;
using schedule::BlockShape;
using schedule::LoopRef;

constexpr int64_t kMostVectors = 8;

// The summed axis along which all that changes is contiguous.
OrReason<size_t> axis_of_lanes(const BlockShape& sum) {
  for (size_t axis = sum.block->iter_vars.size(); axis-- > 0;) {
    if (sum.block->iter_vars[axis]->iter_type != tir::IterType::kReduce) continue;
    if (sum.extent(axis) == 0) return schedule::open_extent(sum, axis);
    const bool is_contiguous = std::ranges::none_of(
        sum.loads, [&](const auto* load) { return along(sum, load, axis) == Along::kStrided; });
    const bool moves = std::ranges::any_of(
        sum.loads, [&](const auto* load) { return along(sum, load, axis) == Along::kContiguous; });
    if (is_contiguous && moves) return axis;
  }
  return Reason(Reason::kForm, "no axis along which block {} adds is contiguous in all that it reads",
                sum.block->name_hint);
}

Schedule design_of(Schedule sch, const BlockShape& sum, LoopRef loop, const Features& features) {
  const int64_t lanes = std::max<int64_t>(1, features.vector_bytes / sum.output()->dtype.num_bytes());
  const int64_t extent = schedule::extent_of(sch, loop);
  const schedule::ExprRef vectors =
      sample_count(sch, std::min(kMostVectors, (extent - 1) / lanes + 1), extent, 1);
  const std::vector<LoopRef> parts = steps::split(sch, loop, {schedule::None{}, vectors, lanes});
  const LoopRef inner = steps::fuse(sch, {parts[1], parts[2]});
  const BlockRef partial = steps::rfactor(sch, inner, -1);
  std::vector<LoopRef> loops = steps::get_loops(sch, partial);
  const std::vector<LoopRef> tile = steps::split(sch, loops.back(), {schedule::None{}, lanes});
  steps::unroll(sch, tile[0]);
  const BlockRef init = steps::decompose_reduction(sch, partial, parts[0]);
  steps::vectorize(sch, tile[1]);
  steps::vectorize(sch, steps::get_loops(sch, init).back());
  if (features.num_cores > 1 && loops.size() > 2) steps::parallel(sch, loops[0]);
  return sch;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features& features) {
  const OrReason<BlockShape> sum = schedule::shape_of(sch, block);
  if (!sum) return sum.reason();
  if (!sum->is_reduction()) return Reason(Reason::kForm, "it is no reduction");
  const OrReason<size_t> axis = axis_of_lanes(*sum);
  if (!axis) return axis.reason();
  Schedule start = sch;
  const std::vector<LoopRef> all = steps::get_loops(start, block);
  if (all.size() != sum->block->iter_vars.size())
    return Reason(Reason::kForm, "another rule has given it {} loops", all.size());
  const std::vector<LoopRef> own = schedule::loops_of_axis(start, block, *axis, all);
  if (own.size() != 1 || schedule::extent_of(start, own[0]) < 2)
    return Reason(Reason::kTooSmall, "axis {} has one value", axis_name(*sum, *axis));
  try {
    return std::vector<Schedule>{design_of(start, *sum, own[0], features), sch};
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
}

}  // namespace

extern constinit const RuleInfo factor_reduction_info{
    "factor_reduction", "terms of a sum are added apart from each other, as lanes of vectors", 8, &apply,
    true};
}  // namespace tilewright::tune
