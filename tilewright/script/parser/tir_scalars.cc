// T.float32(...), T.Cast, T.Select and the other scalar nodes.
#include <cmath>

#include "tilewright/arith/expr_util.h"
#include "tilewright/script/parser/regions.h"
#include "tilewright/script/parser/tir_functions.h"

namespace tilewright::script {
namespace {

std::string name_or(const Args& args, std::string_view otherwise) {
  return std::string(args.hint().empty() ? otherwise : args.hint());
}

// n = T.int64(): a variable that a buffer's shape, a let or a thread defines
Value declare(Parser& parser, const tir::Var& var, Place place) {
  if (parser.tir) {
    parser.tir->declared.emplace_back(var, parser.span(place));
    parser.tir->fresh.insert(var.get());
  }
  return var;
}

// T.float32("inf")
std::optional<double> named_float(const Value& value) {
  const auto* text = value.get<std::string>();
  if (!text) return std::nullopt;
  if (*text == "inf" || *text == "infinity") return INFINITY;
  if (*text == "-inf" || *text == "-infinity") return -INFINITY;
  if (*text == "nan") return NAN;
  return std::nullopt;
}

Value pointer(Parser& parser, Args& args) {
  const Arg* dtype = args.find(0, "dtype");
  const Arg* scope = args.find(1, "storage_scope");
  args.keyword("is_size_var");
  args.done();
  if (!dtype || dtype->value.is_none())
    return declare(parser, make_var(name_or(args, "p"), DataType::handle(), args.span), args.place);
  std::string where = scope ? parser.to_string(scope->value, scope->place, "storage_scope") : "global";
  return declare(
      parser,
      pointer_var(name_or(args, "p"), parser.to_data_type(dtype->value, dtype->place), std::move(where)),
      args.place);
}

PrimExpr converted(Parser& parser, DataType dtype, const Arg& arg, bool keep_same) {
  if (arg.value.is_number()) {
    const auto* real = arg.value.get<double>();
    const bool is_whole = real && std::abs(*real) < 9e18 && *real == std::trunc(*real);
    if (is_whole && !dtype.is_float())
      return parser.to_prim(Value(static_cast<int64_t>(*real)), arg.place, dtype);
    return parser.to_prim(arg.value, arg.place, dtype);
  }
  if (auto special = named_float(arg.value); special && dtype.is_float()) return float_imm(*special, dtype);
  PrimExpr value = parser.to_prim(arg.value, arg.place);
  if (keep_same && value->dtype == dtype) return value;
  if (value->dtype.is_scalar() && !dtype.is_scalar()) {
    if (value->dtype != dtype.element()) value = CastNode::make(dtype.element(), value);
    return BroadcastNode::make(value, static_cast<int64_t>(dtype.lanes));
  }
  const bool is_text = is<ir::StringImmNode>(value);
  if (value->dtype.is_handle() != dtype.is_handle() || is_text || value->dtype.is_void())
    throw UserError(parser.span(arg.place), "a value of dtype {} cannot be cast to {}", value->dtype.str(),
                    dtype.str());
  if (value->dtype.lanes != dtype.lanes)
    throw UserError(parser.span(arg.place), "a value of {} lanes cannot be cast to {}", value->dtype.lanes,
                    dtype.str());
  return CastNode::make(dtype, value, parser.span(arg.place));
}

}  // namespace

Value scalar_of_dtype(Parser& parser, DataType dtype, Args& args) {
  if (dtype.is_handle() || dtype.is_void()) return pointer(parser, args);
  args.keyword("is_size_var");
  const Arg* arg = args.find(0, "expr");
  args.done();
  if (arg && !arg->value.is_none()) return converted(parser, dtype, *arg, true);
  const std::string name = name_or(args, "v");
  // if `m` was written as a string in a shape, e.g. T.Buffer(("m",), ...), this is the same variable
  if (parser.tir && !args.hint().empty()) {
    if (auto known = parser.tir->dims.find(name);
        known != parser.tir->dims.end() && known->second->dtype == dtype) {
      parser.tir->fresh.insert(known->second.get());
      return known->second;
    }
  }
  if (parser.graph && !args.hint().empty()) return graph_dimension(parser, name, dtype, args.place);
  return declare(parser, make_var(name, dtype, args.span), args.place);
}

// T.Var("n", "int64"), T.var("int64")
Value new_var(Parser& parser, Args& args) {
  const bool is_old = args.size() == 1 && args.keywords.empty();
  const Arg* name = is_old ? nullptr : args.find(0, "name");
  const Arg& dtype_arg = args.need(is_old ? 0 : 1, "dtype");
  args.done();
  const std::string text = name ? parser.to_string(name->value, name->place, "name") : name_or(args, "v");
  if (const auto* pointer = dtype_arg.value.node<ir::PointerTypeNode>())
    return declare(parser, tir::VarNode::make(text, DataType::handle(), ir::Type(pointer), args.span),
                   args.place);
  return declare(parser, make_var(text, parser.to_data_type(dtype_arg.value, dtype_arg.place), args.span),
                 args.place);
}

// T.Cast("float32", x): always makes the node
Value cast_exact(Parser& parser, Args& args) {
  const Arg& dtype = args.need(0, "dtype");
  const Arg& value = args.need(1, "value");
  args.done();
  const DataType target = parser.to_data_type(dtype.value, dtype.place);
  Arg typed = value;
  if (value.value.is_number()) typed.value = parser.to_prim(value.value, value.place);
  return converted(parser, target, typed, false);
}

// T.cast(x, "float32"): x itself if it has the dtype already
Value cast_value(Parser& parser, Args& args) {
  const Arg& first = args.need(0, "value");
  const Arg& second = args.need(1, "dtype");
  args.done();
  DataType dtype;
  if (parser.as_data_type(first.value, &dtype)) return converted(parser, dtype, second, true);
  return converted(parser, parser.to_data_type(second.value, second.place), first, true);
}

Value int_imm(Parser& parser, Args& args) {
  const Arg& dtype = args.need(0, "dtype");
  const Arg& value = args.need(1, "value");
  args.done();
  return parser.to_prim(value.value, value.place, parser.to_data_type(dtype.value, dtype.place));
}

Value float_imm_value(Parser& parser, Args& args) {
  const Arg& dtype = args.need(0, "dtype");
  const Arg& value = args.need(1, "value");
  args.done();
  const DataType type = parser.to_data_type(dtype.value, dtype.place);
  if (!type.is_float())
    throw UserError(parser.span(dtype.place), "T.FloatImm takes a float dtype, found {}", type.str());
  return converted(parser, type, value, true);
}

Value string_imm_value(Parser& parser, Args& args) {
  const Arg& value = args.need(0, "value");
  args.done();
  return parser.to_prim(parser.to_string(value.value, value.place, "value"), value.place);
}

Value two_operands(Parser& parser, ir::Kind kind, Args& args) {
  const Arg& a = args.need(0, "a");
  const Arg& b = args.need(1, "b");
  args.done();
  if (kind == ir::Kind::kAnd || kind == ir::Kind::kOr)
    return make_binary(kind, parser.to_bool(a.value, a.place), parser.to_bool(b.value, b.place), args.span);
  auto [x, y] = parser.unify(a.value, b.value, args.place);
  return parser.binary_node(kind, x, y, args.span);
}

Value ceil_divide(Parser& parser, Args& args) {
  const Arg& a = args.need(0, "lhs");
  const Arg& b = args.need(1, "rhs");
  args.done();
  if (a.value.is_number() && b.value.is_number()) {
    Value shifted =
        parser.binary_op("-", parser.binary_op("+", a.value, b.value, args.place), Value(1), args.place);
    return parser.binary_op("//", shifted, b.value, args.place);
  }
  auto [x, y] = parser.unify(a.value, b.value, args.place);
  if (arith::is_always_zero(y)) return parser.binary_node(ir::Kind::kFloorDiv, x, y, args.span);
  return tir::ceildiv(x, y);
}

Value select_value(Parser& parser, Args& args) {
  const Arg& condition = args.need(0, "condition");
  const Arg& true_value = args.need(1, "true_value");
  const Arg& false_value = args.need(2, "false_value");
  args.done();
  auto [a, b] = parser.unify(true_value.value, false_value.value, args.place);
  return SelectNode::make(parser.to_bool(condition.value, condition.place), a, b, args.span);
}

// T.Let(body, where={x: value}); several entries nest, the first outermost
Value let_value(Parser& parser, Args& args) {
  const Arg& body = args.need(0, "body");
  const Arg& where = args.need(1, "where");
  args.done();
  const auto* map = where.value.get<Mapping>();
  if (!map || map->items.empty())
    throw UserError(parser.span(where.place), "where must be a dictionary {{variable: value}}, found {}",
                    describe(where.value));
  PrimExpr result = parser.to_prim(body.value, body.place);
  for (size_t n = map->items.size(); n-- > 0;) {
    auto var = map->items[n].first.ref<tir::VarNode>();
    if (!var)
      throw UserError(parser.span(where.place), "a key of where must be a variable, found {}",
                      describe(map->items[n].first));
    PrimExpr value =
        parser.to_dtype(map->items[n].second, var->dtype, where.place, "variable " + var->name_hint);
    if (parser.tir) parser.tir->defined.insert(var.get());
    result = LetNode::make(value, var, result, args.span);
  }
  return result;
}

}  // namespace tilewright::script
