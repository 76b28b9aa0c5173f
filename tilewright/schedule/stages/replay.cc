#include "tilewright/schedule/stages/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/ir/module.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/stages/inlined_arguments.h"
#include "tilewright/schedule/stages/stage_loops.h"
#include "tilewright/schedule/stages/tile_intrinsic.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/support/error.h"
#include "tilewright/support/format.h"
#include "tilewright/te/create_prim_func.h"
#include "tilewright/te/scan_cell.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

class Replaying {
 public:
  Replaying(Schedule& sch, const StageSchedule& stages, std::unordered_map<const Object*, std::string> blocks)
      : sch_(sch), stages_(stages), names_(std::move(blocks)) {}

  void run() {
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

  AxisRanges take_roots() { return std::move(roots_); }
  /// By axis; that of the steps is the scan's.
  LoopsByAxis take_loops() {
    for (const auto& [op, step] : in_steps_) loops_.erase(step.axis.get());
    return std::move(loops_);
  }

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

  void know_steps(const TensorStage* stage, const te::TeScanNode* scan) {
    for (const te::CellPart& part : te::cell_of(scan)) {
      const bool is_update = std::ranges::any_of(
          scan->update, [&](const auto& update) { return update->op.get() == part.op.get(); });
      in_steps_[part.op.get()] = {stage, part.op.as<te::TeComputeNode>()->axis[part.dim], part.dim,
                                  is_update};
    }
  }

  // True for the axis of a part that stands for the loop of the steps.
  bool is_step_axis(const TensorStage* part, const IterVar& axis) const {
    const InStep* step = part ? step_around(*part) : nullptr;
    return step && step->axis == axis;
  }

  // The step that has `stage` among its parts, not in a loop of one of them; or null.
  const InStep* step_around(const TensorStage& stage) const {
    const auto found = in_steps_.find(stage.op().get());
    if (found == in_steps_.end()) return nullptr;
    const std::shared_ptr<const TensorStage> parent = stage.attach_stage.lock();
    const bool is_elsewhere = stage.attachment == Attachment::kAt && parent.get() != found->second.scan &&
                              !is_step_axis(parent.get(), stage.attach_axis);
    return is_elsewhere ? nullptr : &found->second;
  }

  // The loop of the steps is around all that a scan computes in them.
  void replay_steps(const TensorStage& stage, const te::TeScanNode* scan) {
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

  void replay(const TensorStage& stage) {
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

  void replay(const TensorStage& stage, StageLoops& loops) {
    explained(stage, "the loops", [&] { loops.replay(); });
    for (const auto& [axis, loop] : loops.all()) loops_[axis] = loop;
  }

  // What the axes of the operation run over, before they are split.
  void note_ranges(const TensorStage& stage, BlockRef block, const StageLoops& loops) {
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

  // The loop of the steps is that of the scan: the axis of a part can be reordered, which changes nothing, and no more.
  static void require_whole_steps(const TensorStage& stage, const InStep& step) {
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

  bool is_part_of(const TensorStage& stage, const TensorStage& scan) const {
    const InStep* step = step_around(stage);
    return step && step->scan == &scan && is_computed(stage) && stage.attachment != Attachment::kInline;
  }

  // env_threads: one kernel has all steps.  Where blocks share the work, their loops go around that of the steps, which
  // proves that no step needs what another thread did; the threads of a single block can wait for each other.
  void launch_once(const TensorStage& scan) {
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

  // Where nothing was said: what one thread computes for itself lies in its registers, what a block of threads computes is
  // shared.
  std::string scope_of(const TensorStage& stage) const {
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

  // Of the buffer number `place` of those that the block writes.
  void set_memory(const TensorStage& stage, BlockRef block, int64_t place) {
    const std::string scope = scope_of(stage);
    if (scope != "global")
      explained(stage, "the scope", [&] { steps::set_scope(sch_, block, {place}, scope); });
    for (const StorageAlign& align : stage.alignments)
      explained(stage, "storage_align",
                [&] { steps::storage_align(sch_, block, {place}, align.axis, align.factor, align.offset); });
    if (stage.is_double_buffered) steps::annotate(sch_, block, "double_buffer_scope", tir::imm(place));
  }

  void attach(const TensorStage& stage, BlockRef block) {
    if (stage.attachment != Attachment::kAt || step_around(stage)) return;
    const std::shared_ptr<const TensorStage> parent = stage.attach_stage.lock();
    const auto found = loops_.find(stage.attach_axis.get());
    const bool is_leaf =
        parent && std::ranges::find(parent->leaves(), stage.attach_axis) != parent->leaves().end();
    if (!is_leaf || found == loops_.end())
      throw UserError("compute_at: stage {} goes inside of {}, whose axis {} is no loop any more",
                      stage.name(), parent ? parent->name() : "a stage that is gone",
                      stage.attach_axis->var->name_hint)
          .help("call compute_at after the axes of the stage around are split and fused");
    explained(stage, fmt::format("compute_at(s[{}], {})", parent->name(), stage.attach_axis->var->name_hint),
              [&] { sch_.call("compute_at", block, found->second, true); });
  }

  // Before the loops of terms begin, all results have their first value.
  void split_init(const TensorStage& stage, BlockRef block, const StageLoops& loops) {
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

  void mark_all(const TensorStage& stage, const StageLoops& loops) {
    for (const IterVar& leaf : loops.leaves()) {
      if (!stage.mark(leaf).intrinsic.name.empty())
        throw Unsupported("tensorize: the steps of scan {} are no tile of intrinsic {}", stage.name(),
                          stage.mark(leaf).intrinsic.name)
            .help("tensorize axes of its update");
      mark(stage, leaf, loops.loop(leaf));
    }
  }

  void mark(const TensorStage& stage, const IterVar& axis, LoopRef loop) {
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

  // The place of the leaf whose loop an intrinsic computes; behind the last one if there is none.
  static size_t first_of_tile(const TensorStage& stage, const std::vector<IterVar>& leaves) {
    const auto has_intrinsic = [&](const IterVar& leaf) { return !stage.mark(leaf).intrinsic.name.empty(); };
    return static_cast<size_t>(std::ranges::find_if(leaves, has_intrinsic) - leaves.begin());
  }

  // What was said about loops of the tile goes to a loop around it: the tile has none any more.
  void tensorize(const TensorStage& stage, BlockRef block, const StageLoops& loops, size_t first) {
    StageTile tile{stage, block, loops.leaves(), {}, first, stage.mark(loops.leaves()[first]).intrinsic};
    for (const IterVar& leaf : tile.leaves) tile.loops.push_back(loops.loop(leaf));
    for (size_t n = first; n < tile.leaves.size(); ++n) {
      for (const auto& [key, value] : stage.mark(tile.leaves[n]).annotations)
        steps::annotate(sch_, steps::add_unit_loop(sch_, tile.loops[first]), key, value);
    }
    explained(stage,
              fmt::format("tensorize({}, {})", tile.leaves[first]->var->name_hint, tile.intrinsic.name),
              [&] { tensorize_tile(sch_, tile); });
  }

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

std::string identifier(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

PrimFunc Replayed::named_func() const {
  std::unordered_map<const Object*, Var> names;  // of loop variables
  for (const auto& [axis, loop] : loops) {
    if (!sch.is_alive(loop)) continue;
    const Var var = sch.get(loop)->loop_var;
    const auto* iter = static_cast<const IterVarNode*>(axis);
    names[var.get()] = make_var(identifier(iter->var->name_hint), var->dtype);
  }
  const auto func = ir::ref_as<PrimFuncNode>(sch.module()->functions[0]);
  Stmt body = rewrite(
      func->body,
      [&](auto& self, const ForNode* loop) -> Stmt {
        const For inside = self.children(loop);
        const auto found = names.find(loop->loop_var.get());
        if (found == names.end()) return inside;
        return with(inside, [&](ForNode& named) { named.loop_var = found->second; });
      },
      [&](auto& self, const VarNode* var) -> PrimExpr {
        const auto found = names.find(var);
        return found == names.end() ? PrimExpr(var) : PrimExpr(found->second);
      });
  return with(func, [&](PrimFuncNode& named) { named.body = std::move(body); });
}

namespace {

// What a schedule computes if no argument is one of its outputs: all of them, into memory of the function.
std::vector<te::Operation> outputs_beside(const StageSchedule& stages, const std::vector<ObjectRef>& args) {
  std::vector<te::Operation> outputs;
  for (const StageRef& stage : stages.stages()) {
    if (stage->is_output) outputs.push_back(stage->op());
  }
  const bool has_output = std::ranges::any_of(args, [&](const ObjectRef& arg) {
    const auto* tensor = arg.as<te::TeTensorNode>();
    return tensor && std::ranges::find(outputs, tensor->op) != outputs.end();
  });
  return has_output ? std::vector<te::Operation>{} : outputs;
}

}  // namespace

Replayed replay_stages(const StageSchedule& stages, const std::vector<ObjectRef>& args,
                       const ReplayOptions& options) {
  std::vector<ObjectRef> current;
  for (const ObjectRef& arg : args) {
    const auto tensor = ir::ref_as<te::TeTensorNode>(arg);
    current.push_back(tensor ? ObjectRef(stages.current(te::Tensor(tensor))) : arg);
  }
  const WithCopies copies(stages, current);
  te::CreateOptions create{.global_symbol = options.name};
  for (const te::Operation& output : outputs_beside(stages, current))
    create.computed_too.push_back(copies.operation(output));
  for (ObjectRef& arg : current) {
    const auto tensor = ir::ref_as<te::TeTensorNode>(arg);
    if (tensor) arg = copies.argument(te::Tensor(tensor));
  }
  for (const auto& [tensor, buffer] : options.buffers)
    create.buffers.emplace_back(copies.argument(stages.current(tensor)), buffer);
  const te::CreatedFunc created = te::create_named_blocks(current, create);
  std::unordered_map<const Object*, std::string> blocks;  // by operation of a stage
  for (const StageRef& stage : stages.stages()) {
    const auto found = created.blocks.find(copies.operation(stage->op()).get());
    if (found != created.blocks.end()) blocks[stage->op().get()] = found->second;
  }
  Replayed replayed{
      Schedule(ir::with_function(ir::IRModuleNode::make(), options.name, created.func)), {}, {}};
  Replaying replaying(replayed.sch, stages, std::move(blocks));
  replaying.run();
  replayed.loops = replaying.take_loops();
  replayed.roots = replaying.take_roots();
  return replayed;
}

}  // namespace tilewright::schedule
