// One operator on constant inputs: inferred, lowered and evaluated.
#pragma once
#include <gtest/gtest.h>

#include "te/evaluate.h"
#include "tilewright/analysis/interpreter.h"
#include "tilewright/relax/build/te_call.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::testing {
using relax::extent_imm;

inline Expr var_like(const std::string& name, const Array& array) {
  return relax::Var(
      relax::VarNode::make(name, Type(relax::tensor_type(relax::extents(array.shape), array.dtype))));
}
inline Expr shape_expr(const std::vector<int64_t>& values) {
  return relax::ShapeExprNode::make(relax::extents(values));
}
inline Expr scalar(int64_t value) { return relax::PrimValueNode::make(extent_imm(value)); }
inline Expr scalar(double value) { return relax::PrimValueNode::make(PrimExpr(float_imm(value))); }
inline Expr scalars(const std::vector<int64_t>& values) {
  std::vector<Expr> elements;
  for (int64_t value : values) elements.push_back(scalar(value));
  return relax::TupleNode::make(elements);
}
inline ObjectRef ints(const std::vector<int64_t>& values) { return attr(values); }
inline ObjectRef num(int64_t value) { return attr(value); }
inline ObjectRef flag(bool value) { return attr(value); }
inline ObjectRef text(const std::string& value) { return attr(value); }

inline relax::Call typed_call(std::string_view name, std::vector<Expr> args, AttrMap attrs = {}) {
  relax::Call call = relax::call_op(name, std::move(args), std::move(attrs));
  Type type = relax::infer_type(call);
  return with(call, [&](relax::CallNode& node) { node.type = type; });
}

/// Calls `body` with a value of the C++ type of `dtype`.
template <class F>
void with_ctype(DataType dtype, const F& body) {
  if (dtype == kFloat32) return body(float());
  if (dtype == DataType::float_(64)) return body(double());
  if (dtype == kInt64) return body(int64_t());
  if (dtype == kInt32) return body(int32_t());
  if (dtype.is_bool() || dtype == DataType::uint(8)) return body(uint8_t());
  throw InternalError("no test has arrays of {}", dtype.str());
}
inline runtime::Tensor tensor_of(const Array& array) {
  const runtime::Tensor tensor = runtime::Tensor::empty(array.shape, array.dtype);
  with_ctype(array.dtype, [&]<class T>(T) {
    for (size_t n = 0; n < array.data.size(); ++n) tensor.data_as<T>()[n] = static_cast<T>(array.data[n]);
  });
  return tensor;
}
inline Array array_of(const runtime::Tensor& tensor) {
  Array array = Array::zeros({tensor.shape().begin(), tensor.shape().end()}, tensor.dtype());
  with_ctype(array.dtype, [&]<class T>(T) {
    for (size_t n = 0; n < array.data.size(); ++n)
      array.data[n] = static_cast<double>(tensor.data_as<T>()[n]);
  });
  return array;
}

/// The results of operator `name`; `args` are arrays and other expressions in order.
struct Arg {
  Arg(const Array& array) : arrays{array} {}
  Arg(std::vector<Array> tuple) : arrays(std::move(tuple)), is_tuple(true) {}
  Arg(Expr expr) : expr(std::move(expr)) {}
  std::vector<Array> arrays;
  bool is_tuple = false;
  Expr expr;
};

inline std::vector<Array> run_op(std::string_view name, const std::vector<Arg>& args, AttrMap attrs = {}) {
  std::vector<Expr> exprs, inputs;
  std::vector<Array> arrays;
  std::vector<std::vector<te::Tensor>> tensors;
  std::vector<te::Tensor> placeholders;
  for (const Arg& arg : args) {
    tensors.emplace_back();
    if (arg.expr) {
      exprs.push_back(arg.expr);
      continue;
    }
    std::vector<Expr> fields;
    for (const Array& array : arg.arrays) {
      fields.push_back(var_like("x", array));
      inputs.push_back(fields.back());
      arrays.push_back(array);
      placeholders.push_back(relax::te_placeholder(fields.back(), placeholders.size()));
      tensors.back().push_back(placeholders.back());
    }
    exprs.push_back(arg.is_tuple ? Expr(relax::TupleNode::make(fields)) : fields[0]);
  }
  const relax::Call call = typed_call(name, exprs, std::move(attrs));
  const relax::TeCall lowered =
      relax::make_te_call(inputs, placeholders, relax::lookup_op(name).lower({call, tensors}));
  std::vector<runtime::Value> values;
  for (const Array& array : arrays) values.push_back(tensor_of(array));
  std::vector<runtime::Tensor> outputs;
  analysis::InterpretOptions options;
  for (const relax::TensorType& type : lowered.outputs) {
    options.outputs.push_back(values.size());
    outputs.push_back(
        runtime::Tensor::empty(*relax::constant_extents(*relax::known_shape(type.get())), type->dtype));
    values.push_back(outputs.back());
  }
  analysis::interpret(lowered.func, values, options);
  // what inference says is what the lowering computes
  const auto* tuple = call->type.as<TupleTypeNode>();
  for (size_t n = 0; n < lowered.outputs.size(); ++n) {
    const Type expected = tuple ? tuple->elements[n] : call->type;
    EXPECT_EQ(relax::type_text(lowered.outputs[n]), relax::type_text(expected)) << name;
  }
  std::vector<Array> results;
  for (const runtime::Tensor& output : outputs) results.push_back(array_of(output));
  return results;
}

inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.help_text().empty() ? error.text() : error.text() + "\nhelp: " + error.help_text();
  }
  return "no error";
}

}  // namespace tilewright::testing
