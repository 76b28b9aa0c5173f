// Converts expressions to terms, simplifying them on the way.
#include <cstring>

#include "tilewright/arith/expr_util.h"
#include "tilewright/arith/state.h"
#include "tilewright/tir/arithmetic.h"

namespace tilewright::arith {
namespace {

// Expressions nested more deeply than this become one opaque term.
constexpr int kMaxImportDepth = 100;

struct Depth {
  explicit Depth(int& depth) : depth(depth) { ++depth; }
  ~Depth() { --depth; }
  int& depth;
};

bool is_leaf(Kind kind) { return kind == Kind::kIntImm || kind == Kind::kVar || kind == Kind::kFloatImm; }

}  // namespace

Id Analyzer::State::import(const PrimExpr& expr) {
  if (is_leaf(expr->kind)) return import_node(expr);
  const bool is_shared = expr->refs.load(std::memory_order_relaxed) > 1;
  if (is_shared) {
    auto known = imported_.find(expr.get());
    if (known != imported_.end() && known->second.epoch == epoch) return known->second.id;
  }
  Id id;
  if (import_depth >= kMaxImportDepth) {
    id = opaque(expr);
  } else {
    const Depth deeper(import_depth);
    try {
      id = import_node(expr);
    } catch (const NotRepresentable&) {
      id = opaque(expr);
    }
  }
  if (is_shared) imported_[expr.get()] = {expr, id, epoch};
  return id;
}

Id Analyzer::State::opaque(const PrimExpr& expr) {
  const Id id = terms.intern(Op::kOther, expr->dtype, {}, kOpaque, expr);
  terms[id].exported = expr;
  return id;
}

Id Analyzer::State::other(Kind kind, DataType dtype, std::span<const Arg> args, const ObjectRef& object,
                          int64_t value) {
  return terms.intern(Op::kOther, dtype, args, value, object, kind);
}

Id Analyzer::State::variable(const VarNode* var) {
  const Id id = terms.intern(Op::kVar, var->dtype, {}, 0, ObjectRef(var));
  const Id replacement = knowledge(id).replacement;
  if (replacement != kNone) return replacement;
  return is_index(var->dtype) || var->dtype.is_bool() ? atom(id) : id;
}

Id Analyzer::State::import_node(const PrimExpr& expr) {
  const DataType dtype = expr->dtype;
  if (!dtype.is_scalar()) return import_vector(expr);
  switch (expr->kind) {
    case Kind::kIntImm: return terms.constant(expr.as<IntImmNode>()->value, dtype);
    case Kind::kVar: return variable(expr.as<VarNode>());
    case Kind::kAnd:
    case Kind::kOr: return import_logic(expr.as<BinaryOpNode>());
    case Kind::kNot: return logical_not(import(expr.as<NotNode>()->a));
    case Kind::kSelect: {
      const auto* node = expr.as<SelectNode>();
      return import_select(node->condition, node->true_value, node->false_value, nullptr);
    }
    case Kind::kLet: return import_let(expr.as<LetNode>());
    case Kind::kCast: return import_cast(expr.as<CastNode>());
    case Kind::kCall: return import_call(expr.as<CallNode>());
    default: break;
  }
  const auto* binary = expr.as<BinaryOpNode>();
  if (!binary) return import_other(expr);
  const bool is_comparison = expr->kind > Kind::kCompareOpBegin && expr->kind < Kind::kCompareOpEnd;
  if (is_comparison && is_index(binary->a->dtype)) return import_compare(expr->kind, binary->a, binary->b);
  if (is_index(dtype) && (expr->kind == Kind::kAdd || expr->kind == Kind::kSub || expr->kind == Kind::kMul))
    return import_sum(expr);
  const Id a = import(binary->a), b = import(binary->b);
  return import_binary(expr->kind, dtype, a, b);
}

Id Analyzer::State::import_binary(Kind kind, DataType dtype, Id a, Id b) {
  if (is_index(dtype)) {
    switch (kind) {
      case Kind::kAdd: return sum(terms.linear(a) + terms.linear(b), dtype);
      case Kind::kSub: return sum(terms.linear(a) - terms.linear(b), dtype);
      case Kind::kMul: return product(a, b);
      case Kind::kFloorDiv: return floor_div(a, b);
      case Kind::kFloorMod: return floor_mod(a, b);
      case Kind::kMin: return min_max(true, a, b);
      case Kind::kMax: return min_max(false, a, b);
      case Kind::kDiv:
      case Kind::kMod: return trunc_div_mod(kind, a, b);
      default: break;
    }
  }
  const Term x = terms[a], y = terms[b];
  if (x.op == Op::kConst && y.op == Op::kConst) {
    if (auto value = fold_int(kind, x.value, y.value, x.dtype)) return terms.constant(*value, dtype);
  }
  const bool is_choice = kind == Kind::kMin || kind == Kind::kMax;
  if (is_choice && a == b) return a;
  const Arg args[] = {{a}, {b}};
  const Id result = other(kind, dtype, args);
  return dtype.is_bool() && dtype.is_scalar() ? atom(result) : result;
}

// Converts the comparison a ? b of int32 or int64 to form >= 0 or form == 0.
Id Analyzer::State::import_compare(Kind kind, const PrimExpr& a, const PrimExpr& b) {
  const Linear x = import_linear(a), y = import_linear(b);
  return compare(kind, x, y, a->dtype);
}

Id Analyzer::State::compare(Kind kind, const Linear& x, const Linear& y, DataType dtype) {
  switch (kind) {
    case Kind::kLT: return greater_equal_0(shifted(y - x, -1), dtype);
    case Kind::kLE: return greater_equal_0(y - x, dtype);
    case Kind::kGT: return greater_equal_0(shifted(x - y, -1), dtype);
    case Kind::kGE: return greater_equal_0(x - y, dtype);
    case Kind::kEQ: return equal_0(x - y, dtype);
    default: return logical_not(equal_0(x - y, dtype));
  }
}

// `condition` under the current knowledge, without importing it again.
Id Analyzer::State::reconsidered(Id condition) {
  const Op op = terms[condition].op;
  if (op == Op::kGE0 || op == Op::kEQ0) {
    const Id value = terms.arg(condition, 0);
    const Linear form = terms.linear(value);
    const DataType dtype = terms[value].dtype;
    return op == Op::kGE0 ? greater_equal_0(form, dtype) : equal_0(form, dtype);
  }
  if (op == Op::kNot) return logical_not(reconsidered(terms.arg(condition, 0)));
  return atom(condition);
}

// The conjuncts of `condition` (for `or`: the alternatives) that `given`, which is to their right, does not
// imply.
Id Analyzer::State::without_implied(Op op, Id condition, Id given) {
  if (terms[condition].op == op) {
    const Id left = terms.arg(condition, 0), right = terms.arg(condition, 1);
    const Id new_left = without_implied(op, left, given), new_right = without_implied(op, right, given);
    if (new_left == left && new_right == right) return condition;
    return op == Op::kAnd ? logical_and(new_left, new_right) : logical_or(new_left, new_right);
  }
  const LocalScope scope(*this);
  learn(given, op == Op::kAnd);
  const Id now = reconsidered(condition);
  return terms[now].op == Op::kConst ? now : condition;
}

// Imports `expr` under the assumption that `condition` is `truth`.
Id Analyzer::State::import_given(Id condition, bool truth, const PrimExpr& expr) {
  const LocalScope scope(*this);
  learn(condition, truth);
  return import(expr);
}

// The right side matters only where the left one does not decide the result.
Id Analyzer::State::import_logic(const BinaryOpNode* node) {
  const bool is_and = node->kind == Kind::kAnd;
  const Id a = import(node->a);
  if (terms[a].op == Op::kConst) return (terms[a].value != 0) == is_and ? import(node->b) : a;
  // do not simplify a right side that may fail under the left one: it may be moved before it
  const Id b = is_harmless(node->b) ? import_given(a, is_and, node->b) : import(node->b);
  if (terms[b].op == Op::kConst) return (terms[b].value != 0) == is_and ? a : b;
  const Id left = without_implied(is_and ? Op::kAnd : Op::kOr, a, b);
  return is_and ? logical_and(left, b) : logical_or(left, b);
}

// With `op` it is a call of if_then_else, else a Select.
Id Analyzer::State::import_select(const PrimExpr& condition, const PrimExpr& a, const PrimExpr& b,
                                  const ObjectRef& op) {
  const Id chosen = import(condition);
  if (terms[chosen].op == Op::kConst) return import(terms[chosen].value ? a : b);
  // both values of a Select are computed: one that may fail must not be simplified under the condition
  const bool uses_condition = op || (is_harmless(a) && is_harmless(b));
  const Id true_value = uses_condition ? import_given(chosen, true, a) : import(a);
  const Id false_value = uses_condition ? import_given(chosen, false, b) : import(b);
  if (true_value == false_value) return true_value;
  if (!op) return select(chosen, true_value, false_value);
  const Arg args[] = {{chosen}, {true_value}, {false_value}};
  return other(Kind::kCall, a->dtype, args, op);
}

Id Analyzer::State::import_other(const PrimExpr& expr) {
  std::vector<Arg> args;
  if (const auto* literal = expr.as<FloatImmNode>()) {
    int64_t bits;
    std::memcpy(&bits, &literal->value, sizeof(bits));
    const Id id = other(Kind::kFloatImm, expr->dtype, {}, nullptr, bits);
    if (!terms[id].exported) terms[id].exported = expr;
    return id;
  }
  if (const auto* load = expr.as<BufferLoadNode>()) {
    for (const PrimExpr& index : load->indices) args.push_back({import(index)});
    if (load->predicate) args.push_back({import(load->predicate)});
    return other(Kind::kBufferLoad, expr->dtype, args, load->buffer, load->predicate ? 1 : 0);
  }
  if (const auto* load = expr.as<ProducerLoadNode>()) {
    for (const PrimExpr& index : load->indices) args.push_back({import(index)});
    return other(Kind::kProducerLoad, expr->dtype, args, load->producer);
  }
  return opaque(expr);
}

}  // namespace tilewright::arith
