// What calls of operators on constants give: for the pass fold_constant, and for importers, which need
// shapes.
#pragma once
#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

struct FoldLimits {
  int64_t max_growth = 16;     // a result may be at most this many times its arguments
  int64_t small_bytes = 4096;  // results of at most so many bytes may always be kept
};

/// The tensors of `arg` are added to *tensors; false unless all of it is constant.
bool collect_constants(const Expr& arg, std::vector<runtime::Tensor>* tensors);
/// False for results that are unknown, or too large to be stored in the model.
bool is_worth_storing(const std::vector<TensorType>& outputs, const std::vector<runtime::Tensor>& inputs,
                      const FoldLimits& limits);
/// What call_tir(func, inputs) gives, a constant or a tuple of them; null if that cannot be computed now.
/// *steps_left: iterations of loops that may be interpreted; what is needed is taken off.
Expr fold_program(const tir::PrimFunc& func, const std::vector<runtime::Tensor>& inputs,
                  const std::vector<TensorType>& outputs, bool is_tuple, int64_t* steps_left);
/// What `call` of an operator, which has its type, gives when all of its arguments are constants, a constant
/// or a tuple of them, or the R.shape that it says; null if that is not known now or not worth knowing.
Expr fold_call(const Call& call, const FoldLimits& limits, int64_t* steps_left);

}  // namespace tilewright::relax
