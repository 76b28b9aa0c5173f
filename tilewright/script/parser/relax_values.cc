// Values of graphs: constants, tuples, shapes, scalars; operators written as a + b.
#include <bit>
#include <cmath>
#include <cstring>

#include "tilewright/script/parser/relax_state.h"
#include "tilewright/support/count_text.h"

namespace tilewright::script {
namespace {

// Appends the elements of nested lists in row-major order; all lists of one depth must have the same length.
void collect(Parser& parser, const Value& value, Place place, size_t depth, runtime::Shape* shape,
             std::vector<Value>* out) {
  const auto* list = value.get<Sequence>();
  if (!list) {
    if (depth != shape->size())
      throw UserError(parser.span(place), "the lists of a constant have different lengths");
    out->push_back(value);
    return;
  }
  const auto size = static_cast<int64_t>(list->items.size());
  if (out->empty() && depth == shape->size()) shape->push_back(size);
  if (depth >= shape->size() || (*shape)[depth] != size)
    throw UserError(parser.span(place), "the lists of a constant have different lengths");
  for (const Value& item : list->items) collect(parser, item, place, depth + 1, shape, out);
}

// The bits of `value` in a float of `exponent` and `mantissa` bits, rounded to nearest, ties to even.
uint32_t narrow_float(double value, int exponent, int mantissa) {
  const uint32_t sign = std::signbit(value) ? 1u << (exponent + mantissa) : 0;
  const uint32_t infinity = ((1u << exponent) - 1) << mantissa;
  if (std::isnan(value)) return sign | infinity | (1u << (mantissa - 1));
  value = std::fabs(value);
  const int bias = (1 << (exponent - 1)) - 1;
  if (std::isinf(value)) return sign | infinity;
  int power = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  auto scaled =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(value, mantissa - power)));  // with the implied bit
  if (scaled >> (mantissa + 1)) {
    scaled >>= 1;
    ++power;
  }
  if (power > bias) return sign | infinity;
  const bool is_normal = scaled >> mantissa;
  return sign |
         (is_normal ? (static_cast<uint32_t>(power + bias) << mantissa) | (scaled & ((1u << mantissa) - 1))
                    : scaled);
}

template <class T>
void put(char* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

void put_element(Parser& parser, char* at, DataType dtype, const Value& value, Place place) {
  const PrimExpr literal = parser.to_prim(value, place, dtype);
  const auto* integer = literal.as<ir::IntImmNode>();
  const auto* real = literal.as<ir::FloatImmNode>();
  if (!integer && !real)
    throw UserError(parser.span(place), "an element of a constant must be a number, found {}",
                    describe(value));
  if (integer) {  // the low bytes, on a little-endian machine
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(at, &integer->value, static_cast<size_t>(dtype.num_bytes()));
  } else if (dtype.is_bfloat16()) {
    put(at, static_cast<uint16_t>(narrow_float(real->value, 8, 7)));
  } else if (dtype.bits == 16) {
    put(at, static_cast<uint16_t>(narrow_float(real->value, 5, 10)));
  } else if (dtype.bits == 32) {
    put(at, static_cast<float>(real->value));
  } else if (dtype.bits == 64) {
    put(at, real->value);
  } else {
    throw Unsupported(parser.span(place), "a constant of dtype {}", dtype.str());
  }
}

DataType default_dtype(const std::vector<Value>& elements) {
  bool all_bool = !elements.empty();
  for (const Value& element : elements) {
    if (element.get<double>() || element.node<ir::FloatImmNode>()) return kFloat32;
    all_bool = all_bool && element.get<bool>();
    if (const auto* literal = element.node<ir::PrimExprNode>()) return literal->dtype;
  }
  return all_bool ? kBoolType : elements.empty() ? kFloat32 : kInt32;
}

}  // namespace

relax::Constant constant_of(Parser& parser, const Value& value, std::optional<DataType> dtype, Place place) {
  if (auto constant = value.ref<relax::ConstantNode>()) {
    if (dtype && constant->data.dtype() != *dtype)
      throw UserError(parser.span(place), "the constant holds {}, not {}", constant->data.dtype().str(),
                      dtype->str());
    return constant;
  }
  runtime::Shape shape;
  std::vector<Value> elements;
  collect(parser, value, place, 0, &shape, &elements);
  const DataType type = dtype.value_or(default_dtype(elements));
  if (!type.is_scalar() || (type.bits % 8 != 0) || type.is_handle() || type.is_void())
    throw Unsupported(parser.span(place), "a constant of dtype {}", type.str());
  runtime::Tensor tensor = runtime::Tensor::empty(shape, type);
  char* at = tensor.data_as<char>();
  for (const Value& element : elements) {
    put_element(parser, at, type, element, place);
    at += type.num_bytes();
  }
  return relax::ConstantNode::make(tensor, ir::Type(relax::tensor_type(relax::extents(shape), type)),
                                   parser.span(place));
}

ir::Expr to_graph(Parser& parser, const Value& value, Place place) {
  const Span span = parser.span(place);
  if (auto expr = value.ref<ir::RelaxExprNode>()) return expr;
  if (const auto* list = value.get<Sequence>()) {
    std::vector<ir::Expr> elements;
    for (const Value& item : list->items)
      elements.push_back(to_leaf(parser, to_graph(parser, item, place), place));
    relax::Tuple tuple = relax::TupleNode::make(std::move(elements), ir::Type(), span);
    return with(tuple, [&](relax::TupleNode& n) { n.type = relax::type_of(tuple); });
  }
  if (const auto* text = value.get<std::string>())
    return relax::StringValueNode::make(*text, ir::Type(relax::object_type()), span);
  if (const auto* dtype = value.get<DataType>())
    return relax::DataTypeValueNode::make(*dtype, ir::Type(relax::object_type()), span);
  if (value.is_number() || value.node<ir::PrimExprNode>()) {
    std::optional<DataType> literal;
    if (value.get<Value::PyInt>()) literal = kInt64;
    if (value.get<double>()) literal = DataType::float_(64);
    PrimExpr scalar = parser.to_prim(value, place, literal);
    return relax::PrimValueNode::make(scalar, ir::Type(relax::prim_type(scalar->dtype, scalar)), span);
  }
  throw UserError(span, "expected a graph value, found {}", describe(value));
}

Value Parser::graph_subscript(const Value& base, const ast::Expr* expr) {
  auto tuple = base.ref<ir::RelaxExprNode>();
  if (expr->items.size() != 2 || expr->items[1]->kind == ast::ExprKind::kSlice)
    throw UserError(span(expr), "a tuple takes one index").help("slice a tensor with R.strided_slice");
  const int64_t index = to_int(eval(expr->items[1]), expr->items[1]->place, "the index of a tuple");
  if (const auto* shape = tuple.as<relax::ShapeExprNode>()) {
    if (index < 0 || index >= static_cast<int64_t>(shape->values.size()))
      throw UserError(span(expr), "the shape has {}, there is no element {}",
                      count_text(shape->values.size(), "dimension"), index);
    return shape->values[static_cast<size_t>(index)];
  }
  ir::Expr leaf = to_leaf(*this, tuple, expr->items[0]->place);
  const ir::Type type = relax::type_of(leaf);
  if (const auto* elements = type.as<ir::TupleTypeNode>()) {
    if (index < 0 || index >= static_cast<int64_t>(elements->elements.size()))
      throw UserError(span(expr), "the tuple has {}, there is no element {}",
                      count_text(elements->elements.size(), "element"), index);
    return relax::TupleGetItemNode::make(leaf, index, elements->elements[static_cast<size_t>(index)],
                                         span(expr));
  }
  if (type && !is<ir::ObjectTypeNode>(type))
    throw UserError(span(expr), "{} is not a tuple", describe(base))
        .help("take a part of a tensor with R.strided_slice or R.take");
  return relax::TupleGetItemNode::make(leaf, index, ir::Type(relax::object_type()), span(expr));
}

Value Parser::graph_unary(std::string_view op, const Value& value, Place place) {
  const std::string_view name = op == "-"     ? "negative"
                                : op == "~"   ? "bitwise_not"
                                : op == "not" ? "logical_not"
                                              : "";
  if (name.empty()) return value;
  ir::Expr operand = to_leaf(*this, to_graph(*this, value, place), place);
  return make_call(*this, name, {operand}, AttrMap(), {}, span(place));
}

Value Parser::graph_binary(std::string_view op, const Value& a, const Value& b, Place place) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"+", "add"},           {"-", "subtract"},       {"*", "multiply"},      {"/", "divide"},
      {"//", "floor_divide"}, {"%", "floor_mod"},      {"**", "power"},        {"@", "matmul"},
      {"==", "equal"},        {"!=", "not_equal"},     {"<", "less"},          {"<=", "less_equal"},
      {">", "greater"},       {">=", "greater_equal"}, {"and", "logical_and"}, {"or", "logical_or"},
      {"&", "bitwise_and"},   {"|", "bitwise_or"},     {"^", "bitwise_xor"},   {"<<", "left_shift"},
      {">>", "right_shift"}};
  for (const auto& [text, name] : kNames) {
    if (text != op) continue;
    // a number beside a tensor becomes a constant of its dtype
    auto operand = [&](const Value& value, const Value& other) -> ir::Expr {
      if (!value.is_number()) return to_leaf(*this, to_graph(*this, value, place), place);
      const auto* type = relax::type_of(other.ref<ir::RelaxExprNode>()).as<relax::TensorTypeNode>();
      const bool adopts = type && !type->dtype.is_void() && (type->dtype.is_float() || !value.get<double>());
      return constant_of(*this, value, adopts ? std::optional(type->dtype) : std::nullopt, place);
    };
    ir::Expr left = operand(a, b);
    return make_call(*this, name, {left, operand(b, a)}, AttrMap(), {}, span(place));
  }
  throw UserError(span(place), "operator {} has no meaning over graph values", op);
}

// x.struct_info and x.shape of a value; shape, dtype and ndim of a type, e.g. of x.struct_info
Value graph_attribute(Parser& parser, const Value& base, std::string_view name, Place place) {
  auto type = base.ref<ir::TypeNode>();
  if (!type) type = relax::type_of(base.ref<ir::RelaxExprNode>());
  if (!base.node<ir::TypeNode>() && (name == "struct_info" || name == "ty")) return type;
  if (name == "shape" || name == "dtype" || name == "ndim") {
    const auto* tensor = type.as<relax::TensorTypeNode>();
    const relax::Shape* shape = relax::known_shape(tensor);
    if (name == "dtype" && tensor && !tensor->dtype.is_void()) return tensor->dtype;
    if (name == "ndim" && tensor && tensor->ndim >= 0) return tensor->ndim;
    if (name == "shape" && shape) {
      Sequence list;
      for (const PrimExpr& extent : *shape) list.items.emplace_back(extent);
      return list;
    }
    throw UserError(parser.span(place), "the {} of {} is not known", name, describe(base));
  }
  throw UserError(parser.span(place), "{} has no attribute {}", describe(base), name);
}

Value call_graph_method(Parser& parser, const Value& base, std::string_view name, Args& args) {
  if (name == "astype") {
    args.positional.insert(args.positional.begin(), Arg{{}, args.place, base});
    return call_graph_function(parser, "astype", args);
  }
  throw UserError(args.span, "{} has no method {}", describe(base), name);
}

}  // namespace tilewright::script
