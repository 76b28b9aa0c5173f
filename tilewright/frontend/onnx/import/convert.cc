// The table of all converters, and helpers for them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/import.h"
#include "tilewright/runtime/packed_elements.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/near.h"
#include "tilewright/support/small_float.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::frontend::onnx {

const ConverterRow* find_converter(std::string_view op, int64_t opset) {
  const ConverterRow *found = nullptr, *other = nullptr;
  for (size_t n = 0; n < k_onnx_converters_count; ++n) {
    for (const ConverterRow& row : k_onnx_converters[n]->rows) {
      if (row.op != op) continue;
      other = &row;
      // an early form ends before a later one, which may say only where it ends
      if (row.is_of(opset) && (!found || row.until < found->until)) found = &row;
    }
  }
  return found ? found : other;
}

std::vector<std::string> imported_operators() {
  std::set<std::string> names;
  for (size_t n = 0; n < k_onnx_converters_count; ++n) {
    for (const ConverterRow& row : k_onnx_converters[n]->rows) names.emplace(row.op);
  }
  return {names.begin(), names.end()};
}

// ---- values

Expr scalar_value(const ir::PrimExpr& value) { return relax::PrimValueNode::make(value); }

Expr number(double value, DataType dtype) {
  const relax::Constant constant = relax::make_scalar(value, dtype);
  return constant ? Expr(constant) : converted(relax::make_scalar(value, kFloat64), dtype);
}

Expr converted(const Expr& value, DataType dtype) {
  if (relax::dtype_of(value) == dtype) return value;
  return relax::call_op("relax.astype", {value}, {{"dtype", attr(dtype.str())}});
}

Expr bound_as(Importer& importer, const Expr& value, DataType dtype) {
  return relax::dtype_of(value) == dtype ? value : importer.bound(converted(value, dtype));
}

Expr widened(Importer& importer, const Expr& value) {
  return bound_as(importer, value, topi::dtype_of_sums(relax::dtype_of(value)));
}

namespace {

// A float dtype with the values of `from`, in which those of the small float `to` can be told apart.
DataType wide_float(DataType from, DataType to) {
  const bool is_whole = !from.is_float() && from.bits > 16;
  if (is_whole) return kFloat64;
  return from.is_float() && from.bits >= (float_format(to).is_powers() ? 32 : 16) ? from : kFloat32;
}

// `x` between `low` and `high`; NaN stays.
Expr clamped(Importer& importer, const Node& node, const Expr& x, double low, double high) {
  const DataType dtype = relax::dtype_of(x);
  const Expr top = importer.bound(number(high, dtype)), bottom = importer.bound(number(low, dtype));
  const Expr above = importer.bind(node, "relax.greater", {x, top}),
             below = importer.bind(node, "relax.less", {x, bottom});
  return importer.bind(node, "relax.where",
                       {above, top, importer.bind(node, "relax.where", {below, bottom, x})});
}

// `x` cast to powers of two as attribute round_mode says; the cast itself rounds to the nearest, of two to the upper.
// Without saturation what is below the least power is NaN, as what is above the largest is.
Expr as_powers(Importer& importer, const Node& node, Expr x, DataType dtype) {
  const std::string mode = string_attr(node, "round_mode", "up");
  require_known_text("round_mode", mode, {"down", "nearest", "up"});
  const FloatFormat format = float_format(dtype);
  const DataType wide = relax::dtype_of(x);
  const double least = decode_float(0, format), largest = decode_float(format.largest_bits(), format);
  if (int_attr(node, "saturate", 1)) {
    x = clamped(importer, node, x, least, largest);
  } else {
    if (mode == "down") {  // what is not twice the largest becomes it
      const Expr is_near = importer.bind(node, "relax.less", {x, importer.bound(number(2 * largest, wide))}),
                 capped = importer.bind(node, "relax.minimum", {x, importer.bound(number(largest, wide))});
      x = importer.bind(node, "relax.where", {is_near, capped, x});
    }
    const Expr is_small = importer.bind(node, "relax.less", {x, importer.bound(number(least, wide))});
    x = importer.bind(node, "relax.where", {is_small, importer.bound(number(NAN, wide)), x});
  }
  const Expr nearest = importer.bound(converted(x, dtype));
  if (mode == "nearest") return nearest;
  const Expr found = importer.bound(converted(nearest, wide));
  const bool is_up = mode == "up";
  const Expr is_off = importer.bind(node, is_up ? "relax.less" : "relax.greater", {found, x});
  const Expr next = importer.bind(node, "relax.multiply", {found, number(is_up ? 2 : 0.5, wide)});
  return importer.bound(converted(importer.bind(node, "relax.where", {is_off, next, found}), dtype));
}

}  // namespace

Expr saturated_as(Importer& importer, const Node& node, const Expr& given, DataType dtype) {
  const DataType from = relax::dtype_of(given);
  if (from == dtype || !dtype.is_float() || dtype.bits != 8) return bound_as(importer, given, dtype);
  const Expr x = bound_as(importer, given, wide_float(from, dtype));
  const FloatFormat format = float_format(dtype);
  if (format.is_powers()) return as_powers(importer, node, x, dtype);
  if (!int_attr(node, "saturate", 1)) return importer.bound(converted(x, dtype));
  const double largest = decode_float(format.largest_bits(), format);
  return importer.bound(converted(clamped(importer, node, x, -largest, largest), dtype));
}

namespace {

// Element `n` of `data`, elements of `dtype`, or those that share bytes one by one.
ir::PrimExpr literal_at(const runtime::Tensor& data, DataType dtype, int64_t n) {
  const size_t num_bytes = static_cast<size_t>(dtype.bits + 7) / 8;
  const char* element = data.data_as<char>() + static_cast<size_t>(n) * num_bytes;
  if (is_small_float(dtype)) {
    uint16_t bits = 0;
    std::memcpy(&bits, element, num_bytes);
    return tir::float_imm(decode_float(bits, float_format(dtype)), dtype);
  }
  if (dtype == DataType::uint(64)) {  // the bits, as literals have them
    int64_t bits = 0;
    std::memcpy(&bits, element, sizeof bits);
    return tir::imm(bits, dtype);
  }
  const auto scalar =
      relax::make_constant(runtime::Tensor::copy_of(element, num_bytes, runtime::Shape{}, data.dtype()));
  const ir::PrimExpr literal = relax::literal_of(scalar.get());
  return literal && dtype != data.dtype() ? tir::cast(dtype, literal) : literal;
}

}  // namespace

std::vector<ir::PrimExpr> literals(Importer& importer, const Node& node, size_t input) {
  if (const auto elements = importer.known(node, input)) {
    if (std::all_of(elements->begin(), elements->end(),
                    [](const ir::PrimExpr& element) { return is<ir::IntImmNode>(element); }))
      return *elements;
  }
  const Expr whole = importer.value(node, input);
  if (!whole) throw UserError("input {} is missing", input);
  const auto* constant = whole.as<relax::ConstantNode>();
  if (!constant) throw Unsupported("input \"{}\" is known only at run time", node.inputs[input]);
  const DataType dtype = constant->data.dtype();
  const runtime::Tensor data =
      runtime::shares_bytes(dtype) ? runtime::unpack_elements(constant->data) : constant->data.compact();
  std::vector<ir::PrimExpr> numbers;
  for (int64_t n = 0; n < data.num_elements(); ++n) {
    numbers.push_back(literal_at(data, dtype, n));
    if (!numbers.back()) throw Unsupported("input \"{}\" has dtype {}", node.inputs[input], dtype.str());
  }
  return numbers;
}

int64_t checked_axis(int64_t axis, size_t ndim) {
  const auto count = static_cast<int64_t>(ndim);
  if (axis < -count || axis >= count)
    throw UserError("axis {} is outside of a tensor with {}", axis, count_text(ndim, "dimension"));
  return axis < 0 ? axis + count : axis;
}

void require_known_text(std::string_view attribute, std::string_view text,
                        const std::vector<std::string_view>& known) {
  if (std::find(known.begin(), known.end(), text) != known.end()) return;
  throw UserError("{} is \"{}\"", attribute, text).help("{}", nearest_names_text(text, known));
}

// ---- attributes

int64_t int_attr(const Node& node, std::string_view name, int64_t otherwise) {
  const Attribute* attribute = node.find(name);
  return attribute ? attribute->integer : otherwise;
}
double float_attr(const Node& node, std::string_view name, double otherwise) {
  const Attribute* attribute = node.find(name);
  return attribute ? attribute->number : otherwise;
}
std::string string_attr(const Node& node, std::string_view name, std::string_view otherwise) {
  const Attribute* attribute = node.find(name);
  return attribute ? attribute->text : std::string(otherwise);
}
std::vector<int64_t> ints_attr(const Node& node, std::string_view name, std::vector<int64_t> otherwise) {
  const Attribute* attribute = node.find(name);
  return attribute ? attribute->integers : otherwise;
}
const relax::Shape& shape_of(const Node& node, const Expr& value) {
  const relax::Shape* shape = value ? relax::known_shape(value) : nullptr;
  if (!shape)
    throw Unsupported("the shape of input \"{}\" is unknown", node.inputs.empty() ? "" : node.inputs[0]);
  return *shape;
}

}  // namespace tilewright::frontend::onnx
