// Shape arithmetic on int registers.
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax::vm {
namespace {

bool opcode_of(Kind kind, rt::Opcode* opcode) {
  switch (kind) {
    case Kind::kAdd: return *opcode = rt::Opcode::kAdd, true;
    case Kind::kSub: return *opcode = rt::Opcode::kSub, true;
    case Kind::kMul: return *opcode = rt::Opcode::kMul, true;
    case Kind::kFloorDiv: return *opcode = rt::Opcode::kFloorDiv, true;
    case Kind::kFloorMod: return *opcode = rt::Opcode::kFloorMod, true;
    case Kind::kMin: return *opcode = rt::Opcode::kMin, true;
    case Kind::kMax: return *opcode = rt::Opcode::kMax, true;
    case Kind::kEQ: return *opcode = rt::Opcode::kEqual, true;
    case Kind::kLT: return *opcode = rt::Opcode::kLess, true;
    default: return false;
  }
}

}  // namespace

rt::Operand FunctionCompiler::size(const PrimExpr& extent) {
  if (const auto* number = extent.as<IntImmNode>()) return rt::imm(number->value);
  return int_register(extent);
}

rt::IntRegister FunctionCompiler::int_register(const PrimExpr& expr) {
  if (const auto* number = expr.as<IntImmNode>()) return code_.set_int(number->value);
  if (const auto* var = expr.as<tir::VarNode>()) {
    auto known = dims_.find(var);
    if (known != dims_.end()) return known->second;
    throw UserError(expr, "the dimension {} is used before a parameter or match_cast defines it",
                    var->name_hint)
        .help("give it as a dimension of a parameter, or bind it with R.match_cast");
  }
  if (const auto* cast = expr.as<tir::CastNode>()) return int_register(cast->value);
  if (const auto* condition = expr.as<tir::SelectNode>()) return chosen(condition);
  if (const auto* negated = expr.as<tir::NotNode>()) return inverted(int_register(negated->a));
  if (const std::optional<rt::IntRegister> truth = comparison(expr)) return *truth;
  const auto* binary = expr.as<tir::BinaryOpNode>();
  rt::Opcode opcode;
  if (!binary || !opcode_of(binary->kind, &opcode))
    throw Unsupported(expr, "shape arithmetic with {}", tir::expr_text(expr))
        .help("shapes may use + - * // % min, max, comparisons and T.Select");
  const rt::IntRegister a = int_register(binary->a);
  return code_.binary(opcode, a, int_register(binary->b));
}

rt::IntRegister FunctionCompiler::inverted(rt::IntRegister truth) {
  return code_.binary(rt::Opcode::kSub, code_.set_int(1), truth);
}

// Expresses a != b, a <= b, a > b, a >= b, a and b, a or b by the comparisons of the virtual machine, == and
// <; `and` is the product of truth values, `or` the larger one.
std::optional<rt::IntRegister> FunctionCompiler::comparison(const PrimExpr& expr) {
  const auto* binary = expr.as<tir::BinaryOpNode>();
  if (!binary) return std::nullopt;
  const auto of = [&](rt::Opcode opcode, const PrimExpr& a, const PrimExpr& b) {
    const rt::IntRegister left = int_register(a);
    return code_.binary(opcode, left, int_register(b));
  };
  switch (binary->kind) {
    case Kind::kNE: return inverted(of(rt::Opcode::kEqual, binary->a, binary->b));
    case Kind::kLE: return inverted(of(rt::Opcode::kLess, binary->b, binary->a));
    case Kind::kGT: return of(rt::Opcode::kLess, binary->b, binary->a);
    case Kind::kGE: return inverted(of(rt::Opcode::kLess, binary->a, binary->b));
    case Kind::kAnd: return of(rt::Opcode::kMul, binary->a, binary->b);
    case Kind::kOr: return of(rt::Opcode::kMax, binary->a, binary->b);
    default: return std::nullopt;
  }
}

// Selects a value by arithmetic: both values are computed.
rt::IntRegister FunctionCompiler::chosen(const tir::SelectNode* node) {
  const rt::IntRegister truth = int_register(node->condition), yes = int_register(node->true_value),
                        no = int_register(node->false_value);
  return code_.binary(rt::Opcode::kAdd, code_.binary(rt::Opcode::kMul, truth, yes),
                      code_.binary(rt::Opcode::kMul, inverted(truth), no));
}

rt::Operands FunctionCompiler::sizes(const std::vector<PrimExpr>& extents) {
  rt::Operands result;
  for (const PrimExpr& extent : extents) result.push_back(size(extent));
  return result;
}

}  // namespace tilewright::relax::vm
