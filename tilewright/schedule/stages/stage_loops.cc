#include "tilewright/schedule/stages/stage_loops.h"

#include <algorithm>
#include <variant>

#include "tilewright/schedule/steps.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

Factor factor_of(const PrimExpr& number) {
  int64_t value = 0;
  if (as_const_int(number, &value)) return Factor(value);
  throw Unsupported("split: the factor {} is not a constant", tir::expr_text(number));
}

}  // namespace

StageLoops::StageLoops(Schedule& sch, const TensorStage& stage, const std::vector<IterVar>& roots,
                       const std::vector<LoopRef>& loops)
    : sch_(sch), stage_(stage) {
  for (size_t n = 0; n < std::min(loops.size(), roots.size()); ++n) {
    leaves_.push_back(roots[n]);
    loops_[roots[n].get()] = loops[n];
  }
}

void StageLoops::replay() {
  for (const AxisStep& step : stage_.steps()) std::visit([&](const auto& each) { run(each); }, step);
}

void StageLoops::run(const AxisSplit& split) {
  const Factor given = factor_of(split.factor ? split.factor : split.nparts);
  const Factors factors = split.factor ? Factors{None{}, given} : Factors{given, None{}};
  const std::vector<LoopRef> parts = steps::split(sch_, loop(split.parent), factors);
  const auto place = std::find(leaves_.begin(), leaves_.end(), split.parent);
  *place = split.outer;
  leaves_.insert(place + 1, split.inner);
  loops_[split.outer.get()] = parts[0];
  loops_[split.inner.get()] = parts[1];
}

void StageLoops::run(const AxisFusion& fusion) {
  loops_[fusion.fused.get()] = steps::fuse(sch_, {loop(fusion.outer), loop(fusion.inner)});
  const auto place = std::find(leaves_.begin(), leaves_.end(), fusion.outer);
  *place = fusion.fused;
  leaves_.erase(place + 1);
}

void StageLoops::run(const AxisOrder& order) {
  std::vector<size_t> places;
  std::vector<IterVar> axes;
  std::vector<LoopRef> loops;
  for (const IterVar& axis : order.axes) {
    const auto place = std::find(leaves_.begin(), leaves_.end(), axis);
    if (place == leaves_.end()) continue;
    places.push_back(static_cast<size_t>(place - leaves_.begin()));
    axes.push_back(axis);
    loops.push_back(loop(axis));
  }
  if (loops.empty()) return;
  steps::reorder(sch_, loops);
  std::sort(places.begin(), places.end());
  for (size_t n = 0; n < places.size(); ++n) leaves_[places[n]] = axes[n];
}

}  // namespace tilewright::schedule
