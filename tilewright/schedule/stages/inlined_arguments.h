// An inlined stage that is an argument of the function: it is computed whole, and readers compute it by themselves.
//   s[B].compute_inline(); lower(s, {A, B, C})    ->    for i: B[i] = A[i] + 1
//                                                       for i: C[i] = (A[i] + 1) * 2
#pragma once
#include <unordered_map>
#include <vector>

#include "tilewright/schedule/stages/stage_schedule.h"
#include "tilewright/te/operation.h"

namespace tilewright::schedule {

/// True if one of `args` is an output of `op`.
bool computes_any(const te::Operation& op, const std::vector<ObjectRef>& args);

/// The operations of a schedule, where readers of inlined arguments read a copy that is no argument.
class WithCopies {
 public:
  /// `args` are those of the function.
  WithCopies(const StageSchedule& stages, const std::vector<ObjectRef>& args);

  /// What stands for `op` of a stage, which its decisions are about: `op` itself if nothing was copied before it.
  te::Operation operation(const te::Operation& op) const;
  /// What stands for an argument.
  te::Tensor argument(const te::Tensor& tensor) const;

 private:
  std::unordered_map<const Object*, te::Operation> operations_;
  te::TensorMap arguments_;
};

}  // namespace tilewright::schedule
