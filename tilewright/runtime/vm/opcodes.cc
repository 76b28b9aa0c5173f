#include "tilewright/runtime/vm/opcodes.h"

namespace tilewright::runtime::vm {
namespace {

using enum Field;
using enum Opcode;

constexpr OpcodeInfo kTable[] = {
    {kCheckTensor, "check_tensor", kUnused, kRegister, kOperands, "stnp*"},
    {kCheckShape, "check_shape", kUnused, kRegister, kOperands, "snp*"},
    {kCheckKind, "check_kind", kKind, kRegister, kOperands, "sn"},
    {kCheckEqual, "check_equal", kUnused, kInt, kOperands, "si"},
    {kCheckDivisible, "check_divisible", kUnused, kInt, kOperands, "si"},
    {kRequire, "require", kUnused, kInt, kOperands, "sz*"},
    {kAlignTensor, "align_tensor", kUnused, kRegister, kOperands, "nn"},
    {kLoadDim, "load_dim", kInt, kRegister, kNumber, ""},
    {kLoadInt, "load_int", kInt, kRegister, kUnused, ""},
    {kSetInt, "set_int", kInt, kUnused, kOperands, "z"},
    {kAdd, "add", kInt, kInt, kInt, ""},
    {kSub, "sub", kInt, kInt, kInt, ""},
    {kMul, "mul", kInt, kInt, kInt, ""},
    {kFloorDiv, "floor_div", kInt, kInt, kInt, ""},
    {kFloorMod, "floor_mod", kInt, kInt, kInt, ""},
    {kMin, "min", kInt, kInt, kInt, ""},
    {kMax, "max", kInt, kInt, kInt, ""},
    {kEqual, "equal", kInt, kInt, kInt, ""},
    {kLess, "less", kInt, kInt, kInt, ""},
    {kArena, "arena", kUnused, kUnused, kOperands, "z"},
    {kArenaTensor, "arena_tensor", kRegister, kUnused, kOperands, "zTz*"},
    {kNewTensor, "new_tensor", kRegister, kUnused, kOperands, "Tz*"},
    {kReshape, "reshape", kRegister, kRegister, kOperands, "z*"},
    {kConstant, "constant", kRegister, kUnused, kConstantIndex, ""},
    {kCallKernel, "call_kernel", kUnused, kCallee, kOperands, "v*"},
    {kCallPacked, "call_packed", kRegister, kCallee, kOperands, "v*"},
    {kCallFunction, "call_function", kRegister, kFunction, kOperands, "v*"},
    {kCallClosure, "call_closure", kRegister, kRegister, kOperands, "v*"},
    {kMakeClosure, "make_closure", kRegister, kFunction, kOperands, "v*"},
    {kLoop, "loop", kRegister, kRegister, kOperands, "nnvvv*"},
    {kSet, "set", kRegister, kUnused, kOperands, "v"},
    {kMakeTuple, "make_tuple", kRegister, kUnused, kOperands, "v*"},
    {kGetItem, "get_item", kRegister, kRegister, kNumber, ""},
    {kMakeShape, "make_shape", kRegister, kUnused, kOperands, "z*"},
    {kShapeOf, "shape_of", kRegister, kRegister, kUnused, ""},
    {kTensorToShape, "tensor_to_shape", kRegister, kRegister, kUnused, ""},
    {kKill, "kill", kUnused, kRegister, kUnused, ""},
    {kJump, "jump", kUnused, kUnused, kTarget, ""},
    {kJumpIfZero, "jump_if_zero", kUnused, kInt, kTarget, ""},
    {kJumpIfFalse, "jump_if_false", kUnused, kRegister, kTarget, ""},
    {kReturn, "return", kUnused, kRegister, kUnused, ""},
};

}  // namespace

const OpcodeInfo* opcode_info(Opcode opcode) {
  for (const OpcodeInfo& info : kTable) {
    if (info.opcode == opcode) return &info;
  }
  return nullptr;
}

bool is_allowed(char letter, Operand::Kind kind) {
  using Kind = Operand::Kind;
  switch (letter) {
    case 's': return kind == Kind::kString;
    case 't':
    case 'T': return kind == Kind::kDtype;
    case 'n': return kind == Kind::kImmediate;
    case 'i': return kind == Kind::kInt;
    case 'z': return kind == Kind::kImmediate || kind == Kind::kInt;
    case 'p':
      return kind == Kind::kImmediate || kind == Kind::kInt || kind == Kind::kBind || kind == Kind::kAnyDim;
    default: return kind <= Kind::kDevice && kind != Kind::kBind && kind != Kind::kAnyDim;  // v
  }
}

}  // namespace tilewright::runtime::vm
