// Converts calls, casts and lets to terms.
#include <unordered_set>

#include "tilewright/arith/state.h"
#include "tilewright/tir/arithmetic.h"
#include "tilewright/tir/op.h"

namespace tilewright::arith {

// All operators of one name map to one node, so that equal calls become equal terms.
ObjectRef Analyzer::State::operator_named(const Expr& op) {
  const std::string& name = is<OpNode>(op) ? op.as<OpNode>()->name : op.as<GlobalVarNode>()->name_hint;
  return operators_.try_emplace(name, op).first->second;
}

namespace {
std::optional<int64_t> fold_bits(std::string_view name, int64_t a, int64_t b) {
  if (name == "tir.bitwise_and") return a & b;
  if (name == "tir.bitwise_or") return a | b;
  if (name == "tir.bitwise_xor") return a ^ b;
  if (b < 0 || b > 31) return std::nullopt;
  if (name == "tir.shift_right") return a >> b;
  if (name == "tir.shift_left" && a >= 0 && a < (int64_t{1} << 31)) return a << b;
  return std::nullopt;
}
}  // namespace

Id Analyzer::State::import_call(const CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  if (!op || !is_pure(call->op)) throw HasEffect{};
  const PrimExpr expr(call);
  if (!call->annotations.empty()) return opaque(expr);
  const std::string_view name = op->name;
  if (name == "tir.if_then_else" && call->args.size() == 3)
    return import_select(call->args[0], call->args[1], call->args[2], operator_named(call->op));
  std::vector<Arg> args;
  for (const PrimExpr& arg : call->args) args.push_back({import(arg)});
  if (name == "tir.likely" && args.size() == 1 && terms[args[0].id].op == Op::kConst) return args[0].id;
  if (args.size() == 2 && is_index(call->dtype) && terms[args[0].id].op == Op::kConst &&
      terms[args[1].id].op == Op::kConst) {
    const auto folded = fold_bits(name, terms[args[0].id].value, terms[args[1].id].value);
    if (folded) return constant(*folded, call->dtype);
  }
  return other(Kind::kCall, call->dtype, args, operator_named(call->op));
}

Id Analyzer::State::import_cast(const CastNode* cast) {
  const Id value = import(cast->value);
  const DataType from = cast->value->dtype, to = cast->dtype;
  if (from == to) return value;
  const Term inner = terms[value];
  if (inner.op == Op::kConst && (to.is_int() || to.is_uint()) && from.is_scalar())
    return terms.constant(wrap_int(inner.value, to), to);
  if (inner.op == Op::kConst && to.is_bool()) return truth_value(inner.value != 0);
  // int64 -> int32 -> int64 of values that fit, and int32 -> int64 -> int32
  if (inner.op == Op::kOther && inner.kind == Kind::kCast && is_index(from) && is_index(to)) {
    const Id original = terms.arg(value, 0);
    const ConstBounds around = bounds(original);
    if (terms[original].dtype == to &&
        (from == kInt64 || (around.min >= INT32_MIN && around.max <= INT32_MAX)))
      return original;
  }
  const Arg arg{value};
  const Id id = other(Kind::kCast, to, {&arg, 1});
  return is_index(to) ? atom(id) : id;
}

bool Analyzer::State::mentions(Id id, Id wanted) const {
  std::vector<Id> pending{id};
  std::unordered_set<Id> seen{id};
  while (!pending.empty()) {
    const Id next = pending.back();
    pending.pop_back();
    if (next == wanted || is_opaque(next)) return true;  // the contents of an opaque term are unknown
    for (const Arg& arg : terms.args(next)) {
      if (seen.insert(arg.id).second) pending.push_back(arg.id);
    }
  }
  return false;
}

Id Analyzer::State::import_let_body(const LetNode* let, Id value) {
  const LocalScope scope(*this);
  const Op op = terms[value].op;
  if (op == Op::kConst || op == Op::kVar)
    bind_value(let->var.get(), value);
  else
    bind_equal(let->var.get(), value);
  return import(let->body);
}

// A let of a literal or a variable is inlined; any other let stays, and the bounds of its value are known in
// the body.
Id Analyzer::State::import_let(const LetNode* let) {
  const Id value = import(let->value);
  const Id var = terms.intern(Op::kVar, let->var->dtype, {}, 0, let->var);
  const Id body = import_let_body(let, value);
  if (!mentions(body, var)) return body;
  const Arg args[] = {{value}, {body}};
  return other(Kind::kLet, let->dtype, args, let->var);
}

}  // namespace tilewright::arith
