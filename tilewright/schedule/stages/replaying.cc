#include "tilewright/schedule/stages/replaying.h"

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/stages/tile_intrinsic.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/te/operation.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {

void Replaying::run() {
  for (const StageRef& stage : stages_.stages()) {
    if (const auto* scan = stage->op().as<te::TeScanNode>()) know_steps(stage.get(), scan);
    if (!is_computed(*stage)) continue;
    blocks_[stage.get()] = steps::get_block(sch_, names_.at(stage->op().get()), std::nullopt);
  }
  for (const StageRef& stage : stages_.stages()) {
    if (is_computed(*stage) && stage->attachment == Attachment::kInline)
      explained(*stage, "compute_inline()", [&] { steps::compute_inline(sch_, blocks_.at(stage.get())); });
  }
  for (size_t n = stages_.stages().size(); n-- > 0;) {
    const TensorStage& stage = *stages_.stages()[n];
    if (const auto* scan = stage.op().as<te::TeScanNode>()) replay_steps(stage, scan);
    if (is_computed(stage) && stage.attachment != Attachment::kInline) replay(stage);
  }
  for (const StageRef& stage : stages_.stages()) launch_once(*stage);
}

void Replaying::replay(const TensorStage& stage) {
  const BlockRef block = blocks_.at(&stage);
  const auto count = static_cast<int64_t>(te::outputs_of(stage.op()).size());
  for (int64_t n = 0; n < count; ++n) set_memory(stage, block, n);
  attach(stage, block);
  std::vector<IterVar> roots = stage.roots();
  std::vector<LoopRef> own = steps::get_loops(sch_, block);
  if (const InStep* step = step_around(stage)) {
    require_whole_steps(stage, *step);
    const std::vector<LoopRef>& around = step_loops_.at(step->scan);
    loops_[step->axis.get()] = around.back();
    own.erase(own.begin(), own.begin() + static_cast<long>(around.size()));
    roots.erase(roots.begin() + static_cast<long>(step->dim));
  }
  const size_t count_own = std::min(own.size(), roots.size());
  StageLoops loops(sch_, stage, roots, {own.end() - static_cast<long>(count_own), own.end()});
  note_ranges(stage, block, loops);
  replay(stage, loops);
  const size_t tile = first_of_tile(stage, loops.leaves());
  if (tile == loops.leaves().size()) split_init(stage, block, loops);
  for (size_t n = 0; n < tile; ++n) mark(stage, loops.leaves()[n], loops.loop(loops.leaves()[n]));
  if (tile < loops.leaves().size()) tensorize(stage, block, loops, tile);
}

void Replaying::replay(const TensorStage& stage, StageLoops& loops) {
  explained(stage, "the loops", [&] { loops.replay(); });
  for (const auto& [axis, loop] : loops.all()) loops_[axis] = loop;
}

void Replaying::note_ranges(const TensorStage& stage, BlockRef block, const StageLoops& loops) {
  Substitution first, names;
  for (const auto& [axis, loop] : loops_) {
    if (sch_.is_alive(loop))
      names[sch_.get(loop)->loop_var.get()] = static_cast<const IterVarNode*>(axis)->var;
  }
  for (const auto& [scan, around] : step_loops_) {
    for (size_t n = 0; n < std::min(around.size(), scan->leaves().size()); ++n)
      names[sch_.get(around[n])->loop_var.get()] = scan->leaves()[n]->var;
  }
  for (const auto& [axis, loop] : loops.all()) first[sch_.get(loop)->loop_var.get()] = sch_.get(loop)->min;
  const Block computed = sch_.get(block);
  std::vector<PrimExpr> values;
  walk(sch_.module(), [&](const BlockRealizeNode* realize) {
    if (realize->block == computed) values = realize->iter_values;
  });
  const std::vector<IterVar> roots = stage.roots();
  for (size_t n = 0; n < std::min(roots.size(), values.size()); ++n) {
    const auto own = loops.all().find(roots[n].get());
    const PrimExpr min = arith::simplify(substitute(substitute(values[n], first), names));
    const bool is_step = own == loops.all().end();  // of a scan: one at a time
    const PrimExpr extent = is_step ? imm(1, min->dtype) : substitute(sch_.get(own->second)->extent, names);
    roots_[roots[n].get()] = make_range(min, extent);
  }
}

std::string Replaying::scope_of(const TensorStage& stage) const {
  if (!stage.scope.empty()) return stage.scope;
  const InStep* step = step_around(stage);
  if (step && !step->is_update && !step->scan->env_threads.empty()) return "shared";
  bool is_in_block = false;
  const TensorStage* inner = &stage;
  while (inner->attachment == Attachment::kAt) {
    const std::shared_ptr<const TensorStage> parent = inner->attach_stage.lock();
    if (!parent) break;
    for (const IterVar& leaf : parent->leaves()) {
      const std::string tag = parent->mark(leaf).thread_tag;
      if (tag.starts_with("threadIdx")) return "local";
      is_in_block |= tag.starts_with("blockIdx");
      if (leaf == inner->attach_axis) break;
    }
    inner = parent.get();
  }
  return is_in_block ? "shared" : "global";
}

void Replaying::set_memory(const TensorStage& stage, BlockRef block, int64_t place) {
  const std::string scope = scope_of(stage);
  if (scope != "global")
    explained(stage, "the scope", [&] { steps::set_scope(sch_, block, {place}, scope); });
  for (const StorageAlign& align : stage.alignments)
    explained(stage, "storage_align",
              [&] { steps::storage_align(sch_, block, {place}, align.axis, align.factor, align.offset); });
  if (stage.is_double_buffered) steps::annotate(sch_, block, "double_buffer_scope", tir::imm(place));
}

void Replaying::attach(const TensorStage& stage, BlockRef block) {
  if (stage.attachment != Attachment::kAt || step_around(stage)) return;
  const std::shared_ptr<const TensorStage> parent = stage.attach_stage.lock();
  const auto found = loops_.find(stage.attach_axis.get());
  const bool is_leaf =
      parent && std::ranges::find(parent->leaves(), stage.attach_axis) != parent->leaves().end();
  if (!is_leaf || found == loops_.end())
    throw UserError("compute_at: stage {} goes inside of {}, whose axis {} is no loop any more", stage.name(),
                    parent ? parent->name() : "a stage that is gone", stage.attach_axis->var->name_hint)
        .help("call compute_at after the axes of the stage around are split and fused");
  explained(stage, fmt::format("compute_at(s[{}], {})", parent->name(), stage.attach_axis->var->name_hint),
            [&] { sch_.call("compute_at", block, found->second, true); });
}

void Replaying::split_init(const TensorStage& stage, BlockRef block, const StageLoops& loops) {
  std::optional<IterVar> first;
  for (const IterVar& leaf : loops.leaves()) {
    const AxisMark how = stage.mark(leaf);
    if (leaf->iter_type != IterType::kReduce) continue;
    if (!how.thread_tag.empty()) return;  // threads add up together
    if (!first) first = leaf;
  }
  if (!first) return;
  try {
    steps::decompose_reduction(sch_, block, loops.loop(*first));
  } catch (const UserError&) {
    // not for each element: then lowering puts the first value before the first term
  }
}

void Replaying::mark_all(const TensorStage& stage, const StageLoops& loops) {
  for (const IterVar& leaf : loops.leaves()) {
    if (!stage.mark(leaf).intrinsic.name.empty())
      throw Unsupported("tensorize: the steps of scan {} are no tile of intrinsic {}", stage.name(),
                        stage.mark(leaf).intrinsic.name)
          .help("tensorize axes of its update");
    mark(stage, leaf, loops.loop(leaf));
  }
}

void Replaying::mark(const TensorStage& stage, const IterVar& axis, LoopRef loop) {
  const AxisMark how = stage.mark(axis);
  const std::string& name = axis->var->name_hint;
  if (how.kind == ForKind::kParallel)
    explained(stage, fmt::format("parallel({})", name), [&] { steps::parallel(sch_, loop); });
  if (how.kind == ForKind::kVectorized)
    explained(stage, fmt::format("vectorize({})", name), [&] { steps::vectorize(sch_, loop); });
  if (how.kind == ForKind::kUnrolled)
    explained(stage, fmt::format("unroll({})", name), [&] { steps::unroll(sch_, loop); });
  if (how.kind == ForKind::kThreadBinding)
    explained(stage, fmt::format("bind({}, {})", name, how.thread_tag),
              [&] { steps::bind(sch_, loop, how.thread_tag); });
  for (const auto& [key, value] : how.annotations)
    explained(stage, fmt::format("pragma({}, {})", name, key),
              [&] { steps::annotate(sch_, loop, key, value); });
}

size_t Replaying::first_of_tile(const TensorStage& stage, const std::vector<IterVar>& leaves) {
  const auto has_intrinsic = [&](const IterVar& leaf) { return !stage.mark(leaf).intrinsic.name.empty(); };
  return static_cast<size_t>(std::ranges::find_if(leaves, has_intrinsic) - leaves.begin());
}

void Replaying::tensorize(const TensorStage& stage, BlockRef block, const StageLoops& loops, size_t first) {
  StageTile tile{stage, block, loops.leaves(), {}, first, stage.mark(loops.leaves()[first]).intrinsic};
  for (const IterVar& leaf : tile.leaves) tile.loops.push_back(loops.loop(leaf));
  for (size_t n = first; n < tile.leaves.size(); ++n) {
    for (const auto& [key, value] : stage.mark(tile.leaves[n]).annotations)
      steps::annotate(sch_, steps::add_unit_loop(sch_, tile.loops[first]), key, value);
  }
  explained(stage, fmt::format("tensorize({}, {})", tile.leaves[first]->var->name_hint, tile.intrinsic.name),
            [&] { tensorize_tile(sch_, tile); });
}

std::vector<Replayed::Prefetch> Replaying::prefetches(const std::map<te::TensorKey, Buffer>& buffers) const {
  std::vector<Replayed::Prefetch> found;
  for (const StageRef& stage : stages_.stages()) {
    for (const AxisPrefetch& each : stage->prefetches) {
      const auto loop = loops_.find(each.axis.get());
      if (loop == loops_.end() || !sch_.is_alive(loop->second))
        throw UserError("prefetch: axis {} of stage {} is no loop any more", each.axis->var->name_hint,
                        stage->name())
            .help("give an axis of the stage that is neither split nor fused");
      if (sch_.get(loop->second)->for_kind == ForKind::kVectorized)
        throw Unsupported("prefetch: axis {} of stage {} is vectorized, and a hint is for one line",
                          each.axis->var->name_hint, stage->name())
            .help("give the axis around it");
      const te::Tensor tensor = stages_.current(each.tensor);
      const auto given = buffers.find(te::key_of(tensor.get()));
      const auto block = names_.find(tensor->op.get());
      if (given != buffers.end())
        found.push_back({loop->second, given->second, each.offset});
      else if (block != names_.end() && stages_.stage(tensor->op)->attachment != Attachment::kInline)
        found.push_back({loop->second,
                         sch_.get(blocks_.at(stages_.stage(tensor->op).get()))
                             ->writes[static_cast<size_t>(tensor->value_index)]
                             ->buffer,
                         each.offset});
    }
  }
  return found;
}

}  // namespace tilewright::schedule
