#include "tilewright/schedule/stages/stage_schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/stages/axis_values.h"
#include "tilewright/support/error.h"
#include "tilewright/support/format.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

using te::Operation;
using te::TeComputeNode;
using te::Tensor;

// Axes of a copy of something of `shape`.
std::vector<IterVar> axes_over(const te::Shape& shape) {
  std::vector<IterVar> axes;
  for (const PrimExpr& extent : shape) {
    Var var = make_var(fmt::format("ax{}", axes.size()), extent->dtype);
    axes.push_back(IterVarNode::make(var, make_range(imm(0, extent->dtype), extent), IterType::kSpatial));
  }
  return axes;
}

te::Indices vars_of(const std::vector<IterVar>& axes) {
  te::Indices vars;
  for (const IterVar& axis : axes) vars.push_back(axis->var);
  return vars;
}

// The dimensions of what is computed in a cache: one for each leaf that is not of a reduction.
struct CacheAxes {
  std::vector<IterVar> axes;
  te::Indices places;  // of an element, in terms of the axes of the operation
  Substitution vars;   // leaf -> axis of the cache
};

CacheAxes cache_axes(const TensorStage& stage, const AxisValues& values) {
  CacheAxes made;
  for (const IterVar& leaf : stage.leaves()) {
    if (leaf->iter_type == IterType::kReduce) continue;
    made.axes.push_back(axis_named(leaf->var->name_hint + ".c", values.extent(leaf), leaf->iter_type));
    made.places.push_back(values.place(leaf));
    made.vars[leaf->var.get()] = made.axes.back()->var;
  }
  return made;
}

// `value` of the operation in terms of the axes of the cache, which may have more elements than it.
PrimExpr cached_value(const PrimExpr& value, const TensorStage& stage, const AxisValues& values,
                      const CacheAxes& leaves) {
  Substitution map;
  PrimExpr condition;
  for (const IterVar& axis : stage.roots()) {
    if (axis->iter_type != IterType::kReduce)
      map[axis->var.get()] = substitute(values.value(axis), leaves.vars) + axis->dom->min;
  }
  for (const auto& [axis, guard] : values.guards()) {
    if (axis->iter_type == IterType::kReduce) continue;
    const PrimExpr held = substitute(guard, leaves.vars);
    condition = condition ? logical_and(condition, held) : held;
  }
  const PrimExpr moved = substitute(value, map);
  if (!condition) return moved;
  const auto* reduce = moved.as<ReduceNode>();
  if (!reduce) return call(moved->dtype, "tir.if_then_else", {condition, moved, cast(moved->dtype, imm(0))});
  return with(reduce, [&](ReduceNode& guarded) {
    guarded.condition = reduce->condition ? logical_and(reduce->condition, condition) : condition;
  });
}

const TeComputeNode* require_compute(const TensorStage& stage, std::string_view verb) {
  if (const auto* compute = stage.op().as<TeComputeNode>()) return compute;
  throw UserError("{}: {} is {}, expected a te.compute", verb, stage.name(),
                  is<te::TePlaceholderNode>(stage.op()) ? "an input"
                  : is<te::TeScanNode>(stage.op())      ? "a scan"
                                                        : "computed by a statement of its own");
}

}  // namespace

StageSchedule::StageSchedule(const std::vector<Operation>& outputs) {
  for (const Operation& op : te::operations_of(outputs)) {
    auto stage = std::make_shared<TensorStage>(op);
    stage->is_output = std::find(outputs.begin(), outputs.end(), op) != outputs.end();
    stages_.push_back(stage);
    know(op, stage);
  }
}

StageRef StageSchedule::stage(const Operation& op) const {
  const auto found = by_op_.find(op.get());
  if (found != by_op_.end()) return found->second.stage;
  std::vector<std::string> names;
  for (const auto& stage : stages_) names.push_back(stage->name());
  throw UserError("{} is no stage of this schedule", op ? op->name : "None")
      .help("its stages are {}", fmt::to_string(fmt::join(names, ", ")));
}

Tensor StageSchedule::current(const Tensor& tensor) const {
  if (is<te::TePlaceholderNode>(tensor->op) && !by_op_.contains(tensor->op.get())) return tensor;
  const Operation& op = stage(tensor->op)->op();
  return te::outputs_of(op)[static_cast<size_t>(tensor->value_index)];
}

void StageSchedule::know(const Operation& op, const StageRef& stage) { by_op_[op.get()] = {op, stage}; }

StageRef StageSchedule::add_before(const TensorStage* place, Operation op) {
  const auto at =
      std::find_if(stages_.begin(), stages_.end(), [&](const auto& stage) { return stage.get() == place; });
  auto stage = std::make_shared<TensorStage>(op);
  stages_.insert(at, stage);
  know(op, stage);
  return stage;
}

// Stages read the values of `map` instead of its keys, `readers` only if it is given; who reads a stage that changes
// changes as well.
void StageSchedule::read_instead(te::TensorMap map, const std::vector<const TensorStage*>* readers) {
  te::TensorMap changed;
  for (const auto& stage : stages_) {
    te::TensorMap seen = changed;
    if (!readers || std::find(readers->begin(), readers->end(), stage.get()) != readers->end())
      seen.insert(map.begin(), map.end());
    const Operation before = stage->op();
    Operation after = te::with_inputs(before, seen);
    if (after == before) continue;
    const std::vector<Tensor> old_outputs = te::outputs_of(before), new_outputs = te::outputs_of(after);
    for (size_t n = 0; n < old_outputs.size(); ++n)
      changed[te::key_of(old_outputs[n].get())] = new_outputs[n];
    know(after, stage);
    stage->replace(std::move(after));
  }
}

void StageSchedule::replace_operation(const StageRef& stage, const Operation& after) {
  const std::vector<Tensor> old_outputs = te::outputs_of(stage->op()), new_outputs = te::outputs_of(after);
  know(after, stage);
  stage->restart(after);
  te::TensorMap moved;
  for (size_t n = 0; n < old_outputs.size(); ++n) moved[te::key_of(old_outputs[n].get())] = new_outputs[n];
  read_instead(std::move(moved), nullptr);
}

Tensor StageSchedule::cache_read(const Tensor& tensor, const std::string& scope,
                                 const std::vector<Operation>& readers) {
  const StageRef source = stage(tensor->op);
  const Tensor data = current(tensor);
  std::vector<const TensorStage*> reading;
  for (const Operation& reader : readers) {
    const StageRef found = stage(reader);
    const std::vector<Tensor> inputs = te::inputs_of(found->op());
    const bool reads = std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
      return te::key_of(input.get()) == te::key_of(data.get());
    });
    if (!reads) throw UserError("cache_read: {} does not read {}", found->name(), tensor.name());
    reading.push_back(found.get());
  }
  if (reading.empty()) throw UserError("cache_read: no reader of {} is given", tensor.name());
  const std::vector<IterVar> axes = axes_over(data.shape());
  const Operation copy = TeComputeNode::make(fmt::format("{}.{}", tensor.name(), scope), axes,
                                             std::vector<PrimExpr>{data(vars_of(axes))}, AttrMap{});
  const auto after = std::find(stages_.begin(), stages_.end(), source) + 1;
  // a stage behind the source is before all of its readers
  const StageRef cache = add_before(after == stages_.end() ? nullptr : after->get(), copy);
  cache->scope = scope;
  const Tensor result = te::outputs_of(copy)[0];
  read_instead({{te::key_of(data.get()), result}}, &reading);
  return result;
}

std::vector<Tensor> StageSchedule::cache_write(const std::vector<Tensor>& tensors, const std::string& scope) {
  if (tensors.empty()) throw UserError("cache_write: no tensor is given");
  const StageRef target = stage(tensors[0]->op);
  const TeComputeNode* compute = require_compute(*target, "cache_write");
  for (const Tensor& tensor : tensors) {
    if (stage(tensor->op) != target)
      throw UserError("cache_write: {} and {} are results of different operations", tensors[0].name(),
                      tensor.name());
  }
  if (compute->body.size() != tensors.size())
    throw UserError("cache_write: {} has {} results, but {} are given", target->name(), compute->body.size(),
                    tensors.size())
        .help("give all results of the operation in a list");
  const AxisValues values(*target);
  const CacheAxes leaves = cache_axes(*target, values);
  std::vector<PrimExpr> bodies;
  for (const PrimExpr& value : compute->body) bodies.push_back(cached_value(value, *target, values, leaves));
  const Operation cached =
      TeComputeNode::make(fmt::format("{}.{}", target->name(), scope), leaves.axes, bodies, compute->attrs);
  const std::vector<Tensor> results = te::outputs_of(cached);
  add_before(target.get(), cached)->scope = scope;
  std::vector<PrimExpr> copies;
  for (const Tensor& result : results) copies.push_back(result(leaves.places));
  const Operation copying = TeComputeNode::make(compute->name, compute->axis, copies, AttrMap{});
  replace_operation(target, copying);
  return results;
}

void StageSchedule::compute_at(const Operation& op, const Operation& parent, const IterVar& axis) {
  const StageRef moved = stage(op), around = stage(parent);
  if (moved == around)
    throw UserError("compute_at: stage {} cannot be computed inside of itself", moved->name());
  if (is<te::TePlaceholderNode>(moved->op()))
    throw UserError("compute_at: {} is an input, which nothing computes", moved->name());
  if (is<te::TeScanNode>(moved->op()))
    throw Unsupported("compute_at: {} is a scan, all steps of which are computed in a loop of their own",
                      moved->name())
        .help("what a step computes has stages, which can be moved inside of each other");
  around->leaf(axis, "compute_at");
  for (std::shared_ptr<const TensorStage> outer = around; outer; outer = outer->attach_stage.lock()) {
    if (outer == moved)
      throw UserError("compute_at: stage {} goes inside of {}, which is inside of {} already", moved->name(),
                      around->name(), moved->name())
          .help("call compute_root for one of them first");
  }
  moved->attachment = Attachment::kAt;
  moved->attach_stage = around;
  moved->attach_axis = axis;
}

void StageSchedule::compute_inline(const Operation& op) {
  const StageRef inlined = stage(op);
  require_compute(*inlined, "compute_inline");
  if (!te::reduce_axes_of(inlined->op()).empty())
    throw UserError("compute_inline: {} is a reduction", inlined->name())
        .help("only what is computed element by element can be computed where it is read; try compute_at");
  inlined->attachment = Attachment::kInline;
}

void StageSchedule::compute_root(const Operation& op) { stage(op)->attachment = Attachment::kRoot; }

}  // namespace tilewright::schedule
