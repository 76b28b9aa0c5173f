#include "tilewright/relax/fold/fold_call.h"

#include <algorithm>

#include "tilewright/relax/build/te_call.h"
#include "tilewright/relax/fold/evaluate.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/runtime/function.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {

bool collect_constants(const Expr& arg, std::vector<runtime::Tensor>* tensors) {
  if (const auto* constant = arg.as<ConstantNode>()) {
    tensors->push_back(constant->data);
    return true;
  }
  if (const auto* tuple = arg.as<TupleNode>()) {
    return std::all_of(tuple->elements.begin(), tuple->elements.end(),
                       [&](const Expr& element) { return collect_constants(element, tensors); });
  }
  if (const auto* shape = arg.as<ShapeExprNode>()) return constant_extents(shape->values).has_value();
  if (const auto* value = arg.as<PrimValueNode>())
    return is<IntImmNode>(value->value) || is<FloatImmNode>(value->value);
  return is<StringValueNode>(arg) || is<DataTypeValueNode>(arg);
}

bool is_worth_storing(const std::vector<TensorType>& outputs, const std::vector<runtime::Tensor>& inputs,
                      const FoldLimits& limits) {
  int64_t bytes = 0, input_bytes = 0;
  for (const runtime::Tensor& input : inputs) input_bytes += input.num_bytes();
  for (const TensorType& type : outputs) {
    const Shape* shape = type ? known_shape(type.get()) : nullptr;
    const auto extents = shape ? constant_extents(*shape) : std::nullopt;
    if (!extents || type->dtype.is_void()) return false;
    int64_t mine = type->dtype.num_bytes();
    for (int64_t extent : *extents) {
      if (__builtin_mul_overflow(mine, extent, &mine)) return false;
    }
    if (__builtin_add_overflow(bytes, mine, &bytes)) return false;
  }
  int64_t limit;
  if (__builtin_mul_overflow(input_bytes, limits.max_growth, &limit)) limit = INT64_MAX;
  return bytes <= std::max(limit, limits.small_bytes);
}

namespace {

std::vector<TensorType> tensor_types(const Type& type) {
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    std::vector<TensorType> types;
    for (const Type& element : tuple->elements) types.push_back(ref_as<TensorTypeNode>(element));
    return types;
  }
  return {ref_as<TensorTypeNode>(type)};
}

Expr constants_of(const std::vector<runtime::Tensor>& results, bool is_tuple) {
  if (!is_tuple) return make_constant(results.at(0));
  std::vector<Expr> elements;
  for (const runtime::Tensor& result : results) elements.push_back(make_constant(result));
  const Tuple tuple = TupleNode::make(std::move(elements));
  return with(tuple, [&](TupleNode& node) { node.type = type_of(tuple); });
}

// the number of elements, null if it depends on the input
Expr constant_size(const Shape& shape) {
  int64_t count;
  if (!tir::as_const_int(num_elements(shape), &count)) return nullptr;
  const runtime::Tensor scalar = runtime::Tensor::empty({}, kInt64);
  *scalar.data_as<int64_t>() = count;
  return make_constant(scalar);
}

// An argument of a runtime function as a value; collect_constants has accepted it.
runtime::Value value_of(const Expr& arg) {
  if (const auto* constant = arg.as<ConstantNode>()) return constant->data;
  if (const auto* shape = arg.as<ShapeExprNode>())
    return runtime::Value::shape(*constant_extents(shape->values));
  if (const auto* text = arg.as<StringValueNode>()) return text->value;
  if (const auto* dtype = arg.as<DataTypeValueNode>()) return dtype->value;
  const auto* scalar = arg.as<PrimValueNode>();
  TILEWRIGHT_CHECK(scalar, "no value of a runtime function");
  if (const auto* real = scalar->value.as<FloatImmNode>()) return real->value;
  const auto* number = scalar->value.as<IntImmNode>();
  if (number->dtype.is_bool()) return number->value != 0;
  return number->value;
}

// The folded results of a runtime function that writes `outputs`.
Expr fold_runtime_call(const Call& call, const OpInfo& info, const std::vector<TensorType>& outputs) {
  const runtime::Function function = runtime::find_function(info.packed);
  const Call plain = runtime_call(call, info);
  if (!function || op_name(plain.get()) != "relax.call_dps_packed" ||
      op_name(call.get()).starts_with("relax.memory."))
    return nullptr;
  std::vector<runtime::Value> args;
  for (const Expr& arg : plain->args[1].as<TupleNode>()->elements) args.push_back(value_of(arg));
  std::vector<runtime::Tensor> results;
  for (const TensorType& type : outputs) {
    results.push_back(runtime::Tensor::empty(*constant_extents(*known_shape(type.get())), type->dtype));
    args.emplace_back(results.back());
  }
  try {
    function.call(args);
  } catch (const Error&) {
    return nullptr;  // the call then fails at run time as well, where the error belongs
  }
  return constants_of(results, is<TupleTypeNode>(call->type));
}

}  // namespace

Expr fold_program(const tir::PrimFunc& func, const std::vector<runtime::Tensor>& inputs,
                  const std::vector<TensorType>& outputs, bool is_tuple, int64_t* steps_left) {
  const auto results = evaluate(func, inputs, outputs, steps_left);
  return results ? constants_of(*results, is_tuple) : Expr();
}

Expr fold_call(const Call& call, const FoldLimits& limits, int64_t* steps_left) {
  const std::string_view name = op_name(call.get());
  if (name == "relax.shape_of") {
    const Shape* shape = known_shape(call->args[0]);
    return shape ? Expr(shape_expr(*shape)) : Expr();
  }
  if (name == "relax.size") {
    const Shape* shape = known_shape(call->args[0]);
    return shape ? constant_size(*shape) : Expr();
  }
  if (name == "relax.tensor_to_shape") {
    const auto* known = is<ConstantNode>(call->args[0]) ? call->type.as<ShapeTypeNode>() : nullptr;
    return known && known->is_known ? Expr(ShapeExprNode::make(known->values, call->type)) : Expr();
  }
  const OpInfo* info = op_of(call.get());
  if (!info || !info->is_pure || !(info->lower || !info->packed.empty())) return nullptr;
  std::vector<runtime::Tensor> inputs;
  for (const Expr& arg : call->args) {
    if (!collect_constants(arg, &inputs)) return nullptr;
  }
  const std::vector<TensorType> outputs = tensor_types(call->type);
  if (!is_worth_storing(outputs, inputs, limits)) return nullptr;
  if (is_reshape_like(name))
    return make_constant(inputs[0].reshape(*constant_extents(*known_shape(outputs[0].get()))));
  if (!info->lower) return fold_runtime_call(call, *info, outputs);
  const TeCall lowered = lower_call(call, *info);
  if (!lowered.extra.empty()) return nullptr;
  return fold_program(lowered.func, inputs, lowered.outputs, is<TupleTypeNode>(call->type), steps_left);
}

}  // namespace tilewright::relax
