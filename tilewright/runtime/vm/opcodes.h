// The fields and operands of each opcode, as data: the verifier, the printer and the interpreter use this
// table.
#pragma once
#include <string_view>

#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::runtime::vm {

/// The meaning of dst, a or b of an instruction.
enum class Field : uint8_t {
  kUnused,
  kRegister,
  kInt,
  kConstantIndex,
  kCallee,
  kFunction,
  kTarget,    // index of an instruction after this one
  kNumber,    // any number: an axis, a field of a tuple
  kKind,      // a ValueKind
  kOperands,  // index of the first operand
};

struct OpcodeInfo {
  Opcode opcode;
  const char* name;
  Field dst, a, b;
  /// One letter per operand; if '*' follows the last letter, it is repeated for all remaining operands.
  /// s string, t dtype, T dtype other than void, n immediate, z size, i int register, p dimension pattern, v
  /// value
  const char* operands;
};

/// The row for `opcode`; null if there is none.
const OpcodeInfo* opcode_info(Opcode opcode);

/// True if `letter` of OpcodeInfo::operands allows an operand of `kind`.
bool is_allowed(char letter, Operand::Kind kind);

inline DataType operand_dtype(const Operand& operand) {
  return DataType::make(static_cast<int>(operand.bits & 0xFF), static_cast<int>(operand.bits >> 8 & 0xFF),
                        static_cast<int>(operand.bits >> 16 & 0xFFFF));
}

}  // namespace tilewright::runtime::vm
