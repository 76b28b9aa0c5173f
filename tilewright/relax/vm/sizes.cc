// Shape arithmetic on int registers.
#include "tilewright/relax/type_util.h"
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

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

// 1 where `condition` holds, else 0; nothing if it is none that has no opcode of its own
std::optional<rt::IntRegister> FunctionCompiler::truth(const PrimExpr& condition) {
  const auto inverted = [&](rt::IntRegister value) {
    return code_.binary(rt::Opcode::kSub, code_.set_int(1), value);
  };
  if (const auto* node = condition.as<tir::NotNode>()) return inverted(int_register(node->a));
  const auto* binary = condition.as<tir::BinaryOpNode>();
  if (!binary) return std::nullopt;
  const auto compare = [&](rt::Opcode opcode, const PrimExpr& a, const PrimExpr& b) {
    const rt::IntRegister left = int_register(a);
    return code_.binary(opcode, left, int_register(b));
  };
  switch (binary->kind) {
    case Kind::kNE: return inverted(compare(rt::Opcode::kEqual, binary->a, binary->b));
    case Kind::kGT: return compare(rt::Opcode::kLess, binary->b, binary->a);
    case Kind::kLE: return inverted(compare(rt::Opcode::kLess, binary->b, binary->a));
    case Kind::kGE: return inverted(compare(rt::Opcode::kLess, binary->a, binary->b));
    case Kind::kAnd: return compare(rt::Opcode::kMin, binary->a, binary->b);
    case Kind::kOr: return compare(rt::Opcode::kMax, binary->a, binary->b);
    default: return std::nullopt;
  }
}

rt::IntRegister FunctionCompiler::chosen(const tir::SelectNode* select) {
  const rt::IntRegister first = int_register(select->true_value), second = int_register(select->false_value);
  const rt::IntRegister difference = code_.binary(rt::Opcode::kSub, first, second);
  return code_.binary(rt::Opcode::kAdd, second,
                      code_.binary(rt::Opcode::kMul, int_register(select->condition), difference));
}

rt::IntRegister FunctionCompiler::int_register(const PrimExpr& expr) {
  if (const auto* number = expr.as<IntImmNode>()) return code_.set_int(number->value);
  if (const auto* var = expr.as<tir::VarNode>()) {
    auto known = dims_.find(var);
    if (known != dims_.end()) return known->second;
    throw UserError(expr, "the dimension {} is used, but no parameter or match_cast says what it is",
                    var->name_hint)
        .help("give it as a dimension of a parameter, or bind it with R.match_cast");
  }
  if (const auto* cast = expr.as<tir::CastNode>()) return int_register(cast->value);
  if (const auto* select = expr.as<tir::SelectNode>()) return chosen(select);
  if (const auto value = truth(expr)) return *value;
  const auto* binary = expr.as<tir::BinaryOpNode>();
  rt::Opcode opcode;
  if (!binary || !opcode_of(binary->kind, &opcode))
    throw Unsupported(expr, "shape arithmetic with {}", extent_text(expr))
        .help("shapes may use + - * // % min, max, comparisons and select");
  const rt::IntRegister a = int_register(binary->a);
  return code_.binary(opcode, a, int_register(binary->b));
}

rt::Operands FunctionCompiler::sizes(const std::vector<PrimExpr>& extents) {
  rt::Operands result;
  for (const PrimExpr& extent : extents) result.push_back(size(extent));
  return result;
}

}  // namespace tilewright::relax::vm
