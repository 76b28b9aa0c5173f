// The decisions of stages as steps of a schedule of blocks: stages become blocks, readers first get their loops, then
// what is computed inside of these.
//   StageSchedule s: xo, xi = s[C].split(x, 32)    ->    sch.split(loop of x, [None, 32])
// Each step proves that it is legal, as for everybody who calls it.
#pragma once
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/schedule/schedule.h"
#include "tilewright/schedule/stages/axis_values.h"
#include "tilewright/schedule/stages/stage_schedule.h"

namespace tilewright::schedule {

struct ReplayOptions {
  std::string name = "main";  // of the function
  /// Memory of arguments that is not compact: strides, offsets.
  std::vector<std::pair<te::Tensor, Buffer>> buffers = {};
};

struct Replayed {
  Schedule sch;
  std::unordered_map<const Object*, LoopRef> loops;  // by axis
  AxisRanges roots;  // of the axes of operations, in terms of the axes of loops around
  /// The function, whose loops are called as the axes of stages: i.outer is i_outer.
  PrimFunc named_func() const;
};

/// The schedule of blocks that `stages` describes.
///
/// args  tensors and scalar variables in the order of the function's parameters; if no output of the schedule is among them,
///       the function computes all outputs into memory of its own
///
/// Raises UserError if a tensor of `args` is none of the schedule, or if a step is not legal; the text names the
/// stage and what was asked for.
Replayed replay_stages(const StageSchedule& stages, const std::vector<ObjectRef>& args,
                       const ReplayOptions& options = {});

}  // namespace tilewright::schedule
