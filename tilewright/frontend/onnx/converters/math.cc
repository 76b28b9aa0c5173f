// Arithmetic, comparisons, functions of one value, dtypes.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <algorithm>
#include <cmath>

#include "tilewright/frontend/onnx/graphs/string_graph.h"
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {
namespace {

// ---- operators with an equivalent

/// The name of a graph operator as an argument of a template.
template <size_t kSize>
struct OpName {
  char text[kSize];
  consteval OpName(const char (&name)[kSize]) { std::copy_n(name, kSize, text); }
};

void emit_same(Importer& importer, const Node& node, std::string_view op) {
  std::vector<Expr> args;
  for (size_t n = 0; n < node.inputs.size(); ++n) args.push_back(importer.value(node, n));
  importer.emit(node, op, std::move(args));
}

template <OpName kOp>
void same(Importer& importer, const Node& node) {
  emit_same(importer, node, kOp.text);
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

// The base to the 2 or 3 by products; null if the exponent is another one, or no constant of one element.
Expr small_power(Importer& importer, const Node& node, const Expr& base) {
  const auto* constant = importer.value(node, 1).as<relax::ConstantNode>();
  const relax::Shape* shape = relax::known_shape(base);
  if (!constant || constant->data.num_elements() != 1 || !shape ||
      static_cast<size_t>(constant->data.ndim()) > shape->size())
    return nullptr;
  const ir::PrimExpr literal = literals(importer, node, 1).at(0);
  const auto* real = literal.as<ir::FloatImmNode>();
  const auto* whole = literal.as<ir::IntImmNode>();
  const double exponent = real ? real->value : whole ? static_cast<double>(whole->value) : 0;
  // small floats would be rounded twice
  const bool is_cube = exponent == 3 && relax::dtype_of(base).bits >= 32;
  if (exponent != 2 && !is_cube) return nullptr;
  const Expr square = importer.bind(node, "relax.multiply", {base, base});
  return is_cube ? importer.bind(node, "relax.multiply", {square, base}) : square;
}

// The result has the dtype of the base.  Integers to integer powers are exact.
void power(Importer& importer, const Node& node) {
  const Expr base = importer.value(node, 0);
  Expr exponent = importer.value(node, 1);
  const DataType dtype = relax::dtype_of(base);
  if (dtype.is_integral() && relax::dtype_of(exponent).is_float()) {
    if (const Expr whole = whole_exponents(importer, node)) exponent = whole;
  }
  if (const Expr product = small_power(importer, node, base))
    return importer.define(node.outputs.at(0), product);
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

void cast_to(Importer& importer, const Node& node, DataType dtype) {
  if (casts_strings(node)) return cast_strings(importer, node, dtype);
  const Expr x = importer.value(node, 0);
  importer.define(node.outputs.at(0), saturated_as(importer, node, x, dtype));
}

void cast(Importer& importer, const Node& node) {
  if (node.makes_strings(0)) return cast_strings(importer, node, kInt64);
  cast_to(importer, node, dtype_of(int_attr(node, "to", 0), "attribute \"to\""));
}

void cast_like(Importer& importer, const Node& node) {
  cast_to(importer, node, relax::dtype_of(importer.value(node, 1)));
}

// The same bits; a bool is a byte of 0 or 1.
void bit_cast(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const DataType from = relax::dtype_of(x), to = dtype_of(int_attr(node, "to", 0), "attribute \"to\"");
  const auto num_bits = [](DataType dtype) { return dtype.is_bool() ? 8 : dtype.bits; };
  if (num_bits(from) != num_bits(to))
    throw UserError("the input is {}, which has another size than {}", from.str(), to.str());
  if (from.is_bool() || to.is_bool()) return cast_to(importer, node, to);
  importer.emit(node, "relax.bitcast", {x}, {{"dtype", attr(to.str())}});
}

constexpr AttributeRule kBitCast[] = {
    {"to", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kBitShift[] = {
    {"direction", Attribute::kString, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kCast[] = {
    {"round_mode", Attribute::kString, kAnyLeast, kAnyMost, 24},
    flag("saturate", 19),
    {"to", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kCastLike[] = {{"round_mode", Attribute::kString, kAnyLeast, kAnyMost, 24},
                                       flag("saturate", 19)};
constexpr AttributeRule kMod[] = {flag("fmod")};

constexpr ConverterRow kRows[] = {
    {"Abs", same<"relax.abs">, 1, 1},
    {"Acos", same<"relax.acos">, 1, 1},
    {"Acosh", same<"relax.acosh">, 1, 1, {}, 1, 9},
    {"Add", same<"relax.add">, 2, 2},
    {"And", same<"relax.logical_and">, 2, 2},
    {"Asin", same<"relax.asin">, 1, 1},
    {"Asinh", same<"relax.asinh">, 1, 1, {}, 1, 9},
    {"Atan", same<"relax.atan">, 1, 1},
    {"Atanh", same<"relax.atanh">, 1, 1, {}, 1, 9},
    {"BitCast", bit_cast, 1, 1, kBitCast, 1, 26},
    {"BitShift", bit_shift, 2, 2, kBitShift, 1, 11},
    {"BitwiseAnd", same<"relax.bitwise_and">, 2, 2, {}, 1, 18},
    {"BitwiseNot", same<"relax.bitwise_not">, 1, 1, {}, 1, 18},
    {"BitwiseOr", same<"relax.bitwise_or">, 2, 2, {}, 1, 18},
    {"BitwiseXor", same<"relax.bitwise_xor">, 2, 2, {}, 1, 18},
    {"Cast", cast, 1, 1, kCast},
    {"CastLike", cast_like, 2, 2, kCastLike, 1, 15},
    {"Ceil", same<"relax.ceil">, 1, 1},
    {"Cos", same<"relax.cos">, 1, 1},
    {"Cosh", same<"relax.cosh">, 1, 1, {}, 1, 9},
    {"Div", divide, 2, 2},
    {"Equal", same<"relax.equal">, 2, 2},
    {"Erf", same<"relax.erf">, 1, 1, {}, 1, 9},
    {"Exp", same<"relax.exp">, 1, 1},
    {"Floor", same<"relax.floor">, 1, 1},
    {"Greater", same<"relax.greater">, 2, 2},
    {"GreaterOrEqual", same<"relax.greater_equal">, 2, 2, {}, 1, 12},
    {"IsNaN", same<"relax.isnan">, 1, 1, {}, 1, 9},
    {"Less", same<"relax.less">, 2, 2},
    {"LessOrEqual", same<"relax.less_equal">, 2, 2, {}, 1, 12},
    {"Log", same<"relax.log">, 1, 1},
    {"MatMul", same<"relax.matmul">, 2, 2},
    {"Max", largest, 1, kAnyNumber},
    {"Mean", average, 1, kAnyNumber},
    {"Min", smallest, 1, kAnyNumber},
    {"Mod", modulo, 2, 2, kMod, 1, 10},
    {"Mul", same<"relax.multiply">, 2, 2},
    {"Neg", same<"relax.negative">, 1, 1},
    {"Not", same<"relax.logical_not">, 1, 1},
    {"Or", same<"relax.logical_or">, 2, 2},
    {"Pow", power, 2, 2},
    {"Relu", same<"relax.nn.relu">, 1, 1},
    {"Round", same<"relax.round">, 1, 1, {}, 1, 11},
    {"Sigmoid", same<"relax.sigmoid">, 1, 1},
    {"Sign", same<"relax.sign">, 1, 1, {}, 1, 9},
    {"Sin", same<"relax.sin">, 1, 1},
    {"Sinh", same<"relax.sinh">, 1, 1, {}, 1, 9},
    {"Sqrt", same<"relax.sqrt">, 1, 1},
    {"Sub", same<"relax.subtract">, 2, 2},
    {"Sum", sum, 1, kAnyNumber},
    {"Tan", same<"relax.tan">, 1, 1},
    {"Tanh", same<"relax.tanh">, 1, 1},
    {"Where", same<"relax.where">, 3, 3, {}, 1, 9},
    {"Xor", same<"relax.logical_xor">, 2, 2},
};

}  // namespace

extern constinit const ConverterTable math_info = {kRows};

}  // namespace tilewright::frontend::onnx
