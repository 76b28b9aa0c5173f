// Operators: on Python values as in Python, on expressions as nodes, on graph values as graph operators.
#include <cmath>

#include "tilewright/arith/expr_util.h"
#include "tilewright/script/parser/parser.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/text.h"

namespace tilewright::script {
namespace {
using PyInt = Value::PyInt;

struct BinaryOperator {
  std::string_view text;
  ir::Kind kind;              // kind of the node; kCount for a call
  std::string_view function;  // name of the T function of a call
};
constexpr BinaryOperator kBinary[] = {
    {"+", ir::Kind::kAdd, ""},
    {"-", ir::Kind::kSub, ""},
    {"*", ir::Kind::kMul, ""},
    {"/", ir::Kind::kDiv, ""},
    {"//", ir::Kind::kFloorDiv, ""},
    {"%", ir::Kind::kFloorMod, ""},
    {"**", ir::Kind::kCount, "pow"},
    {"<<", ir::Kind::kCount, "shift_left"},
    {">>", ir::Kind::kCount, "shift_right"},
    {"&", ir::Kind::kCount, "bitwise_and"},
    {"|", ir::Kind::kCount, "bitwise_or"},
    {"^", ir::Kind::kCount, "bitwise_xor"},
};
constexpr std::pair<std::string_view, ir::Kind> kCompare[] = {{"==", ir::Kind::kEQ}, {"!=", ir::Kind::kNE},
                                                              {"<", ir::Kind::kLT},  {"<=", ir::Kind::kLE},
                                                              {">", ir::Kind::kGT},  {">=", ir::Kind::kGE}};

bool is_integer(const Value& value) { return value.get<PyInt>() || value.get<bool>(); }
PyInt integer_of(const Value& value) {
  return value.get<bool>() ? PyInt(*value.get<bool>()) : *value.get<PyInt>();
}
double real_of(const Value& value) {
  return value.get<double>() ? *value.get<double>() : static_cast<double>(integer_of(value));
}

[[noreturn]] void too_large(const Span& span) { throw UserError(span, "the number does not fit in 64 bits"); }
PyInt in_range(PyInt value, const Span& span) {
  if ((value >> 64) != 0 && (value >> 64) != -1) too_large(span);
  return value;
}

PyInt floor_divide(PyInt a, PyInt b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

PyInt power(PyInt base, PyInt exponent, const Span& span) {
  PyInt result = 1;
  if (base == 0 || base == 1) return exponent == 0 ? PyInt(1) : base;
  if (base == -1) return exponent % 2 ? PyInt(-1) : PyInt(1);
  if (exponent > 64) too_large(span);
  for (PyInt n = 0; n < exponent; ++n) result = in_range(result * base, span);
  return result;
}

std::optional<Value> integer_operator(std::string_view op, PyInt a, PyInt b, const Span& span) {
  if ((op == "//" || op == "%" || op == "/") && b == 0) throw UserError(span, "division by zero");
  if (op == "+") return in_range(a + b, span);
  if (op == "-") return in_range(a - b, span);
  if (op == "*") {
    PyInt product;
    if (__builtin_mul_overflow(a, b, &product)) too_large(span);
    return in_range(product, span);
  }
  if (op == "//") return floor_divide(a, b);
  if (op == "%") return a - floor_divide(a, b) * b;
  if (op == "/") return static_cast<double>(a) / static_cast<double>(b);
  if (op == "**")
    return b < 0 ? Value(std::pow(static_cast<double>(a), static_cast<double>(b))) : Value(power(a, b, span));
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "<<" || op == ">>") {
    if (b < 0) throw UserError(span, "a shift by a negative number");
    if (op == ">>") return b > 127 ? PyInt(a < 0 ? -1 : 0) : a >> static_cast<int>(b);
    if (a == 0) return a;
    if (b > 64) too_large(span);
    PyInt result;
    if (__builtin_mul_overflow(a, PyInt(1) << static_cast<int>(b), &result)) too_large(span);
    return in_range(result, span);
  }
  return std::nullopt;
}

std::optional<Value> real_operator(std::string_view op, double a, double b, const Span& span) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "**") return std::pow(a, b);
  if (b == 0 && (op == "/" || op == "//" || op == "%")) throw UserError(span, "division by zero");
  if (op == "/") return a / b;
  if (op == "//") return std::floor(a / b);
  if (op == "%") return tir::floormod_float(a, b);
  return std::nullopt;
}

// + of strings and lists, * of a list and an integer
std::optional<Value> sequence_operator(std::string_view op, const Value& a, const Value& b,
                                       const Span& span) {
  const auto *x = a.get<Sequence>(), *y = b.get<Sequence>();
  if (op == "+" && a.get<std::string>() && b.get<std::string>())
    return *a.get<std::string>() + *b.get<std::string>();
  if (op == "+" && x && y && x->is_tuple == y->is_tuple) {
    Sequence joined = *x;
    joined.items.insert(joined.items.end(), y->items.begin(), y->items.end());
    return joined;
  }
  if (op == "*" && x && is_integer(b)) {
    Sequence repeated{{}, x->is_tuple};
    const PyInt times = integer_of(b);
    if (times > 100000 || (times > 0 && PyInt(x->items.size()) * times > 100000))
      throw UserError(span, "the repeated list has more than 100000 elements");
    for (PyInt n = 0; n < times; ++n)
      repeated.items.insert(repeated.items.end(), x->items.begin(), x->items.end());
    return repeated;
  }
  if (op == "*" && is_integer(a) && y) return sequence_operator(op, b, a, span);
  return std::nullopt;
}

bool is_graph_value(const Value& value) { return value.node<ir::RelaxExprNode>() != nullptr; }

bool ordered(std::string_view op, auto a, auto b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}

// ==, != and `in` on Python values that are not numbers; nullopt if an expression is needed.
std::optional<bool> same_value(const Value& a, const Value& b) {
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.is_number() && b.is_number())
    return is_integer(a) && is_integer(b) ? integer_of(a) == integer_of(b) : real_of(a) == real_of(b);
  if (a.get<std::string>() && b.get<std::string>()) return *a.get<std::string>() == *b.get<std::string>();
  DataType x, y;
  auto dtype = [](const Value& v, DataType* out) {
    if (v.get<DataType>()) return *out = *v.get<DataType>(), true;
    return v.get<std::string>() && DataType::try_parse(*v.get<std::string>(), out);
  };
  if (dtype(a, &x) && dtype(b, &y)) return x == y;
  const auto *s = a.get<Sequence>(), *t = b.get<Sequence>();
  if (s && t) {
    if (s->items.size() != t->items.size()) return false;
    for (size_t n = 0; n < s->items.size(); ++n) {
      auto same = same_value(s->items[n], t->items[n]);
      if (!same) return std::nullopt;
      if (!*same) return false;
    }
    return true;
  }
  return std::nullopt;
}

}  // namespace

Value Parser::unary(std::string_view op, const Value& value, Place place) {
  if (is_graph_value(value) && graph) return graph_unary(op, value, place);
  if (op == "not") {
    if (value.is_number()) return real_of(value) == 0;
    return NotNode::make(to_bool(value, place), span(place));
  }
  if (value.is_number()) {
    if (op == "+") return value.get<bool>() ? Value(integer_of(value)) : value;
    if (op == "-") return value.get<double>() ? Value(-*value.get<double>()) : Value(-integer_of(value));
    if (is_integer(value)) return ~integer_of(value);
  }
  PrimExpr operand = to_prim(value, place);
  if (op == "+") return operand;
  if (op == "-") {
    if (operand->dtype.is_bool())
      operand = CastNode::make(kInt32.with_lanes(operand->dtype.lanes), operand, span(place));
    if (!operand->dtype.is_integral() && !operand->dtype.is_float())
      throw UserError(span(place), "- takes a number, found dtype {}", operand->dtype.str());
    return MulNode::make(operand, make_const_int(operand->dtype, -1), span(place));
  }
  if (!operand->dtype.is_integral() && !operand->dtype.is_bool())
    throw UserError(span(place), "~ takes an integer, found dtype {}", operand->dtype.str());
  const DataType dtype = operand->dtype;
  return tir::CallNode::make(dtype, ir::Expr(find_op("bitwise_not")), std::vector<PrimExpr>{operand},
                             AttrMap(), span(place));
}

Value Parser::binary_op(std::string_view op, const Value& a, const Value& b, Place place) {
  if (graph && (is_graph_value(a) || is_graph_value(b))) return graph_binary(op, a, b, place);
  std::optional<Value> result;
  if (is_integer(a) && is_integer(b))
    result = integer_operator(op, integer_of(a), integer_of(b), span(place));
  else if (a.is_number() && b.is_number())
    result = real_operator(op, real_of(a), real_of(b), span(place));
  else if (!a.node<ir::PrimExprNode>() && !b.node<ir::PrimExprNode>())
    result = sequence_operator(op, a, b, span(place));
  if (result) return *result;
  for (const BinaryOperator& entry : kBinary) {
    if (entry.text != op) continue;
    if (entry.kind != ir::Kind::kCount) return binary_node(entry.kind, a, b, place);
    auto [x, y] = unify(a, b, place);
    if (op != "**" && !x->dtype.is_integral() && !x->dtype.is_bool())
      throw UserError(span(place), "{} takes integers, found dtype {}", op, x->dtype.str());
    const DataType dtype = x->dtype;
    int64_t count;
    if (entry.function.starts_with("shift") && as_const_int(y, &count) && count < 0 && dtype.is_int())
      throw UserError(span(place), "a shift by a negative number");
    return tir::CallNode::make(dtype, ir::Expr(find_op(entry.function)), std::vector<PrimExpr>{x, y},
                               AttrMap(), span(place));
  }
  throw UserError(span(place), "operator {} has no meaning over scalars", op);
}

Value Parser::compare(std::string_view op, const Value& a, const Value& b, Place place) {
  if (graph && (is_graph_value(a) || is_graph_value(b))) return graph_binary(op, a, b, place);
  if (op == "in" || op == "not in") {
    for (const Value& item : to_sequence(b, place, "what stands after \"in\"").items) {
      if (same_value(a, item).value_or(false)) return op == "in";
    }
    return op == "not in";
  }
  const bool is_identity = op == "is" || op == "is not";
  if (is_identity || op == "==" || op == "!=") {
    if (auto same = same_value(a, b)) return *same == (op == "==" || op == "is");
  }
  if (is_identity) return op == "is not";
  if (is_integer(a) && is_integer(b)) return ordered(op, integer_of(a), integer_of(b));
  if (a.is_number() && b.is_number()) return ordered(op, real_of(a), real_of(b));
  for (const auto& [text, kind] : kCompare) {
    if (text == op) return binary_node(kind, a, b, place);
  }
  throw UserError(span(place), "operator {} has no meaning over scalars", op);
}

Value Parser::logical(bool is_and, const Value& a, const Value& b, Place place) {
  if (a.is_number()) return (real_of(a) != 0) == is_and ? b : a;
  if (b.is_number()) return (real_of(b) != 0) == is_and ? a : b;
  if (graph && (is_graph_value(a) || is_graph_value(b)))
    return graph_binary(is_and ? "and" : "or", a, b, place);
  return make_binary(is_and ? ir::Kind::kAnd : ir::Kind::kOr, to_bool(a, place), to_bool(b, place),
                     span(place));
}

std::pair<PrimExpr, PrimExpr> Parser::unify(const Value& a, const Value& b, Place place) {
  // the dtype that a literal takes beside an expression `other`; nullopt: its default dtype
  auto literal_dtype = [](const Value& literal, const Value& other) -> std::optional<DataType> {
    const auto* expr = other.node<ir::PrimExprNode>();
    if (!expr || !literal.is_number()) return std::nullopt;
    const DataType element = expr->dtype.element();
    if (literal.get<double>() && !element.is_float()) return std::nullopt;
    if (literal.get<PyInt>() && element.is_bool()) return std::nullopt;
    if (element.is_handle() || element.is_void()) return std::nullopt;
    return element;
  };
  // the lanes of A[0:4] have the dtype of A
  const auto lanes_of = [&](const Value& value) {
    return value.get<BufferSlice>() ? Value(to_prim(value, place)) : value;
  };
  const Value first = lanes_of(a), second = lanes_of(b);
  PrimExpr x = to_prim(first, place, literal_dtype(first, second)),
           y = to_prim(second, place, literal_dtype(second, first));
  at(place, [&] { match_typed(&x, &y, place); });
  return {x, y};
}

void require_known_result(const PrimExpr& value, const Span& span) {
  const auto* call = value.as<tir::CallNode>();
  const auto* global = call && call->dtype.is_void() ? call->op.as<ir::GlobalVarNode>() : nullptr;
  if (!global) return;
  throw UserError(span, "the result type of function {} is not known here", global->name_hint)
      .help("declare it, as in -> T.int32; a function that calls itself is not supported, write a loop");
}

// Broadcasts a scalar beside a vector and casts the narrower side: bool < integers < floats, then by bits.
void Parser::match_typed(PrimExpr* a, PrimExpr* b, Place place) {
  if ((*a)->dtype.lanes != (*b)->dtype.lanes) {
    if ((*a)->dtype.is_scalar())
      *a = BroadcastNode::make(*a, static_cast<int64_t>((*b)->dtype.lanes), span(place));
    else if ((*b)->dtype.is_scalar())
      *b = BroadcastNode::make(*b, static_cast<int64_t>((*a)->dtype.lanes), span(place));
    else
      throw UserError(span(place), "the operands have {} and {} lanes", (*a)->dtype.lanes, (*b)->dtype.lanes);
  }
  const DataType x = (*a)->dtype, y = (*b)->dtype;
  if (x == y) return;
  auto rank = [](DataType t) { return t.is_float() ? 3 : t.is_integral() ? 2 : t.is_bool() ? 1 : 0; };
  for (const PrimExpr* side : {a, b}) require_known_result(*side, span(place));
  if (rank(x) == 0 || rank(y) == 0)
    throw UserError(span(place), "the operands have dtypes {} and {}, which have no common dtype", x.str(),
                    y.str());
  const bool take_left = rank(x) != rank(y) ? rank(x) > rank(y)
                         : x.bits != y.bits ? x.bits > y.bits
                                            : x.is_int() || x.code < y.code;
  if (take_left)
    *b = tir::cast(x, *b);
  else
    *a = tir::cast(y, *a);
}

PrimExpr Parser::binary_node(ir::Kind kind, const Value& a, const Value& b, Place place) {
  auto [x, y] = unify(a, b, place);
  if (kind == ir::Kind::kDiv && !x->dtype.is_float())
    throw UserError(span(place), "/ of two integers is not exact")
        .help("write a // b (rounds down) or T.truncdiv(a, b) (rounds towards zero)");
  if (x->dtype.is_bool() && kind >= ir::Kind::kAdd && kind <= ir::Kind::kFloorMod) {  // True + True is 2
    const DataType dtype = kInt32.with_lanes(x->dtype.lanes);
    x = CastNode::make(dtype, x);
    y = CastNode::make(dtype, y);
  }
  return at(place, [&, x = x, y = y] { return binary_node(kind, x, y, span(place)); });
}

PrimExpr Parser::binary_node(ir::Kind kind, PrimExpr a, PrimExpr b, const Span& span) {
  const bool divides = kind >= ir::Kind::kDiv && kind <= ir::Kind::kFloorMod;
  if (divides && arith::is_always_zero(b)) throw UserError(span, "{} is divided by zero", tir::expr_text(a));
  return make_binary(kind, std::move(a), std::move(b), span);
}

}  // namespace tilewright::script
