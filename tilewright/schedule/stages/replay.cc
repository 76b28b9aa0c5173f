#include "tilewright/schedule/stages/replay.h"

#include <algorithm>

#include "tilewright/ir/module.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/stages/tile_intrinsic.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/support/error.h"
#include "tilewright/support/format.h"
#include "tilewright/te/create_prim_func.h"
#include "tilewright/te/scan.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

using LoopsByAxis = std::unordered_map<const Object*, LoopRef>;

// The loops of one stage, in the order of its leaves.
class StageLoops {
 public:
  StageLoops(Schedule& sch, const TensorStage& stage, std::vector<LoopRef> loops) : sch_(sch), stage_(stage) {
    // a reduction without terms has no loops for them
    const std::vector<IterVar> roots = stage.roots();
    for (size_t n = 0; n < std::min(loops.size(), roots.size()); ++n) {
      leaves_.push_back(roots[n]);
      loops_[roots[n].get()] = loops[n];
    }
  }

  void replay() {
    for (const AxisStep& step : stage_.steps()) std::visit([&](const auto& each) { run(each); }, step);
  }

  LoopRef loop(const IterVar& axis) const { return loops_.at(axis.get()); }
  const std::vector<IterVar>& leaves() const { return leaves_; }
  const LoopsByAxis& all() const { return loops_; }

 private:
  void run(const AxisSplit& split) {
    const Factor given = factor_of(split.factor ? split.factor : split.nparts);
    const Factors factors = split.factor ? Factors{None{}, given} : Factors{given, None{}};
    const std::vector<LoopRef> parts = steps::split(sch_, loop(split.parent), factors);
    const auto place = std::find(leaves_.begin(), leaves_.end(), split.parent);
    *place = split.outer;
    leaves_.insert(place + 1, split.inner);
    loops_[split.outer.get()] = parts[0];
    loops_[split.inner.get()] = parts[1];
  }

  void run(const AxisFusion& fusion) {
    loops_[fusion.fused.get()] = steps::fuse(sch_, {loop(fusion.outer), loop(fusion.inner)});
    const auto place = std::find(leaves_.begin(), leaves_.end(), fusion.outer);
    *place = fusion.fused;
    leaves_.erase(place + 1);
  }

  void run(const AxisOrder& order) {
    std::vector<size_t> places;
    std::vector<LoopRef> loops;
    for (const IterVar& axis : order.axes) {
      places.push_back(
          static_cast<size_t>(std::find(leaves_.begin(), leaves_.end(), axis) - leaves_.begin()));
      loops.push_back(loop(axis));
    }
    steps::reorder(sch_, loops);
    std::sort(places.begin(), places.end());
    for (size_t n = 0; n < places.size(); ++n) leaves_[places[n]] = order.axes[n];
  }

  static Factor factor_of(const PrimExpr& number) {
    int64_t value = 0;
    if (as_const_int(number, &value)) return Factor(value);
    throw Unsupported("split: the factor {} is not a constant", tir::expr_text(number));
  }

  Schedule& sch_;
  const TensorStage& stage_;
  std::vector<IterVar> leaves_;
  LoopsByAxis loops_;
};

class Replaying {
 public:
  Replaying(Schedule& sch, const StageSchedule& stages, std::unordered_map<const Object*, std::string> blocks)
      : sch_(sch), stages_(stages), names_(std::move(blocks)) {}

  void run() {
    for (const StageRef& stage : stages_.stages()) {
      if (!is_computed(*stage)) continue;
      blocks_[stage.get()] = steps::get_block(sch_, names_.at(stage->op().get()), std::nullopt);
    }
    for (const StageRef& stage : stages_.stages()) {
      if (is_computed(*stage) && stage->attachment == Attachment::kInline)
        explained(*stage, "compute_inline()", [&] { steps::compute_inline(sch_, blocks_.at(stage.get())); });
    }
    for (size_t n = stages_.stages().size(); n-- > 0;) {
      const TensorStage& stage = *stages_.stages()[n];
      if (const auto* scan = stage.op().as<te::TeScanNode>()) add_steps(stage, scan);
      if (is_computed(stage) && stage.attachment != Attachment::kInline) replay(stage);
    }
  }

  LoopsByAxis take_loops() { return std::move(loops_); }
  AxisRanges take_roots() { return std::move(roots_); }

 private:
  // Also false for operations that no argument of the function needs.
  bool is_computed(const TensorStage& stage) const { return names_.contains(stage.op().get()); }

  // The loop of the axis of a scan is that around its updates, which become blocks; it is in order.
  void add_steps(const TensorStage& stage, const te::TeScanNode* scan) {
    const auto update = names_.find(scan->update[0]->op.get());
    if (update == names_.end()) return;
    const IterVar& axis = scan->axis[0];
    const AxisMark how = stage.mark(axis);
    if (stage.steps().empty() && how.kind == ForKind::kSerial && how.intrinsic.name.empty()) {
      loops_[axis.get()] =
          steps::get_loops(sch_, steps::get_block(sch_, update->second, std::nullopt)).front();
      return;
    }
    throw Unsupported("the steps of scan {} run in order: its axis {} has one loop, which is serial",
                      stage.name(), axis->var->name_hint)
        .help("split, bind and parallel take the axes of its update");
  }

  // True for what a scan computes in each of its steps anyhow.
  static bool is_in_steps(const TensorStage& stage, const TensorStage& around) {
    const auto* scan = around.op().as<te::TeScanNode>();
    if (!scan) return false;
    const std::vector<te::Operation> cell = te::cell_of(scan);
    return std::find(cell.begin(), cell.end(), stage.op()) != cell.end();
  }

  void replay(const TensorStage& stage) {
    const BlockRef block = blocks_.at(&stage);
    set_memory(stage, block);
    attach(stage, block);
    const std::vector<LoopRef> around = steps::get_loops(sch_, block);
    const size_t own = std::min(around.size(), stage.roots().size());
    StageLoops loops(sch_, stage, {around.end() - static_cast<long>(own), around.end()});
    note_ranges(stage, block, loops);
    explained(stage, "the loops", [&] { loops.replay(); });
    const size_t tile = first_of_tile(stage, loops.leaves());
    if (tile == loops.leaves().size()) split_init(stage, block, loops);
    for (size_t n = 0; n < tile; ++n) mark(stage, loops.leaves()[n], loops.loop(loops.leaves()[n]));
    if (tile < loops.leaves().size()) tensorize(stage, block, loops, tile);
    for (const auto& [axis, loop] : loops.all()) loops_[axis] = loop;
  }

  // What the axes of the operation run over, before they are split.
  void note_ranges(const TensorStage& stage, BlockRef block, const StageLoops& loops) {
    Substitution first, names;
    for (const auto& [axis, loop] : loops_) {
      if (sch_.is_alive(loop))
        names[sch_.get(loop)->loop_var.get()] = static_cast<const IterVarNode*>(axis)->var;
    }
    for (const auto& [axis, loop] : loops.all()) first[sch_.get(loop)->loop_var.get()] = sch_.get(loop)->min;
    const Block computed = sch_.get(block);
    std::vector<PrimExpr> values;
    walk(sch_.module(), [&](const BlockRealizeNode* realize) {
      if (realize->block == computed) values = realize->iter_values;
    });
    const std::vector<IterVar> roots = stage.roots();
    for (size_t n = 0; n < std::min(loops.leaves().size(), values.size()); ++n) {
      const For loop = sch_.get(loops.loop(roots[n]));
      const PrimExpr min = substitute(substitute(values[n], first), names);
      roots_[roots[n].get()] = make_range(arith::simplify(min), substitute(loop->extent, names));
    }
  }

  // Where nothing was said: what one thread computes for itself lies in its registers, what a block of threads computes is
  // shared.
  static std::string scope_of(const TensorStage& stage) {
    if (!stage.scope.empty()) return stage.scope;
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

  void set_memory(const TensorStage& stage, BlockRef block) {
    const std::string scope = scope_of(stage);
    const auto count = static_cast<int64_t>(te::outputs_of(stage.op()).size());
    for (int64_t n = 0; n < count; ++n) {
      if (scope != "global")
        explained(stage, "the scope", [&] { steps::set_scope(sch_, block, {n}, scope); });
      for (const StorageAlign& align : stage.alignments)
        explained(stage, "storage_align",
                  [&] { steps::storage_align(sch_, block, {n}, align.axis, align.factor, align.offset); });
      if (stage.is_double_buffered) steps::annotate(sch_, block, "double_buffer_scope", tir::imm(n));
    }
  }

  void attach(const TensorStage& stage, BlockRef block) {
    if (stage.attachment != Attachment::kAt) return;
    const std::shared_ptr<const TensorStage> parent = stage.attach_stage.lock();
    if (parent && is_in_steps(stage, *parent)) return;
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

Replayed replay_stages(const StageSchedule& stages, const std::vector<ObjectRef>& args,
                       const ReplayOptions& options) {
  std::vector<ObjectRef> current;
  for (const ObjectRef& arg : args) {
    const auto tensor = ir::ref_as<te::TeTensorNode>(arg);
    current.push_back(tensor ? ObjectRef(stages.current(te::Tensor(tensor))) : arg);
  }
  te::CreateOptions create{.global_symbol = options.name};
  for (const auto& [tensor, buffer] : options.buffers)
    create.buffers.emplace_back(stages.current(tensor), buffer);
  te::CreatedFunc created = te::create_named_blocks(current, create);
  Replayed replayed{
      Schedule(ir::with_function(ir::IRModuleNode::make(), options.name, created.func)), {}, {}};
  Replaying replaying(replayed.sch, stages, std::move(created.blocks));
  replaying.run();
  replayed.loops = replaying.take_loops();
  replayed.roots = replaying.take_roots();
  return replayed;
}

}  // namespace tilewright::schedule
