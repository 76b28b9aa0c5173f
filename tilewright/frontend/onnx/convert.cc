// The table of all converters, and what they share.
#include <algorithm>

#include "tilewright/frontend/onnx/convert.h"
#include "tilewright/frontend/onnx/import.h"
#include "tilewright/support/near.h"

namespace tilewright::frontend::onnx {

namespace {

template <class Visit>
void for_each_row(Visit&& visit) {
  for (const auto& rows : {math_converters(), activation_converters(), move_converters(),
                           arrange_converters(), create_converters(), reduce_converters(), nn_converters(),
                           norm_converters(), quantization_converters(), resize_converters()}) {
    for (const ConverterRow& row : rows) visit(row);
  }
}

}  // namespace

Converter find_converter(std::string_view op_type) {
  Converter found = nullptr;
  for_each_row([&](const ConverterRow& row) {
    if (row.op == op_type) found = row.convert;
  });
  return found;
}

std::vector<std::string> imported_operators() {
  std::vector<std::string> names;
  for_each_row([&](const ConverterRow& row) { names.emplace_back(row.op); });
  std::sort(names.begin(), names.end());
  return names;
}

// ---- values

DataType element_dtype(const Expr& value) {
  const ir::Type whole = relax::type_of(value);
  const auto* type = whole.as<relax::TensorTypeNode>();
  return type ? type->dtype : DataType::void_();
}

namespace {

template <class T>
Expr constant_number(double value, DataType dtype) {
  const T element = static_cast<T>(value);
  return constant_of(runtime::Tensor::copy_of(&element, sizeof element, std::vector<int64_t>{}, dtype));
}

}  // namespace

Expr number(double value, DataType dtype) {
  if (dtype == kFloat32) return constant_number<float>(value, dtype);
  if (dtype == kInt64) return constant_number<int64_t>(value, dtype);
  if (dtype == kInt32) return constant_number<int32_t>(value, dtype);
  const Expr wide = constant_number<double>(value, kFloat64);
  return dtype == kFloat64 ? wide : converted(wide, dtype);
}

Expr converted(const Expr& value, DataType dtype) {
  if (element_dtype(value) == dtype) return value;
  return relax::call_op("relax.astype", {value}, {{"dtype", tir::string_imm(dtype.str())}});
}

int64_t checked_axis(int64_t axis, size_t ndim) {
  const auto count = static_cast<int64_t>(ndim);
  if (axis < -count || axis >= count) throw UserError("axis {} of a tensor with {} dimensions", axis, ndim);
  return axis < 0 ? axis + count : axis;
}

void require_known_text(std::string_view attribute, std::string_view text,
                        const std::vector<std::string_view>& known) {
  if (std::find(known.begin(), known.end(), text) != known.end()) return;
  throw UserError("{} is \"{}\"", attribute, text).help("{}", nearest_names_text(text, known));
}

Expr shape_value(relax::Shape extents) {
  const ir::Type type = relax::shape_type(extents);
  return relax::ShapeExprNode::make(std::move(extents), type);
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
ir::ObjectRef integer(int64_t value) { return ir::IntImmNode::make(kInt64, value); }
ir::ObjectRef text(std::string value) { return tir::string_imm(std::move(value)); }
ir::ObjectRef flag(bool value) { return ir::IntImmNode::make(kBoolType, int64_t{value}); }
ir::ObjectRef real(double value) { return ir::FloatImmNode::make(DataType::float_(64), value); }
ir::ObjectRef int_list(const std::vector<int64_t>& values) {
  std::vector<ir::ObjectRef> items;
  for (int64_t value : values) items.push_back(integer(value));
  return ir::ArrayNode::make(std::move(items));
}

relax::Constant constant_of(const runtime::Tensor& data) {
  const std::vector<int64_t> extents(data.shape().begin(), data.shape().end());
  return relax::ConstantNode::make(data.compact(),
                                   ir::Type(relax::tensor_type(relax::extents(extents), data.dtype())));
}

const relax::Shape& shape_of(const Node& node, const Expr& value) {
  const relax::Shape* shape = value ? relax::known_shape(value) : nullptr;
  if (!shape)
    throw Unsupported("the shape of input \"{}\" is unknown", node.inputs.empty() ? "" : node.inputs[0]);
  return *shape;
}

}  // namespace tilewright::frontend::onnx
