#include "tilewright/schedule/stages/tensor_stage.h"

#include <algorithm>

#include <fmt/format.h>

#include "tilewright/support/error.h"
#include "tilewright/support/format.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

std::string name_of(const IterVar& axis) { return axis->var->name_hint; }

std::string names_of(const std::vector<IterVar>& axes) {
  std::vector<std::string> names;
  for (const IterVar& axis : axes) names.push_back(name_of(axis));
  return fmt::format("{}", fmt::join(names, ", "));
}

void require_positive(const PrimExpr& number, std::string_view name, const IterVar& parent) {
  int64_t value = 0;
  if (!number->dtype.is_int() && !number->dtype.is_uint())
    throw UserError("split: {} of axis {} is {}, expected an integer", name, name_of(parent),
                    expr_text(number));
  if (as_const_int(number, &value) && value <= 0)
    throw UserError("split: {} of axis {} is {}, expected 1 or more", name, name_of(parent), value);
}

}  // namespace

TensorStage::TensorStage(te::Operation op) : first_op_(op) { restart(std::move(op)); }

void TensorStage::restart(te::Operation op) {
  op_ = std::move(op);
  steps_.clear();
  marks_.clear();
  axes_ = leaves_ = roots();
}

std::vector<IterVar> TensorStage::roots() const {
  if (const auto* scan = op_.as<te::TeScanNode>()) return scan->axis;
  const auto* compute = op_.as<te::TeComputeNode>();
  if (!compute) return {};
  std::vector<IterVar> axes = compute->axis;
  for (const IterVar& axis : te::reduce_axes_of(op_)) axes.push_back(axis);
  return axes;
}

size_t TensorStage::leaf(const IterVar& axis, std::string_view verb) const {
  TILEWRIGHT_CHECK(axis, "{}: the axis of stage {} is missing", verb, name());
  const auto found = std::find(leaves_.begin(), leaves_.end(), axis);
  if (found != leaves_.end()) return static_cast<size_t>(found - leaves_.begin());
  const bool was_leaf = std::find(axes_.begin(), axes_.end(), axis) != axes_.end();
  throw UserError("{}: axis {} {} stage {}", verb, name_of(axis),
                  was_leaf ? "was split or fused already in" : "is none of", name())
      .help("the loops of {} are {}", name(), leaves_.empty() ? "none" : names_of(leaves_));
}

AxisMark TensorStage::mark(const IterVar& axis) const {
  const auto found = marks_.find(axis.get());
  return found == marks_.end() ? AxisMark{} : found->second;
}

AxisMark& TensorStage::change_mark(const IterVar& axis, std::string_view verb) {
  leaf(axis, verb);
  return marks_[axis.get()];
}

IterVar TensorStage::new_axis(std::string name, IterType type, DataType dtype) {
  IterVar axis = IterVarNode::make(make_var(std::move(name), dtype), Range(), type);
  axes_.push_back(axis);
  return axis;
}

std::pair<IterVar, IterVar> TensorStage::split(const IterVar& parent, const PrimExpr& factor,
                                               const PrimExpr& nparts) {
  const size_t place = leaf(parent, "split");
  if (static_cast<bool>(factor) == static_cast<bool>(nparts))
    throw UserError("split: axis {} needs either factor or nparts", name_of(parent));
  require_positive(factor ? factor : nparts, factor ? "factor" : "nparts", parent);
  const DataType dtype = parent->var->dtype;
  const IterVar outer = new_axis(name_of(parent) + ".outer", parent->iter_type, dtype);
  const IterVar inner = new_axis(name_of(parent) + ".inner", parent->iter_type, dtype);
  leaves_[place] = outer;
  leaves_.insert(leaves_.begin() + static_cast<long>(place) + 1, inner);
  steps_.emplace_back(AxisSplit{parent, outer, inner, factor, nparts});
  return {outer, inner};
}

IterType TensorStage::common_type(const std::vector<IterVar>& axes) const {
  for (const IterVar& axis : axes) {
    if (axis->iter_type != axes[0]->iter_type)
      throw UserError("fuse: axis {} of {} is one of a reduction, and axis {} is not",
                      name_of(axis->iter_type == IterType::kReduce ? axis : axes[0]), name(),
                      name_of(axis->iter_type == IterType::kReduce ? axes[0] : axis));
  }
  return axes[0]->iter_type;
}

IterVar TensorStage::fuse(const std::vector<IterVar>& axes) {
  if (axes.empty())
    throw Unsupported("fuse: no axis of stage {} is given", name())
        .help("give two or more; a stage of no dimension has no loop to work on");
  const IterType type = common_type(axes);
  IterVar fused = axes[0];
  leaf(fused, "fuse");
  for (size_t n = 1; n < axes.size(); ++n) {
    const size_t outer = leaf(fused, "fuse"), inner = leaf(axes[n], "fuse");
    if (inner != outer + 1)
      throw UserError("fuse: axis {} does not follow axis {} among the loops of {}", name_of(axes[n]),
                      name_of(fused), name())
          .help("the loops are {}; reorder them first", names_of(leaves_));
    const IterVar both =
        new_axis(fmt::format("{}.{}.fused", name_of(fused), name_of(axes[n])), type, fused->var->dtype);
    leaves_[outer] = both;
    leaves_.erase(leaves_.begin() + static_cast<long>(inner));
    steps_.emplace_back(AxisFusion{fused, axes[n], both});
    fused = both;
  }
  return fused;
}

void TensorStage::reorder(const std::vector<IterVar>& axes) {
  std::vector<size_t> places;
  for (const IterVar& axis : axes) {
    const size_t place = leaf(axis, "reorder");
    if (std::find(places.begin(), places.end(), place) != places.end())
      throw UserError("reorder: axis {} of {} is given twice", name_of(axis), name());
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  for (size_t n = 0; n < axes.size(); ++n) leaves_[places[n]] = axes[n];
  steps_.emplace_back(AxisOrder{axes});
}

void TensorStage::set_kind(const IterVar& axis, ForKind kind, std::string_view verb) {
  AxisMark& mark = change_mark(axis, verb);
  if (!mark.thread_tag.empty())
    throw UserError("{}: axis {} of {} is bound to {} already", verb, name_of(axis), name(), mark.thread_tag);
  mark.kind = kind;
}

void TensorStage::bind(const IterVar& axis, const IterVar& thread) {
  if (!thread || thread->iter_type != IterType::kThread)
    throw UserError("bind: axis {} of {} needs a thread axis, as te.thread_axis(\"threadIdx.x\")",
                    axis ? name_of(axis) : "", name());
  AxisMark& mark = change_mark(axis, "bind");
  if (!mark.thread_tag.empty())
    throw UserError("bind: axis {} of {} is bound to {} already", name_of(axis), name(), mark.thread_tag);
  mark.kind = ForKind::kThreadBinding;
  mark.thread_tag = thread->thread_tag;
  mark.thread = thread;
}

void TensorStage::annotate(const IterVar& axis, std::string key, ObjectRef value) {
  change_mark(axis, "pragma").annotations.emplace_back(std::move(key), std::move(value));
}

void TensorStage::tensorize(const IterVar& axis, TileIntrinsic intrinsic) {
  for (const IterVar& leaf : leaves_) {
    if (leaf != axis && !mark(leaf).intrinsic.name.empty())
      throw UserError("tensorize: axis {} of {} begins a tile already, that of intrinsic {}", name_of(leaf),
                      name(), mark(leaf).intrinsic.name);
  }
  change_mark(axis, "tensorize").intrinsic = std::move(intrinsic);
}

}  // namespace tilewright::schedule
