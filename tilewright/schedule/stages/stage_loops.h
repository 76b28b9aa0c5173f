// The loops of one stage while its decisions are replayed: which loop an axis has now.
#pragma once
#include <unordered_map>
#include <vector>

#include "tilewright/schedule/schedule.h"
#include "tilewright/schedule/stages/tensor_stage.h"

namespace tilewright::schedule {

using LoopsByAxis = std::unordered_map<const Object*, LoopRef>;

class StageLoops {
 public:
  /// `roots` are the axes of `loops`, outermost first; a reduction without terms has fewer loops than axes.
  StageLoops(Schedule& sch, const TensorStage& stage, const std::vector<IterVar>& roots,
             const std::vector<LoopRef>& loops);

  /// Splits, fuses and reorders the loops as the stage says.  An axis that is none of them keeps its place.
  void replay();

  LoopRef loop(const IterVar& axis) const { return loops_.at(axis.get()); }
  /// Outermost first.
  const std::vector<IterVar>& leaves() const { return leaves_; }
  const LoopsByAxis& all() const { return loops_; }

 private:
  void run(const AxisSplit& split);
  void run(const AxisFusion& fusion);
  void run(const AxisOrder& order);

  Schedule& sch_;
  const TensorStage& stage_;
  std::vector<IterVar> leaves_;
  LoopsByAxis loops_;
};

}  // namespace tilewright::schedule
