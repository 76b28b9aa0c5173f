// Lowers tensor expressions over graph values to a loop program and the call_tir that calls it.
#pragma once
#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

struct TeCall {
  tir::PrimFunc func;  // parameters: inputs, outputs, then integers that are no extent of them
  std::vector<Expr> inputs;
  Shape extra;  // the arguments for those integers
  std::vector<TensorType> outputs;
};

/// A placeholder for the tensor `value`, called A, B, ... by its `position` among the arguments.
/// Raises Unsupported if its shape or dtype is known only at run time.
te::Tensor te_placeholder(const Expr& value, size_t position);
/// The loop program that computes `outputs` from `placeholders`, which stand for `inputs`.  It has its own
/// variables for symbolic dimensions.
TeCall make_te_call(const std::vector<Expr>& inputs, const std::vector<te::Tensor>& placeholders,
                    std::vector<te::Tensor> outputs);
/// The loop program of `call`, which has its type and calls an operator with a tensor expression.
/// Raises Unsupported for tensors of unknown shape or dtype, UserError if the operator refuses the arguments.
TeCall lower_call(const Call& call, const OpInfo& info);
/// The call of the runtime function that implements `call`, an operator of a runtime_op row.
Call runtime_call(const Call& call, const OpInfo& info);
/// call_tir(func, inputs [, extra], out_ty=outputs)
Call call_tir(const GlobalVar& func, const TeCall& call, Span span = {});

}  // namespace tilewright::relax
