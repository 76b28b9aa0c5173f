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

// The step `..., loop = split(outer, factors=[None, n])`; null if there is none.
const Instruction* split_that_makes(const std::vector<Instruction>& steps, const LoopRef& loop) {
  for (const Instruction& step : steps) {
    if (step.primitive->name != "split") continue;
    const auto* parts = step.result.as<ArgValue::List>();
    const auto* factors = step.args[1].as<ArgValue::List>();
    if (!parts || !factors || parts->size() != 2 || factors->size() != 2) continue;
    const LoopRef* inner = parts->back().as<LoopRef>();
    if (inner && *inner == loop && factors->back().as<int64_t>()) return &step;
  }
  return nullptr;
}

// The block whose loops a step `..., loop, ... = get_loops(block)` gives.
std::optional<BlockRef> block_of(const std::vector<Instruction>& steps, const LoopRef& loop) {
  for (const Instruction& step : steps) {
    const auto* loops = step.result.as<ArgValue::List>();
    if (step.primitive->name != "get_loops" || !loops) continue;
    const bool has_it = std::ranges::any_of(*loops, [&](const ArgValue& each) {
      const LoopRef* other = each.as<LoopRef>();
      return other && *other == loop;
    });
    if (has_it) return *step.args[0].as<BlockRef>();
  }
  return std::nullopt;
}

}  // namespace

PartialSums default_sums(const Schedule& sch, const BlockShape& sum, const target::Features& features) {
  PartialSums found;
  const std::optional<size_t> axis = contiguous_terms(sum);
  // sums of integers are the same in any order
  if (!axis || !sum.output()->dtype.is_float()) return found;
  found.axis = *axis;
  Schedule copy = sch;
  schedule::schedule_by_rules(copy, sch.state().func_of(sch.state()[sum.ref]).name->name_hint, features);
  const std::vector<Instruction>& all = copy.trace().steps;
  for (const Instruction& step : all) {
    if (step.primitive->name != "rfactor") continue;
    const Instruction* split = split_that_makes(all, *step.args[0].as<LoopRef>());
    const std::optional<BlockRef> block = split ? block_of(all, *split->args[0].as<LoopRef>()) : std::nullopt;
    if (!block) return {};  // of another form
    if (copy.is_alive(*block) && copy.state()[*block] == copy.state()[sum.ref])
      found.lanes.push_back(*split->args[1].as<ArgValue::List>()->back().as<int64_t>());
  }
  return found;
}

std::vector<BlockRef> make_partial_sums(Schedule& sch, BlockRef block, const PartialSums& sums,
                                        int64_t dimension) {
  std::vector<BlockRef> found;
  LoopRef loop = schedule::loops_of_axis(sch, block, sums.axis, steps::get_loops(sch, block)).at(0);
  for (const int64_t lanes : sums.lanes) {
    const std::vector<LoopRef> parts = steps::split(sch, loop, {schedule::None{}, lanes});
    found.push_back(steps::rfactor(sch, parts[1], dimension));
    steps::set_scope(sch, found.back(), {0}, "local");
    loop = steps::get_loops(sch, block).back();
  }
  return found;
}

}  // namespace tilewright::tune
