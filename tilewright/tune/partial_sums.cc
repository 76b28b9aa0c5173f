#include "tilewright/tune/partial_sums.h"

#include <algorithm>

#include "tilewright/schedule/default/default.h"
#include "tilewright/schedule/steps.h"

namespace tilewright::tune {
namespace {

namespace steps = schedule::steps;
using schedule::Along;
using schedule::ArgValue;
using schedule::BlockRef;
using schedule::BlockShape;
using schedule::Instruction;
using schedule::LoopRef;
using schedule::Schedule;

// The axis of the terms that are contiguous in memory, as rule reduce_rows chooses it.
std::optional<size_t> contiguous_terms(const BlockShape& sum) {
  for (size_t axis = sum.block->iter_vars.size(); axis-- > 0;) {
    if (sum.block->iter_vars[axis]->iter_type != tir::IterType::kReduce || sum.extent(axis) < 2) continue;
    const auto is_along = [&](Along way) {
      return std::ranges::any_of(sum.loads, [&](const auto* load) { return along(sum, load, axis) == way; });
    };
    if (is_along(Along::kContiguous) && !is_along(Along::kStrided)) return axis;
  }
  return std::nullopt;
}

// n of the step `_, loop = split(_, factors=[None, n])`; 0 if there is none.
int64_t inner_factor(const std::vector<Instruction>& steps, const LoopRef& loop) {
  for (const Instruction& step : steps) {
    if (step.primitive->name != "split") continue;
    const auto* parts = step.result.as<ArgValue::List>();
    const auto* factors = step.args[1].as<ArgValue::List>();
    if (!parts || !factors || parts->size() != 2) continue;
    const LoopRef* inner = parts->back().as<LoopRef>();
    const int64_t* factor = factors->back().as<int64_t>();
    if (inner && factor && *inner == loop) return *factor;
  }
  return 0;
}

size_t num_sums(const Schedule& sch, const std::string& func_name) {
  Schedule copy = sch;
  size_t count = 0;
  for (BlockRef block : steps::get_child_blocks(copy, steps::get_block(copy, "root", func_name)))
    count += copy.get(block)->init ? 1 : 0;
  return count;
}

}  // namespace

PartialSums default_sums(const Schedule& sch, const BlockShape& sum, const target::Features& features) {
  PartialSums found;
  const std::optional<size_t> axis = contiguous_terms(sum);
  const std::string& func_name = sch.state().func_of(sch.state()[sum.ref]).name->name_hint;
  // sums of integers are the same in any order
  if (!axis || !sum.output()->dtype.is_float() || num_sums(sch, func_name) != 1) return found;
  found.axis = *axis;
  Schedule copy = sch;
  schedule::schedule_by_rules(copy, func_name, features);
  const std::vector<Instruction>& all = copy.trace().steps;
  for (const Instruction& step : all) {
    if (step.primitive->name == "rfactor")
      found.lanes.push_back(inner_factor(all, *step.args[0].as<LoopRef>()));
  }
  if (std::ranges::count(found.lanes, 0) > 0) found.lanes.clear();
  return found;
}

std::vector<BlockRef> make_partial_sums(Schedule& sch, BlockRef block, const PartialSums& sums) {
  std::vector<BlockRef> found;
  LoopRef loop = schedule::loops_of_axis(sch, block, sums.axis, steps::get_loops(sch, block)).at(0);
  for (const int64_t lanes : sums.lanes) {
    // first of its dimensions, so that vectors of results are contiguous in it
    const std::vector<LoopRef> parts = steps::split(sch, loop, {schedule::None{}, lanes});
    found.push_back(steps::rfactor(sch, parts[1], 0));
    steps::set_scope(sch, found.back(), {0}, "local");
    loop = steps::get_loops(sch, block).back();
  }
  return found;
}

}  // namespace tilewright::tune
