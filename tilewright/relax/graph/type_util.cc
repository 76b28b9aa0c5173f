#include "tilewright/relax/graph/type_util.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/small_float.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {

PrimExpr extent_imm(int64_t value) { return tir::imm(value, kInt64); }

Shape extents(const std::vector<int64_t>& values) {
  Shape shape;
  for (int64_t value : values) shape.push_back(extent_imm(value));
  return shape;
}

bool has_more_nodes(const PrimExpr& expr, int most) {
  int count = 0;
  walk(expr, [&](const PrimExprNode*) { return ++count <= most; });
  return count > most;
}

PrimExpr as_extent(PrimExpr value) {
  return value->dtype == kInt64 ? value : tir::cast(kInt64, std::move(value));
}

PrimExpr checked_extent(const PrimExpr& value, Span span) {
  if (!value->dtype.is_integral() || !value->dtype.is_scalar())
    throw UserError(span, "a dimension has dtype {}, expected an integer", value->dtype.str());
  int64_t constant;
  if (tir::as_const_int(value, &constant) && constant < 0)
    throw UserError(span, "a dimension is {}, which is negative", constant);
  return as_extent(value);
}

TensorType tensor_type(Shape shape, DataType dtype, std::string device) {
  for (PrimExpr& extent : shape) extent = as_extent(std::move(extent));
  const auto ndim = static_cast<int64_t>(shape.size());
  return TensorTypeNode::make(shape_expr(std::move(shape)), dtype, ndim, std::move(device));
}

TensorType tensor_type_of_ndim(int64_t ndim, DataType dtype, std::string device) {
  if (ndim == 0) return tensor_type({}, dtype, std::move(device));
  return TensorTypeNode::make(Expr(), dtype, ndim, std::move(device));
}

ShapeType shape_type(Shape values) {
  const auto ndim = static_cast<int64_t>(values.size());
  return ShapeTypeNode::make(std::move(values), ndim, true);
}

ShapeExpr shape_expr(Shape values, Span span) {
  const Type type = shape_type(values);
  return ShapeExprNode::make(std::move(values), type, std::move(span));
}

ShapeType shape_type_of_ndim(int64_t ndim) { return ShapeTypeNode::make(Shape{}, ndim, ndim == 0); }
PrimType prim_type(DataType dtype, PrimExpr value) { return PrimTypeNode::make(dtype, std::move(value)); }
TupleType tuple_type(std::vector<Type> elements) { return TupleTypeNode::make(std::move(elements)); }
Type object_type() { return ObjectTypeNode::make(); }
Type void_type() { return tuple_type({}); }
bool is_void(const Type& type) {
  const auto* tuple = type.as<TupleTypeNode>();
  return tuple && tuple->elements.empty();
}

namespace {

Type constant_type(const ConstantNode* constant) {
  Shape shape;
  for (int64_t extent : constant->data.shape()) shape.push_back(extent_imm(extent));
  return tensor_type(std::move(shape), constant->data.dtype());
}

Type tuple_of(const TupleNode* tuple) {
  std::vector<Type> elements;
  for (const Expr& element : tuple->elements) {
    elements.push_back(type_of(element));
    if (!elements.back()) return nullptr;
  }
  return tuple_type(std::move(elements));
}

}  // namespace

Constant make_constant(const runtime::Tensor& data) {
  const Constant constant = ConstantNode::make(data.compact());
  return with(constant, [&](ConstantNode& node) { node.type = constant_type(constant.get()); });
}

Constant make_scalar(double value, DataType dtype) {
  auto scalar = [&](auto element) {
    return make_constant(runtime::Tensor::copy_of(&element, sizeof element, runtime::Shape{}, dtype));
  };
  if (dtype == kFloat32) return scalar(static_cast<float>(value));
  if (dtype == DataType::float_(64)) return scalar(value);
  if (dtype == kInt32) return scalar(static_cast<int32_t>(value));
  if (dtype == kInt64) return scalar(static_cast<int64_t>(value));
  if (dtype == DataType::int_(8)) return scalar(static_cast<int8_t>(value));
  if (dtype == DataType::uint(8)) return scalar(static_cast<uint8_t>(value));
  if (dtype == DataType::int_(16)) return scalar(static_cast<int16_t>(value));
  if (dtype.is_float() && dtype.bits == 16)
    return scalar(static_cast<uint16_t>(encode_float(value, float_format(dtype))));
  return nullptr;
}

PrimExpr literal_of(const ConstantNode* constant) {
  const runtime::Tensor& data = constant->data;
  const DataType dtype = data.dtype();
  if (data.ndim() != 0) return nullptr;
  auto integer = [&]<class T>(const T* value) { return tir::imm(static_cast<int64_t>(*value), dtype); };
  if (dtype == kFloat32) return tir::float_imm(*data.data_as<float>(), dtype);
  if (dtype == DataType::float_(64)) return tir::float_imm(*data.data_as<double>(), dtype);
  if (dtype.is_bool()) return tir::bool_imm(*data.data_as<uint8_t>() != 0);
  if (!dtype.is_integral()) return nullptr;
  switch (dtype.bits) {
    case 8: return dtype.is_int() ? integer(data.data_as<int8_t>()) : integer(data.data_as<uint8_t>());
    case 16: return dtype.is_int() ? integer(data.data_as<int16_t>()) : integer(data.data_as<uint16_t>());
    case 32: return dtype.is_int() ? integer(data.data_as<int32_t>()) : integer(data.data_as<uint32_t>());
    case 64: return dtype.is_int() ? integer(data.data_as<int64_t>()) : PrimExpr();
    default: return nullptr;
  }
}

Type type_of(const Expr& expr) {
  const auto* node = expr.as<RelaxExprNode>();
  if (!node) return nullptr;
  if (node->type) return node->type;
  if (const auto* constant = expr.as<ConstantNode>()) return constant_type(constant);
  if (const auto* tuple = expr.as<TupleNode>()) return tuple_of(tuple);
  if (const auto* shape = expr.as<ShapeExprNode>()) return shape_type(shape->values);
  if (const auto* prim = expr.as<PrimValueNode>()) return prim_type(prim->value->dtype, prim->value);
  if (is<StringValueNode>(expr) || is<DataTypeValueNode>(expr)) return object_type();
  return nullptr;
}

DataType dtype_of(const Expr& expr) {
  const Type type = type_of(expr);
  const auto* tensor = type.as<TensorTypeNode>();
  return tensor ? tensor->dtype : DataType::void_();
}

const Shape* known_shape(const TensorTypeNode* type) {
  if (!type || !type->shape) return nullptr;
  if (const auto* shape = type->shape.as<ShapeExprNode>()) return &shape->values;
  return known_shape(type->shape);
}

const Shape* known_shape(const Expr& expr) {
  if (const auto* shape = expr.as<ShapeExprNode>()) return &shape->values;
  const auto* node = expr.as<RelaxExprNode>();
  if (!node || !node->type) return nullptr;
  if (const auto* shape = node->type.as<ShapeTypeNode>()) return shape->is_known ? &shape->values : nullptr;
  return known_shape(node->type.as<TensorTypeNode>());
}

std::optional<std::vector<int64_t>> constant_extents(const Shape& shape) {
  std::vector<int64_t> values(shape.size());
  for (size_t n = 0; n < shape.size(); ++n) {
    if (!tir::as_const_int(shape[n], &values[n])) return std::nullopt;
  }
  return values;
}

std::optional<std::vector<int64_t>> constant_shape(const Expr& expr) {
  const Shape* shape = known_shape(expr);
  return shape ? constant_extents(*shape) : std::nullopt;
}

// ---------------------------------------------------------------- text

namespace {
std::string joined_extents(const Shape& shape) {
  std::vector<std::string> texts;
  for (const PrimExpr& extent : shape) texts.push_back(tir::expr_text(extent));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string tensor_text(const TensorTypeNode* type) {
  std::vector<std::string> parts;
  if (const Shape* shape = known_shape(type))
    parts.push_back(fmt::format("({}{})", joined_extents(*shape), shape->size() == 1 ? "," : ""));
  if (!type->dtype.is_void()) parts.push_back(fmt::format("\"{}\"", type->dtype.str()));
  if (!known_shape(type) && type->ndim >= 0) parts.push_back(fmt::format("ndim={}", type->ndim));
  return parts.empty() ? "R.Tensor" : fmt::format("R.Tensor({})", fmt::join(parts, ", "));
}
}  // namespace

std::string shape_text(const Shape& shape) { return "[" + joined_extents(shape) + "]"; }

std::string type_text(const Type& type) {
  if (!type) return "unknown";
  if (const auto* tensor = type.as<TensorTypeNode>()) return tensor_text(tensor);
  if (const auto* shape = type.as<ShapeTypeNode>()) {
    if (shape->is_known) return fmt::format("R.Shape([{}])", joined_extents(shape->values));
    return shape->ndim < 0 ? "R.Shape" : fmt::format("R.Shape(ndim={})", shape->ndim);
  }
  if (const auto* prim = type.as<PrimTypeNode>())
    return prim->value ? fmt::format("R.Prim(value={})", tir::expr_text(prim->value))
                       : fmt::format("R.Prim(\"{}\")", prim->dtype.str());
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    std::vector<std::string> elements;
    for (const Type& element : tuple->elements) elements.push_back(type_text(element));
    return fmt::format("R.Tuple({})", fmt::join(elements, ", "));
  }
  return is<CallableTypeNode>(type) ? "R.Callable" : "R.Object";
}

std::string short_type(const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    const std::string dtype = tensor->dtype.is_void() ? "tensor" : tensor->dtype.str();
    const auto* shape = tensor->shape.as<ShapeExprNode>();
    if (!shape) return tensor->ndim < 0 ? dtype : fmt::format("{}[ndim={}]", dtype, tensor->ndim);
    std::vector<std::string> extents;
    for (const PrimExpr& extent : shape->values) extents.push_back(tir::expr_text(extent));
    return fmt::format("{}[{}]", dtype, fmt::join(extents, ", "));
  }
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    std::vector<std::string> elements;
    for (const Type& element : tuple->elements) elements.push_back(short_type(element));
    return fmt::format("tuple({})", fmt::join(elements, ", "));
  }
  if (is<ShapeTypeNode>(type)) return "shape";
  if (const auto* prim = type.as<PrimTypeNode>()) return prim->dtype.str();
  return "object";
}

// ---------------------------------------------------------------- comparing

Answer equal_extents(const PrimExpr& a, const PrimExpr& b) {
  if (a == b || structural_equal(a, b)) return Answer::kYes;
  int64_t x, y;
  if (tir::as_const_int(a, &x) && tir::as_const_int(b, &y)) return x == y ? Answer::kYes : Answer::kNo;
  int64_t difference;
  arith::Analyzer analyzer;
  if (!tir::as_const_int(analyzer.simplify(as_extent(a) - as_extent(b)), &difference)) return Answer::kMaybe;
  return difference == 0 ? Answer::kYes : Answer::kNo;
}

Answer equal_shapes(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return Answer::kNo;
  Answer all = Answer::kYes;
  for (size_t n = 0; n < a.size(); ++n) all = std::min(all, equal_extents(a[n], b[n]));
  return all;
}

PrimExpr num_elements(const Shape& shape) {
  PrimExpr product = extent_imm(1);
  for (const PrimExpr& extent : shape) product = product * as_extent(extent);
  return arith::simplify(product);
}

namespace {

Answer tensor_subtype(const TensorTypeNode* given, const TensorTypeNode* expected) {
  Answer answer = Answer::kYes;
  if (!expected->dtype.is_void()) {
    if (given->dtype.is_void())
      answer = Answer::kMaybe;
    else if (given->dtype != expected->dtype)
      return Answer::kNo;
  }
  if (expected->ndim >= 0) {
    if (given->ndim < 0)
      answer = Answer::kMaybe;
    else if (given->ndim != expected->ndim)
      return Answer::kNo;
  }
  if (const Shape* shape = known_shape(expected)) {
    const Shape* mine = known_shape(given);
    answer = std::min(answer, mine ? equal_shapes(*mine, *shape) : Answer::kMaybe);
  }
  if (!expected->device.empty() && given->device != expected->device)
    answer = std::min(answer, given->device.empty() ? Answer::kMaybe : Answer::kNo);
  return answer;
}

Answer all_subtypes(const std::vector<Type>& given, const std::vector<Type>& expected) {
  if (given.size() != expected.size()) return Answer::kNo;
  Answer all = Answer::kYes;
  for (size_t n = 0; n < given.size(); ++n) all = std::min(all, is_subtype(given[n], expected[n]));
  return all;
}

Answer shape_subtype(const ShapeTypeNode* given, const ShapeTypeNode* expected) {
  if (expected->ndim < 0) return Answer::kYes;
  if (given->ndim < 0) return Answer::kMaybe;
  if (given->ndim != expected->ndim) return Answer::kNo;
  if (!expected->is_known) return Answer::kYes;
  return given->is_known ? equal_shapes(given->values, expected->values) : Answer::kMaybe;
}

Answer callable_subtype(const CallableTypeNode* given, const CallableTypeNode* expected) {
  if (expected->is_pure && !given->is_pure) return Answer::kNo;
  if (expected->is_opaque) return Answer::kYes;
  if (given->is_opaque) return Answer::kMaybe;
  return std::min(all_subtypes(expected->params, given->params), is_subtype(given->ret, expected->ret));
}

}  // namespace

Answer is_subtype(const Type& given, const Type& expected) {
  if (!expected || is<ObjectTypeNode>(expected)) return Answer::kYes;
  if (!given || is<ObjectTypeNode>(given)) return Answer::kMaybe;
  if (given->kind != expected->kind) return Answer::kNo;
  if (const auto* type = given.as<TensorTypeNode>())
    return tensor_subtype(type, expected.as<TensorTypeNode>());
  if (const auto* type = given.as<ShapeTypeNode>()) return shape_subtype(type, expected.as<ShapeTypeNode>());
  if (const auto* type = given.as<TupleTypeNode>())
    return all_subtypes(type->elements, expected.as<TupleTypeNode>()->elements);
  if (const auto* type = given.as<CallableTypeNode>())
    return callable_subtype(type, expected.as<CallableTypeNode>());
  if (const auto* type = given.as<PrimTypeNode>()) {
    const auto* other = expected.as<PrimTypeNode>();
    if (type->dtype != other->dtype) return Answer::kNo;
    if (!other->value) return Answer::kYes;
    return type->value ? equal_extents(type->value, other->value) : Answer::kMaybe;
  }
  return structural_equal(given, expected) ? Answer::kYes : Answer::kNo;
}

Type common_type(const Type& a, const Type& b) {
  if (!a || !b || a->kind != b->kind) return object_type();
  if (const auto* x = a.as<TensorTypeNode>()) {
    const auto* y = b.as<TensorTypeNode>();
    const DataType dtype = x->dtype == y->dtype ? x->dtype : DataType::void_();
    const std::string device = x->device == y->device ? x->device : "";
    const Shape *p = known_shape(x), *q = known_shape(y);
    if (p && q && equal_shapes(*p, *q) == Answer::kYes) return tensor_type(*p, dtype, device);
    return tensor_type_of_ndim(x->ndim == y->ndim ? x->ndim : -1, dtype, device);
  }
  if (const auto* x = a.as<ShapeTypeNode>()) {
    const auto* y = b.as<ShapeTypeNode>();
    if (x->is_known && y->is_known && equal_shapes(x->values, y->values) == Answer::kYes) return a;
    return shape_type_of_ndim(x->ndim == y->ndim ? x->ndim : -1);
  }
  if (const auto* x = a.as<TupleTypeNode>()) {
    const auto* y = b.as<TupleTypeNode>();
    if (x->elements.size() != y->elements.size()) return object_type();
    std::vector<Type> elements;
    for (size_t n = 0; n < x->elements.size(); ++n)
      elements.push_back(common_type(x->elements[n], y->elements[n]));
    return tuple_type(std::move(elements));
  }
  if (const auto* x = a.as<PrimTypeNode>()) {
    if (x->dtype != b.as<PrimTypeNode>()->dtype) return object_type();
    return structural_equal(a, b) ? a : Type(prim_type(x->dtype));
  }
  return structural_equal(a, b) ? a : object_type();
}

namespace {
bool uses_only(const PrimExpr& expr, const std::vector<const tir::VarNode*>& known) {
  bool all = true;
  walk(expr,
       [&](const tir::VarNode* var) { all &= std::find(known.begin(), known.end(), var) != known.end(); });
  return all;
}
bool uses_only(const Shape& shape, const std::vector<const tir::VarNode*>& known) {
  return std::all_of(shape.begin(), shape.end(),
                     [&](const PrimExpr& extent) { return uses_only(extent, known); });
}
}  // namespace

Type erase_unknown_dims(const Type& type, const std::vector<const tir::VarNode*>& known) {
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    const Shape* shape = known_shape(tensor);
    if (shape && uses_only(*shape, known))
      return is<ShapeExprNode>(tensor->shape) ? type
                                              : Type(tensor_type(*shape, tensor->dtype, tensor->device));
    return tensor->shape ? Type(tensor_type_of_ndim(tensor->ndim, tensor->dtype, tensor->device)) : type;
  }
  if (const auto* shape = type.as<ShapeTypeNode>())
    return !shape->is_known || uses_only(shape->values, known) ? type : Type(shape_type_of_ndim(shape->ndim));
  if (const auto* prim = type.as<PrimTypeNode>())
    return !prim->value || uses_only(prim->value, known) ? type : Type(prim_type(prim->dtype));
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    std::vector<Type> elements;
    for (const Type& element : tuple->elements) elements.push_back(erase_unknown_dims(element, known));
    return elements == tuple->elements ? type : Type(tuple_type(std::move(elements)));
  }
  return type;
}

void collect_defined_dims(const Type& type, std::vector<const tir::VarNode*>* out) {
  auto add = [&](const PrimExpr& extent) {
    const auto* var = extent.as<tir::VarNode>();
    if (var && std::find(out->begin(), out->end(), var) == out->end()) out->push_back(var);
  };
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    if (const Shape* shape = known_shape(tensor)) std::for_each(shape->begin(), shape->end(), add);
  } else if (const auto* shape = type.as<ShapeTypeNode>()) {
    std::for_each(shape->values.begin(), shape->values.end(), add);
  } else if (const auto* prim = type.as<PrimTypeNode>()) {
    if (prim->value) add(prim->value);
  } else if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& element : tuple->elements) collect_defined_dims(element, out);
  }
}

}  // namespace tilewright::relax
