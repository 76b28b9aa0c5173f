// Constant folding of operator calls, for the pass fold_constant and for importers, which need shapes.
#pragma once
#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

struct FoldLimits {
  int64_t max_growth = 16;     // the bytes of a result may be at most this many times those of its arguments
  int64_t small_bytes = 4096;  // results of at most this size may always be stored
};

/// Adds the tensors of `arg` to *tensors; false unless all of it is constant.
bool collect_constants(const Expr& arg, std::vector<runtime::Tensor>* tensors);
/// False for results that are unknown, or too large to be stored in the model.
bool is_worth_storing(const std::vector<TensorType>& outputs, const std::vector<runtime::Tensor>& inputs,
                      const FoldLimits& limits);
/// The results of call_tir(func, inputs), a constant or a tuple of constants; null if they cannot be
/// computed.  *steps_left: loop iterations that may be interpreted; those used are subtracted.
Expr fold_program(const tir::PrimFunc& func, const std::vector<runtime::Tensor>& inputs,
                  const std::vector<TensorType>& outputs, bool is_tuple, int64_t* steps_left);
/// The result of `call` of an operator, which has its type: a constant or a tuple of constants if all
/// arguments are constant, or the R.shape that it returns if that is known; else null, also for results that
/// are not worth storing.
Expr fold_call(const Call& call, const FoldLimits& limits, int64_t* steps_left);

}  // namespace tilewright::relax
