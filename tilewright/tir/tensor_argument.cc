#include "tilewright/tir/tensor_argument.h"

#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::tir {
namespace {

bool calls(const PrimExpr& expr, std::string_view name) {
  const auto* call = expr.as<CallNode>();
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  return op && op->name == name;
}

const std::vector<PrimExpr>& numbers(const CallNode* call, size_t position, std::string_view what) {
  const PrimExpr& arg = call->args[position];
  if (!calls(arg, "tir.tvm_stack_make_shape"))
    throw UserError(call, "tvm_stack_make_array: the {} is {}, expected T.tvm_stack_make_shape(...)", what,
                    expr_text(arg));
  for (const PrimExpr& number : arg.as<CallNode>()->args) {
    if (!number->dtype.is_integral() || !number->dtype.is_scalar())
      throw UserError(call, "tvm_stack_make_array: {} in the {} is {}, expected an integer",
                      expr_text(number), what, number->dtype.str());
  }
  return arg.as<CallNode>()->args;
}

}  // namespace

PrimExpr tensor_argument(const Buffer& buffer) {
  const DataType handle = DataType::handle();
  const auto numbers = [&](const std::vector<PrimExpr>& list) {
    return call(handle, "tir.tvm_stack_make_shape", list);
  };
  return call(
      handle, "tir.tvm_stack_make_array",
      {buffer->data, numbers(buffer->shape), buffer->strides.empty() ? imm(0) : numbers(buffer->strides),
       imm(static_cast<int64_t>(buffer->shape.size())), make_const(buffer->dtype, 0),
       buffer->elem_offset ? buffer->elem_offset : imm(0)});
}

bool is_tensor_argument(const PrimExpr& arg) { return calls(arg, "tir.tvm_stack_make_array"); }

TensorArgument tensor_argument_of(const CallNode* call) {
  if (call->args.size() != 6)
    throw UserError(call, "tvm_stack_make_array takes 6 arguments, found {}", call->args.size());
  TensorArgument tensor;
  tensor.data = call->args[0];
  if (!tensor.data->dtype.is_handle())
    throw UserError(call, "tvm_stack_make_array: the data is {}, expected a pointer",
                    tensor.data->dtype.str());
  tensor.shape = numbers(call, 1, "shape");
  if (!is_zero(call->args[2])) tensor.strides = numbers(call, 2, "strides");
  int64_t ndim = 0;
  if (!as_const_int(call->args[3], &ndim) || ndim != static_cast<int64_t>(tensor.shape.size()) ||
      (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size()))
    throw UserError(call, "tvm_stack_make_array: {} dimensions with {} extents and {} strides",
                    expr_text(call->args[3]), tensor.shape.size(), tensor.strides.size());
  tensor.dtype = call->args[4]->dtype;
  if (tensor.dtype.bits % 8 != 0 && !tensor.dtype.is_bool())
    throw Unsupported(call, "a tensor of {} cannot be passed to a registered function", tensor.dtype.str());
  tensor.num_bytes = tensor.dtype.num_bytes();
  tensor.offset = call->args[5];
  if (!tensor.offset->dtype.is_integral() || !tensor.offset->dtype.is_scalar())
    throw UserError(call, "tvm_stack_make_array: the offset is {}, expected an integer",
                    tensor.offset->dtype.str());
  return tensor;
}

}  // namespace tilewright::tir
