// The extents and values of all axes of a stage, in terms of its leaves.
//   i is split into i.outer, i.inner by 4:   value of i is i.outer * 4 + i.inner, place of i.outer is i // 4
#pragma once
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/arith/analyzer.h"
#include "tilewright/schedule/stages/tensor_stage.h"

namespace tilewright::schedule {

/// Ranges of axes of operations.
using AxisRanges = std::unordered_map<const Object*, Range>;

class AxisValues {
 public:
  /// Axes of the operation have the ranges of `roots`, or those that they were defined with.
  explicit AxisValues(const TensorStage& stage, const AxisRanges& roots = {});

  PrimExpr extent(const IterVar& axis) const { return extents_.at(axis.get()); }
  /// In terms of leaves, counted from 0.
  PrimExpr value(const IterVar& axis) const { return values_.at(axis.get()); }
  /// The opposite: in terms of the axes of the operation.
  PrimExpr place(const IterVar& axis) const { return places_.at(axis.get()); }
  /// What holds for the values that there are, where a loop may run further.
  const std::vector<std::pair<IterVar, PrimExpr>>& guards() const { return guards_; }

 private:
  void add_extents(const AxisStep& step);
  void add_places(const AxisStep& step);
  void add_values(const AxisStep& step);

  std::unordered_map<const Object*, PrimExpr> extents_, values_, places_;  // by axis
  std::vector<std::pair<IterVar, PrimExpr>> guards_;
  arith::Analyzer analyzer_;
};

/// A new axis from 0 to before `extent`.
IterVar axis_named(std::string name, const PrimExpr& extent, IterType type);

}  // namespace tilewright::schedule
