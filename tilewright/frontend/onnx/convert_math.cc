// Arithmetic, comparisons, functions of one value, dtypes.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <algorithm>
#include <cmath>

#include "tilewright/frontend/onnx/convert.h"

namespace tilewright::frontend::onnx {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// ---- operators with an equivalent
constexpr Pair kSame[] = {
    {"Abs", "relax.abs"},
    {"Acos", "relax.acos"},
    {"Acosh", "relax.acosh"},
    {"Add", "relax.add"},
    {"And", "relax.logical_and"},
    {"Asin", "relax.asin"},
    {"Asinh", "relax.asinh"},
    {"Atan", "relax.atan"},
    {"Atanh", "relax.atanh"},
    {"BitwiseAnd", "relax.bitwise_and"},
    {"BitwiseNot", "relax.bitwise_not"},
    {"BitwiseOr", "relax.bitwise_or"},
    {"BitwiseXor", "relax.bitwise_xor"},
    {"Ceil", "relax.ceil"},
    {"Cos", "relax.cos"},
    {"Cosh", "relax.cosh"},
    {"Equal", "relax.equal"},
    {"Erf", "relax.erf"},
    {"Exp", "relax.exp"},
    {"Floor", "relax.floor"},
    {"Greater", "relax.greater"},
    {"GreaterOrEqual", "relax.greater_equal"},
    {"IsNaN", "relax.isnan"},
    {"Less", "relax.less"},
    {"LessOrEqual", "relax.less_equal"},
    {"Log", "relax.log"},
    {"MatMul", "relax.matmul"},
    {"Mul", "relax.multiply"},
    {"Neg", "relax.negative"},
    {"Not", "relax.logical_not"},
    {"Or", "relax.logical_or"},
    {"Relu", "relax.nn.relu"},
    {"Round", "relax.round"},
    {"Sigmoid", "relax.sigmoid"},
    {"Sign", "relax.sign"},
    {"Sin", "relax.sin"},
    {"Sinh", "relax.sinh"},
    {"Sqrt", "relax.sqrt"},
    {"Sub", "relax.subtract"},
    {"Tan", "relax.tan"},
    {"Tanh", "relax.tanh"},
    {"Where", "relax.where"},
    {"Xor", "relax.logical_xor"},
};

std::string_view same_op(std::string_view op_type) {
  return std::find_if(std::begin(kSame), std::end(kSame),
                      [&](const Pair& row) { return row.first == op_type; })
      ->second;
}

void same(Importer& importer, const Node& node) {
  std::vector<Expr> args;
  for (size_t n = 0; n < node.inputs.size(); ++n) args.push_back(importer.value(node, n));
  importer.emit(node, same_op(node.op_type), std::move(args));
}

// ---- two and more inputs

void divide(Importer& importer, const Node& node) {
  if (const auto divisors = importer.known(node, 1)) {
    if (std::any_of(divisors->begin(), divisors->end(), tir::is_zero))
      throw UserError("an integer is divided by 0");
  }
  importer.emit(node, "relax.divide", {importer.value(node, 0), importer.value(node, 1)});
}

// The elements of a constant of floats as int64 if all are integers; else null.
Expr whole_exponents(Importer& importer, const Node& node) {
  if (!importer.value(node, 1).as<relax::ConstantNode>()) return nullptr;
  std::vector<int64_t> numbers;
  for (const ir::PrimExpr& literal : literals(importer, node, 1)) {
    const auto* real = literal.as<ir::FloatImmNode>();
    if (!real || real->value != std::trunc(real->value) || std::abs(real->value) > 1e9) return nullptr;
    numbers.push_back(static_cast<int64_t>(real->value));
  }
  const auto* constant = importer.value(node, 1).as<relax::ConstantNode>();
  return relax::make_constant(runtime::Tensor::copy_of(numbers.data(), numbers.size() * sizeof(int64_t),
                                                       constant->data.shape(), kInt64));
}

// The result has the dtype of the base.  Integers to integer powers are exact.
void power(Importer& importer, const Node& node) {
  const Expr base = importer.value(node, 0);
  Expr exponent = importer.value(node, 1);
  const DataType dtype = relax::dtype_of(base);
  if (dtype.is_integral() && relax::dtype_of(exponent).is_float()) {
    if (const Expr whole = whole_exponents(importer, node)) exponent = whole;
  }
  if (relax::dtype_of(exponent) == dtype) return importer.emit(node, "relax.power", {base, exponent});
  const DataType wide = !dtype.is_float() && relax::dtype_of(exponent).is_float() ? kFloat64
                        : dtype.is_float()                                        ? dtype
                                                                                  : kInt64;
  const Expr result = importer.bind(node, "relax.power", {converted(base, wide), converted(exponent, wide)});
  importer.define(node.outputs.at(0), importer.bound(converted(result, dtype)));
}

// The remainder has the sign of the divisor, or with fmod the sign of the dividend.
void modulo(Importer& importer, const Node& node) {
  const Expr a = importer.value(node, 0), b = importer.value(node, 1);
  importer.emit(node, int_attr(node, "fmod", 0) ? "relax.mod" : "relax.floor_mod", {a, b});
}

void bit_shift(Importer& importer, const Node& node) {
  const std::string direction = string_attr(node, "direction", "");
  require_known_text("direction", direction, {"LEFT", "RIGHT"});
  importer.emit(node, direction == "LEFT" ? "relax.left_shift" : "relax.right_shift",
                {importer.value(node, 0), importer.value(node, 1)});
}

Expr joined(Importer& importer, const Node& node, std::string_view op) {
  Expr result = importer.value(node, 0);
  for (size_t n = 1; n < node.inputs.size(); ++n)
    result = importer.bind(node, op, {result, importer.value(node, n)});
  return result;
}

// The sum of all inputs, in the accumulation dtype.
Expr total(Importer& importer, const Node& node) {
  Expr result = widened(importer, importer.value(node, 0));
  for (size_t n = 1; n < node.inputs.size(); ++n)
    result = importer.bind(node, "relax.add", {result, widened(importer, importer.value(node, n))});
  return result;
}

void define_rounded(Importer& importer, const Node& node, const Expr& value) {
  importer.define(node.outputs.at(0), bound_as(importer, value, relax::dtype_of(importer.value(node, 0))));
}

void sum(Importer& importer, const Node& node) { define_rounded(importer, node, total(importer, node)); }
void largest(Importer& importer, const Node& node) {
  importer.define(node.outputs.at(0), joined(importer, node, "relax.maximum"));
}
void smallest(Importer& importer, const Node& node) {
  importer.define(node.outputs.at(0), joined(importer, node, "relax.minimum"));
}
void average(Importer& importer, const Node& node) {
  const Expr sums = total(importer, node);
  const Expr count = number(static_cast<double>(node.inputs.size()), relax::dtype_of(sums));
  define_rounded(importer, node, importer.bind(node, "relax.divide", {sums, count}));
}

// ---- dtypes

// Values beyond the largest 8-bit float saturate to it, unless saturate is 0.
Expr saturated(Importer& importer, const Node& node, const Expr& x, DataType dtype) {
  const double largest = dtype.code == DataType::kFloat8E5M2 ? 57344 : 448;
  const Expr top = importer.bound(number(largest, relax::dtype_of(x))),
             bottom = importer.bound(number(-largest, relax::dtype_of(x)));
  const Expr above = importer.bind(node, "relax.greater", {x, top}),
             below = importer.bind(node, "relax.less", {x, bottom});
  return importer.bind(node, "relax.where",
                       {above, top, importer.bind(node, "relax.where", {below, bottom, x})});
}

void cast_to(Importer& importer, const Node& node, DataType dtype) {
  const Expr x = importer.value(node, 0);
  const bool saturates = dtype.is_float() && dtype.bits == 8 && int_attr(node, "saturate", 1) &&
                         relax::dtype_of(x).is_float() && relax::dtype_of(x).bits > 8;
  importer.define(node.outputs.at(0),
                  importer.bound(converted(saturates ? saturated(importer, node, x, dtype) : x, dtype)));
}

void cast(Importer& importer, const Node& node) {
  cast_to(importer, node, dtype_of(int_attr(node, "to", 0), "attribute \"to\""));
}

void cast_like(Importer& importer, const Node& node) {
  cast_to(importer, node, relax::dtype_of(importer.value(node, 1)));
}

constexpr ConverterRow kOthers[] = {
    {"BitShift", bit_shift}, {"Cast", cast},    {"CastLike", cast_like}, {"Div", divide}, {"Max", largest},
    {"Mean", average},       {"Min", smallest}, {"Mod", modulo},         {"Pow", power},  {"Sum", sum},
};

}  // namespace

std::span<const ConverterRow> math_converters() {
  static const std::vector<ConverterRow> rows = [] {
    std::vector<ConverterRow> all(std::begin(kOthers), std::end(kOthers));
    for (const Pair& row : kSame) all.push_back({row.first, same});
    return all;
  }();
  return rows;
}

}  // namespace tilewright::frontend::onnx
