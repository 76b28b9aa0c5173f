// Conversions of values to expressions of some dtype, numbers, strings and attributes.
#include "tilewright/script/parser/regions.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::script {
namespace {

std::string decimal(Value::PyInt value) {
  std::string digits;
  const bool negative = value < 0;
  do {
    const int digit = static_cast<int>(value % 10);
    digits.insert(digits.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
    value /= 10;
  } while (value != 0);
  return negative ? "-" + digits : digits;
}

std::string node_description(const ObjectRef& object) {
  if (!object) return "None";
  if (const auto* buffer = object.as<BufferNode>()) return "buffer " + buffer->name;
  if (const auto* var = object.as<tir::VarNode>())
    return fmt::format("{} of dtype {}", var->name_hint, var->dtype.str());
  if (const auto* expr = object.as<ir::PrimExprNode>())
    return fmt::format("an expression of dtype {}", expr->dtype.str());
  if (const auto* var = object.as<relax::VarBaseNode>()) return "graph value " + var->name_hint;
  if (const auto* global = object.as<ir::GlobalVarNode>()) return "function " + global->name_hint;
  if (is<ir::RelaxExprNode>(object)) return "a graph value";
  if (is<ir::TypeNode>(object)) return "a type";
  if (is<BufferRegionNode>(object)) return "a buffer region";
  if (is<IndexMapNode>(object)) return "an index map";
  return "this value";
}

struct Describe {
  std::string operator()(const None&) const { return "None"; }
  std::string operator()(const EllipsisValue&) const { return "\"...\""; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(const Value::PyInt& value) const { return decimal(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const {
    return fmt::format("\"{}\"", value.substr(0, 60));
  }
  std::string operator()(const DataType& value) const { return "dtype " + value.str(); }
  std::string operator()(const ObjectRef& value) const { return node_description(value); }
  std::string operator()(const Sequence& value) const { return value.is_tuple ? "a tuple" : "a list"; }
  std::string operator()(const Mapping&) const { return "a dictionary"; }
  std::string operator()(const BufferSlice& value) const {
    return "a slice of " + node_description(value.buffer);
  }
  std::string operator()(const LambdaValue&) const { return "a lambda"; }
  std::string operator()(const ModuleReference&) const { return "the module"; }
  std::string operator()(const Ref<Macro>& value) const { return "macro " + value->name; }
  std::string operator()(const AllocatedPointer& value) const { return node_description(value.buffer); }
};

bool fits(Value::PyInt value, DataType dtype) {
  if (dtype.is_bool()) return value == 0 || value == 1;
  if (dtype.is_uint())
    return value >= 0 && (dtype.bits >= 64 || (value >> dtype.bits) == 0) && (value >> 64) == 0;
  const Value::PyInt top = Value::PyInt(1) << (dtype.bits - 1);
  return value < top && value >= -top;
}

}  // namespace

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

std::string describe(const Value& value) { return std::visit(Describe{}, value.data); }

namespace {

PrimExpr integer_literal(Value::PyInt value, std::optional<DataType> wanted, const Span& span) {
  DataType dtype = wanted.value_or(fits(value, kInt32)   ? kInt32
                                   : fits(value, kInt64) ? kInt64
                                                         : DataType::uint(64));
  const DataType element = dtype.element();
  PrimExpr literal;
  if (element.is_float()) {
    if (overflows(static_cast<double>(value), element))
      throw UserError(span, "{} does not fit in {}", decimal(value), element.str());
    literal = float_imm(static_cast<double>(value), element);
  } else if (element.is_integral() || element.is_bool()) {
    if (!fits(value, element)) throw UserError(span, "{} does not fit in {}", decimal(value), element.str());
    literal = ir::IntImmNode::make(element, static_cast<int64_t>(value), span);
  } else {
    throw UserError(span, "a number cannot be of dtype {}", dtype.str());
  }
  return dtype.is_scalar() ? literal
                           : PrimExpr(BroadcastNode::make(literal, static_cast<int64_t>(dtype.lanes), span));
}

PrimExpr float_literal(double value, std::optional<DataType> wanted, const Span& span) {
  const DataType dtype = wanted.value_or(kFloat32);
  if (!dtype.is_float())
    throw UserError(span, "{} is no {}", value, dtype.str()).help("round it, or give a float dtype");
  if (overflows(value, dtype.element()))
    throw UserError(span, "{} does not fit in {}", value, dtype.element().str());
  PrimExpr literal = float_imm(value, dtype.element());
  return dtype.is_scalar() ? literal
                           : PrimExpr(BroadcastNode::make(literal, static_cast<int64_t>(dtype.lanes), span));
}

// The load A[i, j:j + 4]; its lanes are those of the last index.
PrimExpr vector_load(const BufferSlice& slice, const Span& span) {
  Buffer buffer = ref_as<BufferNode>(slice.buffer);
  return BufferLoadNode::make(buffer, vector_indices(slice, span), PrimExpr(), span);
}

}  // namespace

PrimExpr Parser::to_prim(const Value& value, Place place, std::optional<DataType> literal_dtype) {
  if (const bool* flag = value.get<bool>()) {
    if (literal_dtype && !literal_dtype->is_bool()) return integer_literal(*flag, literal_dtype, span(place));
    const PrimExpr literal = ir::IntImmNode::make(kBoolType, static_cast<int64_t>(*flag), span(place));
    return !literal_dtype || literal_dtype->is_scalar()
               ? literal
               : PrimExpr(BroadcastNode::make(literal, static_cast<int64_t>(literal_dtype->lanes)));
  }
  if (const auto* number = value.get<Value::PyInt>())
    return integer_literal(*number, literal_dtype, span(place));
  if (const auto* number = value.get<double>()) return float_literal(*number, literal_dtype, span(place));
  if (const auto* text = value.get<std::string>()) return ir::StringImmNode::make(*text, span(place));
  if (auto expr = value.ref<ir::PrimExprNode>()) return expr;
  if (const auto* axis = value.node<IterVarNode>()) return axis->var;
  if (const auto* scalar = value.node<relax::PrimValueNode>()) return scalar->value;
  if (const auto* pointer = value.get<AllocatedPointer>()) return ref_as<BufferNode>(pointer->buffer)->data;
  if (const auto* slice = value.get<BufferSlice>())
    return at(place, [&] { return vector_load(*slice, span(place)); });
  if (value.node<BufferNode>())
    throw UserError(span(place), "{} is used as a value", describe(value))
        .help("read an element, as in {0}[...], or take its pointer, {0}.data",
              value.node<BufferNode>()->name);
  throw UserError(span(place), "expected an expression, found {}", describe(value));
}

PrimExpr Parser::to_bool(const Value& value, Place place) {
  PrimExpr condition =
      value.is_number() ? to_prim(to_flag(value, place, "a condition"), place) : to_prim(value, place);
  if (!condition->dtype.is_bool())
    throw UserError(span(place), "a condition must be bool, found dtype {}", condition->dtype.str())
        .help("compare it, as in x != 0");
  return condition;
}

PrimExpr Parser::to_dtype(const Value& value, DataType dtype, Place place, std::string_view what) {
  const bool is_real = value.get<double>() != nullptr;
  if (value.is_number() && (!is_real || dtype.is_float())) return to_prim(value, place, dtype);
  PrimExpr expr = to_prim(value, place);
  if (expr->dtype == dtype) return expr;
  if (expr->dtype.is_scalar() && !dtype.is_scalar())
    return BroadcastNode::make(to_dtype(expr, dtype.element(), place, what),
                               static_cast<int64_t>(dtype.lanes), span(place));
  const DataType from = expr->dtype;
  const bool both_int = from.is_integral() && dtype.is_integral(),
             both_float = from.is_float() && dtype.is_float();
  const bool widens = (both_int && from.code == dtype.code && from.bits <= dtype.bits) ||
                      (both_float && from.bits < dtype.bits) ||
                      (from.is_bool() && (dtype.is_integral() || dtype.is_float())) ||
                      (from.is_integral() && dtype.is_float());
  if (widens && from.lanes == dtype.lanes) return CastNode::make(dtype, expr, span(place));
  require_known_result(expr, span(place));
  throw UserError(span(place), "{} is {}, but the value has dtype {}", what, dtype.str(), from.str())
      .help("convert it: T.Cast(\"{}\", ...)", dtype.str());
}

std::vector<PrimExpr> Parser::to_prims(const Value& value, Place place,
                                       std::optional<DataType> literal_dtype) {
  const auto* list = value.get<Sequence>();
  if (!list) return {to_prim(value, place, literal_dtype)};
  std::vector<PrimExpr> result;
  for (const Value& item : list->items) result.push_back(to_prim(item, place, literal_dtype));
  return result;
}

int64_t Parser::to_int(const Value& value, Place place, std::string_view what) {
  if (const auto* number = value.get<Value::PyInt>(); number && fits(*number, kInt64))
    return static_cast<int64_t>(*number);
  if (const bool* flag = value.get<bool>()) return *flag;
  if (const auto* literal = value.node<ir::IntImmNode>()) return literal->value;
  throw UserError(span(place), "{} must be a constant integer, found {}", what, describe(value));
}

bool Parser::to_flag(const Value& value, Place place, std::string_view what) {
  if (const bool* flag = value.get<bool>()) return *flag;
  if (const auto* number = value.get<Value::PyInt>()) return *number != 0;
  if (const auto* number = value.get<double>()) return *number != 0;
  if (value.is_none()) return false;
  if (const auto* literal = value.node<ir::IntImmNode>()) return literal->value != 0;
  throw UserError(span(place), "{} must be True or False, found {}", what, describe(value));
}

std::string Parser::to_string(const Value& value, Place place, std::string_view what) {
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* literal = value.node<ir::StringImmNode>()) return literal->value;
  if (const auto* dtype = value.get<DataType>()) return dtype->str();
  throw UserError(span(place), "{} must be a string, found {}", what, describe(value));
}

bool Parser::as_data_type(const Value& value, DataType* result) {
  if (const auto* dtype = value.get<DataType>()) return *result = *dtype, true;
  if (const auto* text = value.get<std::string>()) return DataType::try_parse(*text, result);
  if (const auto* text = value.node<ir::StringImmNode>()) return DataType::try_parse(text->value, result);
  return false;
}

DataType Parser::to_data_type(const Value& value, Place place) {
  DataType dtype;
  if (as_data_type(value, &dtype)) return dtype;
  if (const auto* type = value.node<ir::PrimTypeNode>()) return type->dtype;
  throw UserError(span(place), "expected a dtype such as \"float32\", found {}", describe(value));
}

const Sequence& Parser::to_sequence(const Value& value, Place place, std::string_view what) {
  if (const auto* list = value.get<Sequence>()) return *list;
  throw UserError(span(place), "{} must be a list or tuple, found {}", what, describe(value));
}

ObjectRef Parser::to_object(const Value& value, Place place) {
  if (value.is_none()) return nullptr;
  if (const auto* number = value.get<Value::PyInt>())
    return integer_literal(*number, fits(*number, kInt64) ? kInt64 : DataType::uint(64), span(place));
  if (const auto* number = value.get<double>())
    return float_literal(*number, DataType::float_(64), span(place));
  if (const auto* object = value.get<ObjectRef>()) return *object;
  if (const auto* dtype = value.get<DataType>()) return ir::StringImmNode::make(dtype->str());
  if (const auto* list = value.get<Sequence>()) {
    std::vector<ObjectRef> items;
    for (const Value& item : list->items) items.push_back(to_object(item, place));
    return ir::ArrayNode::make(std::move(items));
  }
  if (value.get<Mapping>()) return ir::DictNode::make(to_attrs(value, place));
  if (const auto* pointer = value.get<AllocatedPointer>()) return pointer->buffer;
  return to_prim(value, place);
}

AttrMap Parser::to_attrs(const Value& value, Place place) {
  AttrMap attrs;
  if (const auto* dict = value.node<ir::DictNode>()) return dict->items;
  if (value.is_none()) return attrs;
  const auto* map = value.get<Mapping>();
  if (!map) throw UserError(span(place), "expected a dictionary, found {}", describe(value));
  for (const auto& [key, item] : map->items) {
    std::string name = to_string(key, place, "a key");
    if (ObjectRef object = to_object(item, place)) attrs.set(std::move(name), std::move(object));
  }
  return attrs;
}

}  // namespace tilewright::script
