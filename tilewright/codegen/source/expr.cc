// Translates expressions to source text.
#include <fmt/format.h>

#include "tilewright/codegen/source/printer.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::codegen {
namespace {

bool fits_int32(int64_t value) { return value > INT32_MIN && value <= INT32_MAX; }

const char* comparison_symbol(Kind kind) {
  switch (kind) {
    case Kind::kEQ: return "==";
    case Kind::kNE: return "!=";
    case Kind::kLT: return "<";
    case Kind::kLE: return "<=";
    case Kind::kGT: return ">";
    default: return ">=";
  }
}

}  // namespace

std::string SourcePrinter::within(const Code& code, Level at_least) {
  return code.level < at_least ? "(" + code.text + ")" : code.text;
}

std::string SourcePrinter::text(const PrimExpr& e, Level at_least) {
  const auto* literal = e.as<IntImmNode>();
  if (literal && at_least == Level::kChoice && fits_int32(literal->value) && literal->dtype.is_int())
    return std::to_string(literal->value);
  return within(expr(e), at_least);
}

std::string SourcePrinter::index_text(const PrimExpr& e, Level at_least) {
  const bool outer = std::exchange(in_index_, true);
  std::string result = text(e, at_least);
  in_index_ = outer;
  return result;
}

Code SourcePrinter::expr(const PrimExpr& e) {
  const PrimExprNode* node = e.get();
  if (!node->dtype.is_scalar()) return vector(e);
  switch (node->kind) {
    case Kind::kIntImm: return int_literal(static_cast<const IntImmNode*>(node)->value, node->dtype);
    case Kind::kFloatImm: return float_literal(static_cast<const FloatImmNode*>(node)->value, node->dtype);
    case Kind::kStringImm: return {quoted(static_cast<const StringImmNode*>(node)->value)};
    case Kind::kVar: return {names_.of(static_cast<const VarNode*>(node))};
    case Kind::kCast: return cast(static_cast<const CastNode*>(node));
    case Kind::kNot:
      return {"!" + text(static_cast<const NotNode*>(node)->a, Level::kPrefix), Level::kPrefix};
    case Kind::kSelect: {
      const auto* select = static_cast<const SelectNode*>(node);
      return choice(select->condition, select->true_value, select->false_value);
    }
    case Kind::kBufferLoad: return load(static_cast<const BufferLoadNode*>(node));
    case Kind::kShuffle: return vector(e);
    case Kind::kLet: {
      const auto* let = static_cast<const LetNode*>(node);
      define(let->var.get(), let->value);
      return expr(let->body);
    }
    case Kind::kCall: return builtin(static_cast<const CallNode*>(node));
    default:
      if (const auto* operation = e.as<BinaryOpNode>()) return binary(operation);
      throw InternalError("a {} was not lowered before code generation", info_of(*node)->name);
  }
}

Code SourcePrinter::int_literal(int64_t value, DataType dtype) const {
  if (dtype.is_bool()) return {value ? "true" : "false"};
  if (dtype.is_uint())
    return {fmt::format("{}{}", static_cast<uint64_t>(value),
                        dtype.bits == 64   ? std::string("U") + long_suffix()
                        : dtype.bits == 32 ? "U"
                                           : "")};
  // the literal of the smallest integer would be the negation of a literal that does not fit
  if (value == INT64_MIN) return {fmt::format("(-9223372036854775807{} - 1)", long_suffix())};
  if (value == INT32_MIN && dtype.bits == 32) return {"(-2147483647 - 1)"};
  return {fmt::format("{}{}", value, dtype.bits == 64 ? long_suffix() : ""),
          value < 0 ? Level::kPrefix : Level::kPrimary};
}

std::string SourcePrinter::operand(const PrimExpr& e, const PrimExpr& other, Level at_least) {
  const auto* literal = e.as<IntImmNode>();
  const bool is_plain =
      literal && literal->dtype.is_int() && fits_int32(literal->value) && !other.as<IntImmNode>();
  if (!is_plain) return within(expr(e), at_least);
  return std::to_string(literal->value);
}

// ---- operators

Code SourcePrinter::operation(const char* symbol, Level level, const BinaryOpNode* node) {
  const Level tighter = static_cast<Level>(static_cast<int>(level) + 1);
  std::string left = operand(node->a, node->b, level);
  return {left + " " + symbol + " " + operand(node->b, node->a, tighter), level};
}

Code SourcePrinter::binary(const BinaryOpNode* node) {
  switch (node->kind) {
    case Kind::kAdd:
    case Kind::kSub:
    case Kind::kMul: return arithmetic(node);
    case Kind::kDiv:
    case Kind::kMod:
    case Kind::kFloorDiv:
    case Kind::kFloorMod: return division(node);
    case Kind::kMin: return arithmetic_call("min", node->dtype, {node->a, node->b});
    case Kind::kMax: return arithmetic_call("max", node->dtype, {node->a, node->b});
    case Kind::kAnd:
    case Kind::kOr: return logic(node);
    default: return comparison(node);
  }
}

// Data wraps around, as in numpy, but signed overflow is undefined in C.  Index arithmetic does not overflow
// (arith/analyzer.h).
Code SourcePrinter::arithmetic(const BinaryOpNode* node) {
  const bool is_mul = node->kind == Kind::kMul;
  const char* symbol = is_mul ? "*" : node->kind == Kind::kAdd ? "+" : "-";
  const Level level = is_mul ? Level::kProduct : Level::kSum;
  const DataType dtype = node->dtype;
  const bool is_wide_unsigned = dtype.is_uint() && dtype.bits >= 32;
  if (dtype.is_float() || is_wide_unsigned) return operation(symbol, level, node);
  const bool is_narrow = dtype.bits < 32;
  if (!is_narrow && (in_index_ || !(is_data(node->a) || is_data(node->b))))
    return operation(symbol, level, node);
  return arithmetic_call(is_mul                     ? "mul"
                         : node->kind == Kind::kAdd ? "add"
                                                    : "sub",
                         dtype, {node->a, node->b});
}

// C's division truncates towards zero, and x / 0 and INT_MIN / -1 are undefined.
Code SourcePrinter::division(const BinaryOpNode* node) {
  const DataType dtype = node->dtype;
  const bool is_div = node->kind == Kind::kDiv || node->kind == Kind::kFloorDiv;
  const bool is_floor = node->kind == Kind::kFloorDiv || node->kind == Kind::kFloorMod;
  if (dtype.is_float() && node->kind == Kind::kDiv) return operation("/", Level::kProduct, node);
  const char* name = is_floor ? (is_div ? "floordiv" : "floormod") : (is_div ? "div" : "mod");
  int64_t divisor = 0;
  const bool is_plain = !dtype.is_float() && dtype.bits >= 32 && as_const_int(node->b, &divisor) &&
                        divisor > 0 && (!is_floor || dtype.is_uint() || is_nonnegative(node->a));
  if (is_plain) return operation(is_div ? "/" : "%", Level::kProduct, node);
  return arithmetic_call(name, dtype, {node->a, node->b});
}

// Comparing a value with itself tests for NaN; compilers would warn if it were written so.
Code SourcePrinter::comparison(const BinaryOpNode* node) {
  const Kind kind = node->kind;
  const bool is_equality = kind == Kind::kEQ || kind == Kind::kNE;
  const DataType dtype = node->a->dtype;
  if (structural_equal(node->a, node->b)) {
    const bool holds = kind == Kind::kEQ || kind == Kind::kLE || kind == Kind::kGE;
    if (!dtype.is_float()) return {holds ? "true" : "false"};
    if (!holds && kind != Kind::kNE) return {"false"};
    const std::string test = nan_test(node->a);
    return holds ? Code{"!" + test, Level::kPrefix} : Code{test + " != 0", Level::kEquality};
  }
  // compilers warn about x < 0 if it is never true
  if (dtype.is_uint() && is_zero(node->b) && (kind == Kind::kLT || kind == Kind::kGE))
    return {kind == Kind::kGE ? "true" : "false"};
  std::string left = operand(node->a, node->b, Level::kSum);
  return {left + " " + comparison_symbol(kind) + " " + operand(node->b, node->a, Level::kSum),
          is_equality ? Level::kEquality : Level::kOrder};
}

// `a && b` where b needs statements: they run only if a holds.
Code SourcePrinter::logic(const BinaryOpNode* node) {
  const bool is_and = node->kind == Kind::kAnd;
  const Code a = expr(node->a);
  // declared first, so that nothing in the branch has this name
  const std::string name = names_.declare("holds");
  Branch b = branch(node->b);
  if (b.lines.empty()) {
    names_.take_back();
    const Level level = is_and ? Level::kAnd : Level::kOr;
    // compilers ask for parentheses around && beside ||
    auto side = [&](const Code& code) {
      return code.level == level ? code.text : within(code, Level::kEquality);
    };
    return {side(a) + (is_and ? " && " : " || ") + side(b.code), level};
  }
  line(fmt::format("{} {} = {};", type_name(kBoolType), name, a.text));
  open(fmt::format("if ({}{}) {{", is_and ? "" : "!", name));
  lines_.insert(lines_.end(), b.lines.begin(), b.lines.end());
  line(name + " = " + b.code.text + ";");
  close();
  return {name};
}

std::string SourcePrinter::nan_test(const PrimExpr& e) { return "isnan(" + text(e) + ")"; }

Code SourcePrinter::cast(const CastNode* node) {
  const DataType from = node->value->dtype, to = node->dtype;
  if (from == to) return expr(node->value);
  if (from.is_handle() || to.is_handle()) {
    if (!(from.is_handle() && to.is_integral()) && !(to.is_handle() && from.is_integral()))
      throw UserError(node, "a value of dtype {} cannot be cast to {}", from.str(), to.str());
    const std::string value = "(uintptr_t)" + text(node->value, Level::kPrefix);
    return {fmt::format("({}){}", type_name(to), value), Level::kPrefix};
  }
  return cast_of(expr(node->value), from, to);
}

Code SourcePrinter::cast_of(const Code& value, DataType from, DataType to) const {
  if (to.is_bool()) return {within(value, Level::kSum) + " != 0", Level::kEquality};
  std::string converted = within(value, Level::kPrefix);
  // out-of-range values have no defined result, but narrow types wrap around
  if (from.is_float() && !to.is_float() && !(to.is_int() && to.bits >= 32) && to.bits < 64)
    converted = fmt::format("({}){}", type_name(DataType::int_(to.bits == 32 ? 64 : 32)), converted);
  return {fmt::format("({}){}", type_name(to), converted), Level::kPrefix};
}

// ---- memory

std::string SourcePrinter::element(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
  TILEWRIGHT_CHECK(indices.size() == 1, "buffer {} was not flattened before code generation", buffer->name);
  const VarNode* data = buffer->data.get();
  std::string base = names_.of(data);
  if (pointee(data) != buffer->dtype)
    base = fmt::format("(({}{}{}*){})", address_space(data), is_written(data) ? "" : "const ",
                       memory_type_name(buffer->dtype), base);
  return base + "[" + index_text(indices[0]) + "]";
}

Code SourcePrinter::load(const BufferLoadNode* node) {
  if (node->predicate) return vector(PrimExpr(node));
  const std::string place = element(node->buffer, node->indices);
  return node->dtype.is_bool() ? Code{place + " != 0", Level::kEquality} : Code{place};
}

// ---- selections and calls

SourcePrinter::Branch SourcePrinter::branch(const PrimExpr& e) {
  std::vector<std::string> outer = std::exchange(lines_, {});
  ++depth_;
  names_.enter();
  Code code = expr(e);
  names_.leave();
  --depth_;
  return {std::move(code), std::exchange(lines_, std::move(outer))};
}

Code SourcePrinter::choice(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b) {
  const Code test = expr(condition);
  const std::string name = names_.declare("chosen");
  Branch first = branch(a), second = branch(b);
  if (first.lines.empty() && second.lines.empty()) {
    names_.take_back();
    return {fmt::format("{} ? {} : {}", within(test, Level::kOr), within(first.code, Level::kOr),
                        within(second.code, Level::kOr)),
            Level::kChoice};
  }
  line(fmt::format("{} {};", type_name(a->dtype), name));
  open("if (" + test.text + ") {");
  lines_.insert(lines_.end(), first.lines.begin(), first.lines.end());
  line(name + " = " + first.code.text + ";");
  reopen("} else {");
  lines_.insert(lines_.end(), second.lines.begin(), second.lines.end());
  line(name + " = " + second.code.text + ";");
  close();
  return {name};
}

Code SourcePrinter::builtin(const CallNode* node) {
  const auto* op = node->op.as<OpNode>();
  std::string_view name = op ? std::string_view(op->name) : std::string_view();
  if (name.starts_with("tir.")) name.remove_prefix(4);
  if (name == "if_then_else") return choice(node->args[0], node->args[1], node->args[2]);
  if (name == "likely" || name == "tvm_thread_invariant") return expr(node->args[0]);
  // the result of a call is data, also inside an index
  const bool outer = std::exchange(in_index_, false);
  Code result = call(node, name);
  in_index_ = outer;
  return result;
}

std::string SourcePrinter::temporary(std::string_view hint, DataType dtype, const std::string& value) {
  std::string name = names_.declare(hint);
  line(fmt::format("const {} {} = {};", type_name(dtype), name, value));
  return name;
}

// ---- properties of values

// True for values from memory or functions, except descriptions of arguments.
bool SourcePrinter::is_data(const PrimExpr& e) const {
  bool found = false;
  walk(
      e, [&](const BufferLoadNode*) { found = true; },
      [&](const CallNode* node) {
        const auto* op = node->op.as<OpNode>();
        const bool is_description = op && (op->name == "tir.peek" || op->name == "tir.reinterpret");
        found |= !is_description || (!node->dtype.is_handle() && !node->args[0]->dtype.is_handle());
      },
      [&](const VarNode* var) { found |= data_vars_.count(var) != 0; });
  return found;
}

bool SourcePrinter::is_nonnegative(const PrimExpr& e) { return analyzer_.const_bounds(e).min >= 0; }

}  // namespace tilewright::codegen
