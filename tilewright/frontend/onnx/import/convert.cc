// The table of all converters, and helpers for them.
#include <algorithm>
#include <cstring>
#include <set>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/import.h"
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

Expr saturated_as(Importer& importer, const Node& node, const Expr& x, DataType dtype) {
  const DataType from = relax::dtype_of(x);
  const bool is_narrow = dtype.is_float() && dtype.bits == 8 && from.is_float() && from.bits > 8;
  if (!is_narrow || !int_attr(node, "saturate", 1)) return bound_as(importer, x, dtype);
  const double largest = dtype.code == DataType::kFloat8E5M2 ? 57344 : 448;
  const Expr top = importer.bound(number(largest, from)), bottom = importer.bound(number(-largest, from));
  const Expr above = importer.bind(node, "relax.greater", {x, top}),
             below = importer.bind(node, "relax.less", {x, bottom});
  const Expr inside = importer.bind(node, "relax.where", {below, bottom, x});
  return importer.bound(converted(importer.bind(node, "relax.where", {above, top, inside}), dtype));
}

namespace {

ir::PrimExpr literal_at(const runtime::Tensor& data, int64_t n) {
  const DataType dtype = data.dtype();
  const size_t num_bytes = static_cast<size_t>(dtype.bits + 7) / 8;
  const char* element = data.data_as<char>() + static_cast<size_t>(n) * num_bytes;
  if (is_small_float(dtype)) {
    uint16_t bits = 0;
    std::memcpy(&bits, element, num_bytes);
    return tir::float_imm(decode_float(bits, float_format(dtype)), dtype);
  }
  const auto scalar =
      relax::make_constant(runtime::Tensor::copy_of(element, num_bytes, runtime::Shape{}, dtype));
  return relax::literal_of(scalar.get());
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
  const runtime::Tensor data = constant->data.compact();
  std::vector<ir::PrimExpr> numbers;
  for (int64_t n = 0; n < data.num_elements(); ++n) {
    numbers.push_back(literal_at(data, n));
    if (!numbers.back())
      throw Unsupported("input \"{}\" has dtype {}", node.inputs[input], data.dtype().str());
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
