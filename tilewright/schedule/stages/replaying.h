// Replays the decisions of stages as primitives of a schedule of blocks, consumers first: a stage that is computed inside
// of another's loop finds that loop.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/schedule/stages/replay.h"
#include "tilewright/schedule/stages/stage_loops.h"
#include "tilewright/schedule/stages/stage_schedule.h"
#include "tilewright/support/error.h"
#include "tilewright/support/format.h"
#include "tilewright/te/operation.h"
#include "tilewright/te/te.h"

namespace tilewright::schedule {

class Replaying {
 public:
  Replaying(Schedule& sch, const StageSchedule& stages, std::unordered_map<const Object*, std::string> blocks)
      : sch_(sch), stages_(stages), names_(std::move(blocks)) {}

  void run();

  /// `buffers` are those of arguments, by tensor.
  std::vector<Replayed::Prefetch> prefetches(const std::map<te::TensorKey, Buffer>& buffers) const;
  /// By axis; that of the steps is the scan's.
  LoopsByAxis take_loops() {
    for (const auto& [op, step] : in_steps_) loops_.erase(step.axis.get());
    return std::move(loops_);
  }
  AxisRanges take_roots() { return std::move(roots_); }

 private:
  // What a scan computes in each of its steps.
  struct InStep {
    const TensorStage* scan;
    IterVar axis;  // that of the step
    size_t dim;    // its place among the axes
    bool is_update;
  };

  // Also false for operations that no argument of the function needs.
  bool is_computed(const TensorStage& stage) const { return names_.contains(stage.op().get()); }

  void know_steps(const TensorStage* stage, const te::TeScanNode* scan);
  // True for the axis of a part that stands for the loop of the steps.
  bool is_step_axis(const TensorStage* part, const IterVar& axis) const;
  // The step that has `stage` among its parts, not in a loop of one of them; or null.
  const InStep* step_around(const TensorStage& stage) const;
  // The loop of the steps is around all that a scan computes in them.
  void replay_steps(const TensorStage& stage, const te::TeScanNode* scan);
  void replay(const TensorStage& stage);
  void replay(const TensorStage& stage, StageLoops& loops);
  // The loop of the steps is that of the scan: the axis of a part can be reordered, which changes nothing, and no more.
  static void require_whole_steps(const TensorStage& stage, const InStep& step);
  bool is_part_of(const TensorStage& stage, const TensorStage& scan) const;
  // env_threads: one kernel has all steps.  Where blocks share the work, their loops go around that of the steps, which
  // proves that no step needs what another thread did; the threads of a single block can wait for each other.
  void launch_once(const TensorStage& scan);
  // What the axes of the operation run over, before they are split.
  void note_ranges(const TensorStage& stage, BlockRef block, const StageLoops& loops);
  // Where nothing was said: what one thread computes for itself lies in its registers, what a block of threads computes is
  // shared.
  std::string scope_of(const TensorStage& stage) const;
  // Of the buffer number `place` of those that the block writes.
  void set_memory(const TensorStage& stage, BlockRef block, int64_t place);
  void attach(const TensorStage& stage, BlockRef block);
  // Before the loops of terms begin, all results have their first value.
  void split_init(const TensorStage& stage, BlockRef block, const StageLoops& loops);
  void mark_all(const TensorStage& stage, const StageLoops& loops);
  void mark(const TensorStage& stage, const IterVar& axis, LoopRef loop);
  // The place of the leaf whose loop an intrinsic computes; behind the last one if there is none.
  static size_t first_of_tile(const TensorStage& stage, const std::vector<IterVar>& leaves);
  // What was said about loops of the tile goes to a loop around it: the tile has none any more.
  void tensorize(const TensorStage& stage, BlockRef block, const StageLoops& loops, size_t first);

  // Errors of `step` say which decision of which stage it was.
  template <class F>
  void explained(const TensorStage& stage, const std::string& what, const F& step) const {
    try {
      step();
    } catch (UserError& error) {
      error.add_note({}, fmt::format("this is {} of stage {}", what, stage.name()));
      throw;
    }
  }

  Schedule& sch_;
  const StageSchedule& stages_;
  std::unordered_map<const Object*, std::string> names_;  // of blocks, by operation
  std::unordered_map<const TensorStage*, BlockRef> blocks_;
  std::unordered_map<const Object*, InStep> in_steps_;                       // by operation
  std::unordered_map<const TensorStage*, std::vector<LoopRef>> step_loops_;  // by scan, outermost first
  LoopsByAxis loops_;
  AxisRanges roots_;
};

}  // namespace tilewright::schedule
