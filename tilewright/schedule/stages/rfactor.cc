// rfactor: a reduction becomes two, one of parts that are computed apart and one that adds the parts up.
//   B[i] = sum over k of A[i, k]; k is split into k.outer, k.inner
//   rfactor(B, k.inner)  ->  B.rf[k.inner, i] = sum over k.outer of A[i, k.outer * 16 + k.inner]
//                            B[i] = sum over k.inner.v of B.rf[k.inner.v, i]
#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/stages/axis_values.h"
#include "tilewright/schedule/stages/stage_schedule.h"
#include "tilewright/support/error.h"
#include "tilewright/support/format.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

using te::Operation;
using te::TeComputeNode;
using te::Tensor;

// The two operations that replace a reduction.
struct Factored {
  Operation parts, whole;
};

struct Request {
  const TensorStage& stage;
  IterVar axis;         // a leaf
  size_t factor_place;  // its dimension in the parts
};

Operation make_parts(const Request& request, const AxisValues& values) {
  const auto* compute = request.stage.op().as<TeComputeNode>();
  const auto* reduce = compute->body[0].as<ReduceNode>();
  Substitution leaves, map;
  std::vector<IterVar> axes, reduce_axes;
  for (const IterVar& leaf : request.stage.leaves()) {
    if (leaf->iter_type != IterType::kReduce) continue;
    const bool is_factor = leaf == request.axis;
    IterVar own = axis_named(leaf->var->name_hint, values.extent(leaf),
                             is_factor ? IterType::kSpatial : IterType::kReduce);
    leaves[leaf->var.get()] = own->var;
    (is_factor ? axes : reduce_axes).push_back(std::move(own));
  }
  std::vector<IterVar> spatial;
  for (const IterVar& axis : compute->axis) {
    spatial.push_back(axis_named(axis->var->name_hint, axis->dom->extent, IterType::kSpatial));
    map[axis->var.get()] = spatial.back()->var;
  }
  spatial.insert(spatial.begin() + static_cast<long>(request.factor_place), axes[0]);
  for (const IterVar& axis : reduce->axis)
    map[axis->var.get()] = substitute(values.value(axis), leaves) + axis->dom->min;
  PrimExpr condition = reduce->condition ? substitute(reduce->condition, map) : PrimExpr();
  for (const auto& [axis, guard] : values.guards()) {
    if (axis->iter_type != IterType::kReduce) continue;
    const PrimExpr held = substitute(guard, leaves);
    condition = condition ? logical_and(condition, held) : held;
  }
  std::vector<PrimExpr> source;
  for (const PrimExpr& value : reduce->source) source.push_back(substitute(value, map));
  if (reduce_axes.empty())
    reduce_axes.push_back(axis_named("one", imm(1, request.axis->var->dtype), IterType::kReduce));
  return TeComputeNode::make(compute->name + ".rf", spatial,
                             te::reduce(reduce->combiner, source, reduce_axes, condition), compute->attrs);
}

Operation make_whole(const Request& request, const AxisValues& values, const std::vector<Tensor>& parts) {
  const auto* compute = request.stage.op().as<TeComputeNode>();
  const auto* reduce = compute->body[0].as<ReduceNode>();
  const IterVar part =
      axis_named(request.axis->var->name_hint + ".v", values.extent(request.axis), IterType::kReduce);
  te::Indices indices;
  for (const IterVar& axis : compute->axis) indices.push_back(axis->var);
  indices.insert(indices.begin() + static_cast<long>(request.factor_place), part->var);
  std::vector<PrimExpr> source;
  for (const Tensor& tensor : parts) source.push_back(tensor(indices));
  return TeComputeNode::make(compute->name, compute->axis,
                             te::reduce(reduce->combiner, source, {part}, PrimExpr(), reduce->init),
                             compute->attrs);
}

}  // namespace

std::vector<Tensor> StageSchedule::rfactor(const Tensor& tensor, const IterVar& axis, int64_t factor_axis) {
  const StageRef target = stage(tensor->op);
  const auto* compute = target->op().as<TeComputeNode>();
  if (!compute || te::reduce_axes_of(target->op()).empty())
    throw UserError("rfactor: {} is no reduction", target->name());
  target->leaf(axis, "rfactor");
  if (axis->iter_type != IterType::kReduce)
    throw UserError("rfactor: axis {} of {} is not one of its reduction", axis->var->name_hint,
                    target->name());
  const auto num_places = static_cast<int64_t>(compute->axis.size()) + 1;
  const int64_t place = factor_axis < 0 ? factor_axis + num_places : factor_axis;
  if (place < 0 || place >= num_places)
    throw UserError("rfactor: factor_axis is {}, expected {} to {}", factor_axis, -num_places,
                    num_places - 1);
  const AxisValues values(*target);
  const Request request{*target, axis, static_cast<size_t>(place)};
  const Operation parts = make_parts(request, values);
  const std::vector<Tensor> results = te::outputs_of(parts);
  const Operation whole = make_whole(request, values, results);
  add_before(target.get(), parts);
  replace_operation(target, whole);
  return results;
}

}  // namespace tilewright::schedule
