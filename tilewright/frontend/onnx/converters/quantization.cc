// Quantized tensors.  Source: onnx.ai/onnx/operators, opset 10 to 23.
#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/import/convert.h"

#include <algorithm>
#include <numeric>

namespace tilewright::frontend::onnx {
namespace {

DataType dtype_attr(const Node& node, std::string_view name, DataType otherwise) {
  const int64_t number = int_attr(node, name, 0);
  return number ? dtype_of(number, fmt::format("attribute \"{}\"", name)) : otherwise;
}

// A single scale needs no axis; the axis of the node may then be out of range.
int64_t axis_of(const Node& node, const Expr& scale, int64_t said) {
  const relax::Shape& shape = shape_of(node, scale);
  if (int_attr(node, "block_size", 0) > 0) return said;
  return shape.empty() || tir::is_one(shape[0]) ? 0 : said;
}

void require_integers(DataType dtype) {
  if (!dtype.is_int() && !dtype.is_uint())
    throw Unsupported("quantized values of dtype {}, only integers are supported", dtype.str());
}

// Input 2, or null; beside a scale without dimensions a zero point [1] is one without, as in ONNX's own cases of 4 bits.
Expr zero_point(Importer& importer, const Node& node) {
  const Expr zero = importer.value(node, 2);
  if (!zero || !shape_of(node, importer.value(node, 1)).empty()) return zero;
  const relax::Shape& shape = shape_of(node, zero);
  return shape.size() == 1 && tir::is_one(shape[0]) ? importer.reshaped(node, zero, {}) : zero;
}

// ONNX requires a zero point for each scale, and several scales to match the indices of dimension `axis`.
void require_scales(Importer& importer, const Node& node, const Expr& scale, const Expr& zero) {
  const relax::Shape& scales = shape_of(node, scale);
  if (!zero || shape_of(node, zero).empty()) return;
  if (scales.empty() && shape_of(node, zero).size() == 1 && tir::is_one(shape_of(node, zero)[0])) return;
  importer.require(node, relax::is_same_shape(shape_of(node, zero), scales),
                   "the zero point is {}, but the scale is {}", shape_of(node, zero), scales);
}

// Floats of 8 and 4 bits but powers of two, which are only scales.
bool is_small_number(DataType dtype) {
  return dtype.is_float() && dtype.bits <= 8 && dtype.code != DataType::kFloat8E8M0FNU;
}

// The scales, or zero points, that belong to the elements of `x`, in `dtype`: one times each, dequantized.
Expr of_elements(Importer& importer, const Node& node, const Expr& x, const Expr& scale, DataType dtype) {
  const DataType whole = DataType::int_(8);
  const Expr ones =
      importer.bind(node, "relax.broadcast_to", {number(1, whole), relax::shape_expr(shape_of(node, x))});
  return importer.bind(node, "relax.dequantize", {ones, scale, importer.bound(number(0, whole))},
                       {{"axis", attr(axis_of(node, scale, int_attr(node, "axis", 1)))},
                        {"out_dtype", attr(dtype.str())},
                        {"block_size", attr(int_attr(node, "block_size", 0))}});
}

// True for a zero point that is left out, or is a constant of zeros.
bool is_nothing(const Expr& zero) {
  if (!zero) return true;
  const auto* constant = zero.as<relax::ConstantNode>();
  if (!constant) return false;
  const runtime::Tensor data = constant->data.compact();
  const char* bytes = data.data_as<char>();
  return std::all_of(bytes, bytes + data.num_bytes(), [](char byte) { return byte == 0; });
}

void quantize_float(Importer& importer, const Node& node, const Expr& x, const Expr& zero, DataType dtype) {
  const DataType real = relax::dtype_of(x);
  const Expr scales = of_elements(importer, node, x, importer.value(node, 1), real);
  Expr steps = importer.bind(node, "relax.divide", {x, scales});
  if (!is_nothing(zero))
    steps = importer.bind(node, "relax.add", {steps, of_elements(importer, node, x, zero, real)});
  importer.define(node.outputs.at(0), saturated_as(importer, node, steps, dtype));
}

void dequantize_float(Importer& importer, const Node& node, const Expr& zero, DataType dtype) {
  const Expr x = importer.value(node, 0);
  Expr wide = bound_as(importer, x, dtype);
  if (!is_nothing(zero))
    wide = importer.bind(node, "relax.subtract", {wide, of_elements(importer, node, x, zero, dtype)});
  importer.emit(node, "relax.multiply",
                {wide, of_elements(importer, node, x, importer.value(node, 1), dtype)});
}

// The dtype in which QuantizeLinear divides: attribute precision, or that of the scale; powers of two as scales stand
// for float32.
DataType division_dtype(const Node& node, const Expr& scale) {
  const DataType own = relax::dtype_of(scale);
  return dtype_attr(node, "precision", own.is_float() && own.bits > 8 ? own : kFloat32);
}

void quantize(Importer& importer, const Node& node) {
  const Expr given = zero_point(importer, node), scale = importer.value(node, 1);
  const DataType dtype = given ? relax::dtype_of(given) : dtype_attr(node, "output_dtype", DataType::uint(8));
  const Expr x = bound_as(importer, importer.value(node, 0), division_dtype(node, scale));
  if (is_small_number(dtype)) return quantize_float(importer, node, x, given, dtype);
  require_integers(dtype);
  require_scales(importer, node, scale, given);
  importer.emit(node, "relax.quantize", {x, scale, given ? given : importer.bound(number(0, dtype))},
                {{"axis", attr(axis_of(node, scale, int_attr(node, "axis", 1)))},
                 {"out_dtype", attr(dtype.str())},
                 {"block_size", attr(int_attr(node, "block_size", 0))}});
}

void dequantize(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0), scale = importer.value(node, 1);
  const DataType dtype = dtype_attr(node, "output_dtype", relax::dtype_of(scale));
  if (!dtype.is_float() || dtype.bits < 16)
    throw UserError("the result would have the dtype of the scale, {}", dtype.str())
        .help("set attribute output_dtype to float32, float16 or bfloat16");
  Expr zero = zero_point(importer, node);
  if (is_small_number(relax::dtype_of(x))) return dequantize_float(importer, node, zero, dtype);
  require_integers(relax::dtype_of(x));
  require_scales(importer, node, scale, zero);
  if (!zero) zero = importer.bound(number(0, relax::dtype_of(x)));
  importer.emit(node, "relax.dequantize", {x, scale, zero},
                {{"axis", attr(axis_of(node, scale, int_attr(node, "axis", 1)))},
                 {"out_dtype", attr(dtype.str())},
                 {"block_size", attr(int_attr(node, "block_size", 0))}});
}

Expr sums_over(Importer& importer, const Node& node, const Expr& x, int64_t axis) {
  const Expr wide = importer.bound(converted(x, kInt32));
  return importer.bind(node, "relax.sum", {wide},
                       {{"axis", attr(std::vector<int64_t>{axis})}, {"keepdims", attr(true)}});
}

// Input `input`, zero points, in int32: one value, or one for each index of the dimension that has
// `num_after` dimensions after it; null if it is left out.
Expr zero_point(Importer& importer, const Node& node, size_t input, size_t num_after) {
  const Expr given = importer.value(node, input);
  if (!given) return nullptr;
  const Expr zero = importer.bound(converted(given, kInt32));
  if (shape_of(node, zero).size() != 1 || num_after == 0) return zero;
  std::vector<int64_t> axes(num_after);
  std::iota(axes.begin(), axes.end(), 1);
  return importer.bind(node, "relax.expand_dims", {zero}, {{"axis", attr(axes)}});
}

// Input `input` minus its zero points, input `zero`, in int32.
Expr without_zero(Importer& importer, const Node& node, size_t input, size_t zero, size_t num_after) {
  require_integers(relax::dtype_of(importer.value(node, input)));
  const Expr x = importer.bound(converted(importer.value(node, input), kInt32));
  const Expr offset = zero_point(importer, node, zero, num_after);
  return offset ? importer.bind(node, "relax.subtract", {x, offset}) : x;
}

// Requires a single zero point, or one for each row of a and each column of b.
void require_zero_points(Importer& importer, const Node& node, const relax::Shape& rows,
                         const relax::Shape& columns) {
  const auto require = [&](size_t input, std::string_view name, std::string_view what,
                           const ir::PrimExpr& extent) {
    const Expr zero = importer.value(node, input);
    if (!zero || shape_of(node, zero).size() != 1) return;
    importer.require(node, relax::broadcasts_to(shape_of(node, zero), {extent}),
                     "{} is {}, expected one number, or one for each of {} {}", name, shape_of(node, zero),
                     extent, what);
  };
  if (rows.size() > 1) require(2, "a_zero_point", "rows", rows[rows.size() - 2]);
  if (columns.size() > 1) require(3, "b_zero_point", "columns", columns.back());
}

// (a - za) @ (b - zb) = a @ b - za * sum of b - zb * sum of a + k * za * zb, where a @ b multiplies bytes,
// with b as int8, as dot product instructions require
void matmul_integer(Importer& importer, const Node& node) {
  const Expr a = importer.value(node, 0);
  Expr b = importer.value(node, 1);
  const relax::Shape& rows = shape_of(node, a);
  require_zero_points(importer, node, rows, shape_of(node, b));
  int64_t num_terms = 0;
  if (rows.size() < 2 || shape_of(node, b).size() < 2 || !tir::as_const_int(rows.back(), &num_terms)) {
    const Expr left = without_zero(importer, node, 0, 2, rows.size() < 2 ? 0 : 1);
    return importer.emit(node, "relax.matmul", {left, without_zero(importer, node, 1, 3, 0)});
  }
  Expr zb = zero_point(importer, node, 3, 0);
  if (relax::dtype_of(b) == DataType::uint(8)) {
    const Expr wide = importer.bound(converted(b, DataType::int_(32)));
    const Expr moved = importer.bind(node, "relax.subtract", {wide, number(128, kInt32)});
    b = importer.bound(converted(moved, DataType::int_(8)));
    zb = zb ? importer.bind(node, "relax.subtract", {zb, number(128, kInt32)})
            : importer.bound(number(-128, kInt32));
  }
  Expr result = importer.bind(node, "relax.matmul", {a, b}, {{"out_dtype", attr(std::string("int32"))}});
  const Expr za = zero_point(importer, node, 2, 1);
  if (za) {
    const Expr total = importer.bind(node, "relax.multiply", {za, sums_over(importer, node, b, -2)});
    result = importer.bind(node, "relax.subtract", {result, total});
  }
  if (zb) {
    Expr total = sums_over(importer, node, a, -1);
    if (za) {
      const Expr length = importer.bound(number(static_cast<double>(num_terms), kInt32));
      total =
          importer.bind(node, "relax.subtract", {total, importer.bind(node, "relax.multiply", {length, za})});
    }
    result =
        importer.bind(node, "relax.subtract", {result, importer.bind(node, "relax.multiply", {zb, total})});
  }
  importer.define(node.outputs.at(0), result);
}

void conv_integer(Importer& importer, const Node& node) {
  const Expr zero = importer.value(node, 2);
  if (zero && !shape_of(node, zero).empty() && !tir::is_one(shape_of(node, zero)[0]))
    throw UserError("x_zero_point is {}, expected one number", relax::shape_text(shape_of(node, zero)));
  const size_t num_after = shape_of(node, importer.value(node, 1)).size() - 1;
  const Expr x = without_zero(importer, node, 0, 2, 0), w = without_zero(importer, node, 1, 3, num_after);
  importer.define(node.outputs.at(0), convolution(importer, node, x, w));
}

// `value`, one number or one for each index of dimension `axis` of `ndim`, in `dtype`, in a form that broadcasts.
Expr along(Importer& importer, const Node& node, const Expr& value, int64_t axis, size_t ndim,
           DataType dtype) {
  const Expr wide = bound_as(importer, value, dtype);
  const auto num_after = static_cast<int64_t>(ndim) - 1 - axis;
  if (shape_of(node, wide).size() != 1 || num_after < 1) return wide;
  std::vector<int64_t> axes(static_cast<size_t>(num_after));
  std::iota(axes.begin(), axes.end(), 1);
  return importer.bind(node, "relax.expand_dims", {wide}, {{"axis", attr(axes)}});
}

// Dequantizes inputs `first` to first + 2: values, scale and zero point.
Expr dequantized(Importer& importer, const Node& node, size_t first, int64_t axis) {
  const Expr x = importer.value(node, first), scale = importer.value(node, first + 1);
  if (is_small_number(relax::dtype_of(x))) {
    const DataType real = relax::dtype_of(scale);
    const size_t ndim = shape_of(node, x).size();
    Expr wide = bound_as(importer, x, real);
    if (const Expr zero = importer.value(node, first + 2); !is_nothing(zero))
      wide = importer.bind(node, "relax.subtract", {wide, along(importer, node, zero, axis, ndim, real)});
    return importer.bind(node, "relax.multiply", {wide, along(importer, node, scale, axis, ndim, real)});
  }
  require_integers(relax::dtype_of(x));
  return importer.bind(
      node, "relax.dequantize", {x, scale, importer.value(node, first + 2)},
      {{"axis", attr(axis_of(node, scale, axis))}, {"out_dtype", attr(relax::dtype_of(scale).str())}});
}

void emit_quantized(Importer& importer, const Node& node, const Expr& x, size_t scale) {
  const Expr zero = importer.value(node, scale + 1);
  if (const DataType dtype = relax::dtype_of(zero), real = relax::dtype_of(x); is_small_number(dtype)) {
    const Expr step = importer.bound(converted(importer.value(node, scale), real));
    Expr steps = importer.bind(node, "relax.divide", {x, step});
    if (!is_nothing(zero)) steps = importer.bind(node, "relax.add", {steps, bound_as(importer, zero, real)});
    return importer.define(node.outputs.at(0), saturated_as(importer, node, steps, dtype));
  }
  importer.emit(node, "relax.quantize", {x, importer.value(node, scale), zero},
                {{"axis", attr(0)}, {"out_dtype", attr(relax::dtype_of(zero).str())}});
}

void qlinear_conv(Importer& importer, const Node& node) {
  const Expr x = dequantized(importer, node, 0, 0), w = dequantized(importer, node, 3, 0);
  Expr y = convolution(importer, node, x, w);
  if (Expr bias = importer.value(node, 8)) {
    const Expr scale =
        importer.bind(node, "relax.multiply", {importer.value(node, 1), importer.value(node, 4)});
    bias = importer.bind(node, "relax.multiply",
                         {importer.bound(converted(bias, relax::dtype_of(scale))), scale});
    y = with_channels(importer, node, y, bias);
  }
  emit_quantized(importer, node, y, 6);
}

// a has one scale per row, b one per column.
void qlinear_matmul(Importer& importer, const Node& node) {
  const auto axis = [&](size_t input, int64_t from_end) {
    return std::max<int64_t>(
        0, static_cast<int64_t>(shape_of(node, importer.value(node, input)).size()) - from_end);
  };
  const Expr a = dequantized(importer, node, 0, axis(0, 2)), b = dequantized(importer, node, 3, axis(3, 1));
  emit_quantized(importer, node, importer.bind(node, "relax.matmul", {a, b}), 6);
}

// Outputs: uint8 values, scale and zero point, such that uint8 covers the range of x and 0.  Source:
// onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html; if all values are 0, the scale is 1.
void dynamic_quantize(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0), nothing = importer.bound(number(0, kFloat32));
  const auto limit = [&](std::string_view reduce, std::string_view with_zero) {
    return importer.bind(node, with_zero, {importer.bind(node, reduce, {x}), nothing});
  };
  const Expr least = limit("relax.min", "relax.minimum"), most = limit("relax.max", "relax.maximum");
  const Expr range = importer.bind(node, "relax.subtract", {most, least});
  const Expr step = importer.bind(node, "relax.divide", {range, number(255, kFloat32)});
  const Expr is_zero = importer.bind(node, "relax.equal", {step, nothing});
  const Expr scale = importer.bind(node, "relax.where", {is_zero, number(1, kFloat32), step});
  const Expr from =
      importer.bind(node, "relax.divide", {importer.bind(node, "relax.negative", {least}), scale});
  const Expr zero = importer.bound(converted(importer.bind(node, "relax.round", {from}), DataType::uint(8)));
  const std::vector<Expr> outputs{
      importer.bind(node, "relax.quantize", {x, scale, zero},
                    {{"axis", attr(0)}, {"out_dtype", attr(std::string("uint8"))}}),
      scale, zero};
  for (size_t n = 0; n < node.outputs.size(); ++n) {
    if (!node.outputs[n].empty()) importer.define(node.outputs[n], outputs.at(n));
  }
}

constexpr AttributeRule kDequantizeLinear[] = {{"axis", Attribute::kInt, kAnyLeast, kAnyMost, 13},
                                               {"block_size", Attribute::kInt, kAnyLeast, kAnyMost, 21},
                                               {"output_dtype", Attribute::kInt, kAnyLeast, kAnyMost, 23}};
constexpr AttributeRule kQuantizeLinear[] = {{"axis", Attribute::kInt, kAnyLeast, kAnyMost, 13},
                                             {"block_size", Attribute::kInt, kAnyLeast, kAnyMost, 21},
                                             {"output_dtype", Attribute::kInt, kAnyLeast, kAnyMost, 21},
                                             {"precision", Attribute::kInt, kAnyLeast, kAnyMost, 23},
                                             flag("saturate", 19)};

constexpr ConverterRow kRows[] = {
    {"ConvInteger", conv_integer, 2, 4, kConv, 1, 10},
    {"DequantizeLinear", dequantize, 2, 3, kDequantizeLinear, 1, 10},
    {"DynamicQuantizeLinear", dynamic_quantize, 1, 1, {}, 3, 11, kLastOpset, 3},
    {"MatMulInteger", matmul_integer, 2, 4, {}, 1, 10},
    {"QLinearConv", qlinear_conv, 8, 9, kConv, 1, 10},
    {"QLinearMatMul", qlinear_matmul, 8, 8, {}, 1, 10},
    {"QuantizeLinear", quantize, 2, 3, kQuantizeLinear, 1, 10},
    {"com.microsoft::DequantizeLinear", dequantize, 2, 3, kAxis},
    {"com.microsoft::QuantizeLinear", quantize, 2, 3, kAxis},
};

}  // namespace

extern constinit const ConverterTable quantization_info = {kRows};

}  // namespace tilewright::frontend::onnx
