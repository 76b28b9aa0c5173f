// From tensor expressions over graph values to a call_tir and the loop program it calls.
#pragma once
#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

struct TeCall {
  tir::PrimFunc func;  // inputs, outputs, then the integers that no shape of them says
  std::vector<Expr> inputs;
  Shape extra;  // what is passed for those integers
  std::vector<TensorType> outputs;
};

/// A placeholder for the tensor `value`, called A, B, ... by its `position` among the arguments.
/// Raises Unsupported if its shape or dtype is known only at run time.
te::Tensor te_placeholder(const Expr& value, size_t position);
/// The loop program that computes `outputs` from `placeholders`, which stand for `inputs`.  Symbolic
/// dimensions are variables of its own.
TeCall make_te_call(const std::vector<Expr>& inputs, const std::vector<te::Tensor>& placeholders,
                    std::vector<te::Tensor> outputs);
/// The loop program of `call`, which has its type and calls an operator with a tensor expression.
/// Raises Unsupported for tensors of unknown shape or dtype, UserError for what the operator refuses.
TeCall lower_call(const Call& call, const OpInfo& info);
/// The call of the runtime function that does the work of `call`, an operator of a runtime_op row.
Call runtime_call(const Call& call, const OpInfo& info);
/// call_tir(func, inputs [, extra], out_ty=outputs)
Call call_tir(const GlobalVar& func, const TeCall& call, Span span = {});

}  // namespace tilewright::relax
