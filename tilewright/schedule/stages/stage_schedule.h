// A schedule of tensor expressions by stages, as TVM had it until 2025: te.create_schedule(C.op).
//   StageSchedule s({C->op});
//   auto [xo, xi] = s.stage(C->op)->split(x, imm(4), {});
//   te::Tensor local = s.cache_write({C}, "local")[0];
//   s.compute_at(local->op, C->op, xo);
// Some decisions change operations: a stage that reads or writes a cache computes another expression.  The first
// operation, which users hold, still finds its stage.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilewright/schedule/stages/tensor_stage.h"

namespace tilewright::schedule {

using StageRef = std::shared_ptr<TensorStage>;

class StageSchedule {
 public:
  /// Stages for `outputs` and all that they depend on.
  explicit StageSchedule(const std::vector<te::Operation>& outputs);

  /// Producers first.
  const std::vector<StageRef>& stages() const { return stages_; }
  /// The stage of an operation, or of one that it was before.  Raises UserError if there is none.
  StageRef stage(const te::Operation& op) const;
  /// The tensor that stands for `tensor` now: the output of its stage's operation; an input that nothing reads is itself.
  te::Tensor current(const te::Tensor& tensor) const;

  /// A copy of `tensor` in memory of `scope`, which `readers` read instead.
  te::Tensor cache_read(const te::Tensor& tensor, const std::string& scope,
                        const std::vector<te::Operation>& readers);
  /// The values of `tensors`, outputs of one operation, in memory of `scope`; the operation then copies them.
  std::vector<te::Tensor> cache_write(const std::vector<te::Tensor>& tensors, const std::string& scope);
  /// Parts of the reduction that computes `tensor`: one for each iteration of `axis`, in a dimension of their own at
  /// `factor_axis`.  The stage of `tensor` then adds them up.
  std::vector<te::Tensor> rfactor(const te::Tensor& tensor, const IterVar& axis, int64_t factor_axis);
  void compute_at(const te::Operation& op, const te::Operation& parent, const IterVar& axis);
  void compute_inline(const te::Operation& op);
  void compute_root(const te::Operation& op);

 private:
  StageRef add_before(const TensorStage* place, te::Operation op);
  void read_instead(te::TensorMap map, const std::vector<const TensorStage*>* readers);
  // `stage` computes `after` from scratch, and all readers of what it computed before read that.
  void replace_operation(const StageRef& stage, const te::Operation& after);
  // From now on `op` finds `stage`.
  void know(const te::Operation& op, const StageRef& stage);

  std::vector<StageRef> stages_;
  struct Known {
    te::Operation op;  // keeps the key alive
    StageRef stage;
  };
  std::unordered_map<const Object*, Known> by_op_;
};

}  // namespace tilewright::schedule
