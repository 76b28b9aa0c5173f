// The steps of a scan: one loop around all that it computes in each of them.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/schedule/stages/replaying.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/te/scan_cell.h"

namespace tilewright::schedule {

void Replaying::know_steps(const TensorStage* stage, const te::TeScanNode* scan) {
  for (const te::CellPart& part : te::cell_of(scan)) {
    const bool is_update = std::ranges::any_of(
        scan->update, [&](const auto& update) { return update->op.get() == part.op.get(); });
    in_steps_[part.op.get()] = {stage, part.op.as<te::TeComputeNode>()->axis[part.dim], part.dim, is_update};
  }
}

bool Replaying::is_step_axis(const TensorStage* part, const IterVar& axis) const {
  const InStep* step = part ? step_around(*part) : nullptr;
  return step && step->axis == axis;
}

const Replaying::InStep* Replaying::step_around(const TensorStage& stage) const {
  const auto found = in_steps_.find(stage.op().get());
  if (found == in_steps_.end()) return nullptr;
  const std::shared_ptr<const TensorStage> parent = stage.attach_stage.lock();
  const bool is_elsewhere = stage.attachment == Attachment::kAt && parent.get() != found->second.scan &&
                            !is_step_axis(parent.get(), stage.attach_axis);
  return is_elsewhere ? nullptr : &found->second;
}

void Replaying::replay_steps(const TensorStage& stage, const te::TeScanNode* scan) {
  const auto update = names_.find(scan->update[0]->op.get());
  if (update == names_.end()) return;
  for (const auto& written : scan->update) {
    const BlockRef block = steps::get_block(sch_, names_.at(written->op.get()), std::nullopt);
    set_memory(stage, block, written->value_index);
  }
  const BlockRef block = steps::get_block(sch_, update->second, std::nullopt);
  StageLoops loops(sch_, stage, scan->axis, {steps::get_loops(sch_, block).front()});
  replay(stage, loops);
  mark_all(stage, loops);
  for (const IterVar& leaf : loops.leaves()) step_loops_[&stage].push_back(loops.loop(leaf));
}

void Replaying::require_whole_steps(const TensorStage& stage, const InStep& step) {
  const AxisMark how = stage.mark(step.axis);
  bool is_changed = how.kind != ForKind::kSerial || !how.intrinsic.name.empty();
  for (const AxisStep& each : stage.steps()) {
    const auto* split = std::get_if<AxisSplit>(&each);
    const auto* fusion = std::get_if<AxisFusion>(&each);
    is_changed |= split && split->parent == step.axis;
    is_changed |= fusion && (fusion->outer == step.axis || fusion->inner == step.axis);
  }
  if (!is_changed) return;
  throw Unsupported("axis {} of stage {} has one iteration: that of a step of scan {}",
                    step.axis->var->name_hint, stage.name(), step.scan->name())
      .help("the loop of the steps is s[{}].op.scan_axis", step.scan->name());
}

bool Replaying::is_part_of(const TensorStage& stage, const TensorStage& scan) const {
  const InStep* step = step_around(stage);
  return step && step->scan == &scan && is_computed(stage) && stage.attachment != Attachment::kInline;
}

void Replaying::launch_once(const TensorStage& scan) {
  const auto found = step_loops_.find(&scan);
  if (scan.env_threads.empty() || found == step_loops_.end()) return;
  const auto is_wanted = [&](const std::string& tag) {
    return std::ranges::find(scan.env_threads, tag) != scan.env_threads.end();
  };
  std::vector<LoopRef> order;
  std::vector<std::string> parts;
  for (const StageRef& part : stages_.stages()) {
    if (!is_part_of(*part, scan)) continue;
    parts.push_back(part->name());
    const bool is_bound = std::ranges::any_of(
        part->leaves(), [&](const IterVar& leaf) { return !part->mark(leaf).thread_tag.empty(); });
    if (!is_bound && !te::reduce_axes_of(part->op()).empty())
      throw Unsupported(
          "env_threads: no loop of stage {} in the steps of scan {} is bound to threads, so all of "
          "them would add up its sum",
          part->name(), scan.name())
          .help("bind an axis of it, or compute it inside of a stage that is bound");
    for (const IterVar& leaf : part->leaves()) {
      const std::string tag = part->mark(leaf).thread_tag;
      if (is_wanted(tag)) order.push_back(loops_.at(leaf.get()));
      if (tag.starts_with("blockIdx") && !is_wanted(tag))
        throw UserError(
            "env_threads: stage {} binds {} in the steps of scan {}, which env_threads does not name",
            part->name(), tag, scan.name())
            .help("name it, or leave env_threads out: then each step is a launch");
    }
  }
  const std::string names = fmt::to_string(fmt::join(scan.env_threads, ", "));
  if (order.empty())
    throw UserError("env_threads: no loop in the steps of scan {} is bound to {}", scan.name(), names)
        .help("bind axes of its update to them");
  if (!std::ranges::any_of(scan.env_threads, [](const auto& tag) { return tag.starts_with("blockIdx"); })) {
    explained(scan, fmt::format("env_threads({})", names),
              [&] { steps::bind(sch_, steps::add_unit_loop(sch_, found->second.front()), "blockIdx.x"); });
    return;
  }
  if (parts.size() > 1)
    throw Unsupported(
        "env_threads: a step of scan {} computes {} one after the other, and blocks of threads "
        "cannot wait for each other",
        scan.name(), fmt::to_string(fmt::join(parts, ", ")))
        .help("compute one inside of the other's loops, or name axes of threads alone");
  order.insert(order.end(), found->second.begin(), found->second.end());
  explained(scan, fmt::format("env_threads({})", names), [&] { steps::reorder(sch_, order); });
}

}  // namespace tilewright::schedule
