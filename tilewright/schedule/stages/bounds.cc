#include "tilewright/schedule/stages/bounds.h"

#include <algorithm>

#include "tilewright/schedule/stages/axis_values.h"
#include "tilewright/schedule/stages/replay.h"
#include "tilewright/te/operation.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// Placeholders that stand for the states of scans.
std::vector<te::Operation> states_of(const StageSchedule& stages) {
  std::vector<te::Operation> states;
  for (const StageRef& stage : stages.stages()) {
    const auto* scan = stage->op().as<te::TeScanNode>();
    for (size_t n = 0; scan && n < scan->state.size(); ++n) states.push_back(scan->state[n]->op);
  }
  return states;
}

// Inputs, then results.
std::vector<ObjectRef> arguments_of(const StageSchedule& stages) {
  const std::vector<te::Operation> states = states_of(stages);
  std::vector<ObjectRef> args;
  for (const bool is_output : {false, true}) {
    for (const StageRef& stage : stages.stages()) {
      const bool is_input = is<te::TePlaceholderNode>(stage->op());
      if (std::ranges::find(states, stage->op()) != states.end()) continue;
      if (is_output ? !stage->is_output || is_input : !is_input) continue;
      for (const te::Tensor& tensor : te::outputs_of(stage->op())) args.emplace_back(tensor);
    }
  }
  return args;
}

}  // namespace

std::vector<std::pair<IterVar, Range>> infer_bounds(const StageSchedule& stages) {
  const Replayed replayed = replay_stages(stages, arguments_of(stages));
  std::vector<std::pair<IterVar, Range>> bounds;
  for (const StageRef& stage : stages.stages()) {
    const std::vector<IterVar> roots = stage->roots();
    if (std::ranges::none_of(roots, [&](const IterVar& root) { return replayed.roots.contains(root.get()); }))
      continue;
    const AxisValues values(*stage, replayed.roots);
    for (const IterVar& axis : stage->axes()) {
      const PrimExpr extent = values.extent(axis);
      const auto root = replayed.roots.find(axis.get());
      const Range range = make_range(imm(0, extent->dtype), extent);
      bounds.emplace_back(axis, root == replayed.roots.end() ? range : root->second);
      if (const IterVar thread = stage->mark(axis).thread) bounds.emplace_back(thread, range);
    }
  }
  return bounds;
}

}  // namespace tilewright::schedule
