// dot_products: a sum of products of bytes or bfloat16 whose extents fill no groups or vectors is computed on padded
// copies, in tiles of instructions that add groups of products: VNNI, AVX512-BF16, tiles of AMX where the target has
// them.
//   127 x 61 by 61 x 93  ->  127 x 64 by 64 x 96, in vectors of 16 columns and groups of 4 terms
// Sums of integers are the same in any order; those of bfloat16 are added in groups, which is another order than the
// program's.
#include "tilewright/schedule/default/cpu/dots.h"
#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/cpu/tile_sum.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/rule.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::BlockShape;
using schedule::SumPlan;

constexpr int64_t kGroup = 4, kShortGroup = 2;  // elements of 8 and of 16 bits in 32

// What each axis becomes a multiple of; all 1 if nothing is to be padded.
std::vector<int64_t> paddings_of(const BlockShape& sum, const Features& features) {
  const bool has_bytes = sum.output()->dtype.is_int();
  std::vector<int64_t> paddings;
  for (size_t axis = 0; axis < sum.block->iter_vars.size(); ++axis) {
    const bool is_summed = sum.block->iter_vars[axis]->iter_type == tir::IterType::kReduce;
    const bool is_column = sum.last_axis() == axis;
    paddings.push_back(is_summed   ? (has_bytes ? kGroup : kShortGroup)
                       : is_column ? features.vector_bytes / 4
                                   : 1);
  }
  return paddings;
}

// The padded sum by `plan`, and what pads as vectors.
OrReason<Schedule> design_of(Schedule sch, const BlockShape& sum, const std::vector<BlockRef>& copies,
                             const SumPlan& plan, const Features& features) {
  const auto place = schedule::tile_by_plan(sch, sum, std::nullopt, plan, sum.num_instances(), features, {});
  if (!place) return place.reason();
  for (BlockRef copy : copies) {
    if (!sch.is_alive(copy)) continue;
    if (const OrReason<BlockShape> shape = schedule::shape_of(sch, copy))
      schedule::vectorize_elements(sch, *shape, features);
  }
  return sch;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const Features& features) {
  const OrReason<BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  if (!shape->is_reduction()) return Reason(Reason::kForm, "it is no reduction");
  const std::optional<size_t> column = shape->last_axis();
  if (!column) return schedule::why_no_last_axis(*shape);
  if (const OrReason<schedule::DotSum> dot = schedule::dot_sum(*shape, *column, features); dot)
    return Reason(Reason::kCost, "its extents fill groups and vectors, as the default schedule has them");
  else if (dot.reason().kind != Reason::kTooSmall && dot.reason().kind != Reason::kCost)
    return dot.reason();
  Schedule padded = sch;
  std::vector<BlockRef> copies;
  try {
    padded.call("pad_einsum", block, paddings_of(*shape, features));
    copies = padded.call("get_producers", block).blocks();
    for (BlockRef consumer : padded.call("get_consumers", block).blocks()) copies.push_back(consumer);
    const BlockShape sum = *schedule::shape_of(padded, block);
    const OrReason<SumPlan> plan = schedule::plan_sum(sum, features);
    if (!plan) return plan.reason();
    if (!plan->dot) return plan->dot.reason();
    OrReason<Schedule> made = design_of(padded, sum, copies, *plan, features);
    if (!made) return made.reason();
    return std::vector<Schedule>{std::move(*made), sch};
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
}

}  // namespace

extern constinit const RuleInfo dot_products_info{
    "dot_products", "odd sums of bytes and bfloat16 are padded for instructions that add groups of products",
    5, &apply};
}  // namespace tilewright::tune
