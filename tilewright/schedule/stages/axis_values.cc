#include "tilewright/schedule/stages/axis_values.h"

#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

AxisValues::AxisValues(const TensorStage& stage, const AxisRanges& roots) {
  for (const IterVar& axis : stage.roots()) {
    const auto found = roots.find(axis.get());
    extents_[axis.get()] = found == roots.end() ? axis->dom->extent : found->second->extent;
    places_[axis.get()] = axis->var;
  }
  for (const AxisStep& step : stage.steps()) {
    add_extents(step);
    add_places(step);
  }
  for (const IterVar& leaf : stage.leaves()) values_[leaf.get()] = leaf->var;
  for (size_t n = stage.steps().size(); n-- > 0;) add_values(stage.steps()[n]);
}

void AxisValues::add_extents(const AxisStep& step) {
  if (const auto* split = std::get_if<AxisSplit>(&step)) {
    const PrimExpr whole = extents_.at(split->parent.get());
    const PrimExpr given = cast(whole->dtype, split->factor ? split->factor : split->nparts);
    const PrimExpr other = analyzer_.simplify(floordiv(whole + given - 1, given));
    extents_[split->outer.get()] = split->factor ? other : given;
    extents_[split->inner.get()] = split->factor ? given : other;
  } else if (const auto* fusion = std::get_if<AxisFusion>(&step)) {
    extents_[fusion->fused.get()] =
        analyzer_.simplify(extents_.at(fusion->outer.get()) * extents_.at(fusion->inner.get()));
  }
}

void AxisValues::add_places(const AxisStep& step) {
  if (const auto* split = std::get_if<AxisSplit>(&step)) {
    const PrimExpr whole = places_.at(split->parent.get()), inner = extents_.at(split->inner.get());
    places_[split->outer.get()] = floordiv(whole, inner);
    places_[split->inner.get()] = floormod(whole, inner);
  } else if (const auto* fusion = std::get_if<AxisFusion>(&step)) {
    places_[fusion->fused.get()] =
        places_.at(fusion->outer.get()) * extents_.at(fusion->inner.get()) + places_.at(fusion->inner.get());
  }
}

void AxisValues::add_values(const AxisStep& step) {
  if (const auto* split = std::get_if<AxisSplit>(&step)) {
    const PrimExpr whole = extents_.at(split->parent.get()), inner = extents_.at(split->inner.get());
    const PrimExpr value = values_.at(split->outer.get()) * inner + values_.at(split->inner.get());
    values_[split->parent.get()] = value;
    const PrimExpr covered = extents_.at(split->outer.get()) * inner;
    if (!analyzer_.can_prove(equal(covered, whole))) guards_.emplace_back(split->parent, value < whole);
  } else if (const auto* fusion = std::get_if<AxisFusion>(&step)) {
    const PrimExpr value = values_.at(fusion->fused.get()), inner = extents_.at(fusion->inner.get());
    values_[fusion->outer.get()] = floordiv(value, inner);
    values_[fusion->inner.get()] = floormod(value, inner);
  }
}

IterVar axis_named(std::string name, const PrimExpr& extent, IterType type) {
  Var var = make_var(std::move(name), extent->dtype);
  return IterVarNode::make(var, make_range(imm(0, extent->dtype), extent), type);
}

}  // namespace tilewright::schedule
