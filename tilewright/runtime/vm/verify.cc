#include "tilewright/runtime/vm/verify.h"

#include <fmt/format.h>

#include <cstring>
#include <set>

#include "tilewright/runtime/value.h"
#include "tilewright/runtime/vm/opcodes.h"

namespace tilewright::runtime::vm {
namespace {

constexpr uint32_t kMaxRegisters = 1 << 20;
constexpr int64_t kMaxDims = 64;

// Each check returns a phrase, empty if there is no fault; the caller adds the place.
class FunctionVerifier {
 public:
  FunctionVerifier(const Executable& executable, const BytecodeFunction& function)
      : executable_(executable), function_(function) {}

  std::string check() const {
    if (function_.name.empty()) return "a function has no name";
    if (function_.num_registers > kMaxRegisters || function_.num_ints > kMaxRegisters) {
      return fmt::format("\"{}\" has more than {} registers", function_.name, kMaxRegisters);
    }
    if (function_.parameters.size() > function_.num_registers) {
      return fmt::format("\"{}\" has {} parameters, but {} registers", function_.name,
                         function_.parameters.size(), function_.num_registers);
    }
    if (function_.int_names.size() > function_.num_ints) {
      return fmt::format("\"{}\" names {} of {} int registers", function_.name, function_.int_names.size(),
                         function_.num_ints);
    }
    if (function_.code.empty() || function_.code.back().opcode != Opcode::kReturn) {
      return fmt::format("\"{}\" does not end with return", function_.name);
    }
    for (size_t position = 0; position < function_.code.size(); ++position) {
      std::string fault = check_instruction(position);
      if (!fault.empty()) return fmt::format("instruction {} of \"{}\" {}", position, function_.name, fault);
    }
    return {};
  }

 private:
  std::string check_instruction(size_t position) const {
    const Instruction& instruction = function_.code[position];
    const OpcodeInfo* info = opcode_info(instruction.opcode);
    if (!info) return fmt::format("has the unknown opcode {}", static_cast<int>(instruction.opcode));
    if (instruction.device > 0 && instruction.device >= executable_.devices.size())
      return out_of_range("device", instruction.device, executable_.devices.size());
    for (auto [field, value] : {std::pair(info->dst, instruction.dst), std::pair(info->a, instruction.a),
                                std::pair(info->b, instruction.b)}) {
      std::string fault = check_field(field, value, position);
      if (!fault.empty()) return fault;
    }
    std::string fault = check_operands(*info, instruction);
    return fault.empty() ? check_counts(instruction) : fault;
  }

  static std::string out_of_range(const char* what, uint64_t index, uint64_t count) {
    return index < count ? std::string() : fmt::format("uses {} {} of {}", what, index, count);
  }

  std::string check_field(Field field, uint32_t value, size_t position) const {
    switch (field) {
      case Field::kRegister: return out_of_range("register", value, function_.num_registers);
      case Field::kInt: return out_of_range("int register", value, function_.num_ints);
      case Field::kConstantIndex: return out_of_range("constant", value, executable_.constants.size());
      case Field::kCallee: return out_of_range("callee", value, executable_.callees.size());
      case Field::kFunction: return out_of_range("function", value, executable_.functions.size());
      case Field::kKind:
        return out_of_range("value kind", value, static_cast<uint32_t>(ValueKind::kObject) + 1);
      case Field::kTarget:
        if (value <= position) return fmt::format("jumps back to {}", value);
        return out_of_range("instruction", value, function_.code.size());
      default: return {};
    }
  }

  std::string check_operands(const OpcodeInfo& info, const Instruction& instruction) const {
    const size_t length = std::strlen(info.operands);
    const bool repeats = length > 0 && info.operands[length - 1] == '*';
    const size_t least = repeats ? length - 2 : length;
    const size_t count = instruction.num_operands;
    if (count < least || (count > least && !repeats)) return fmt::format("has {} operands", count);
    if (info.b != Field::kOperands) return {};
    if (instruction.b > function_.operands.size() || count > function_.operands.size() - instruction.b) {
      return fmt::format("uses {} operands from {} of {}", count, instruction.b, function_.operands.size());
    }
    for (size_t n = 0; n < count; ++n) {
      const char letter = info.operands[n < least ? n : least];
      std::string fault = check_operand(letter, function_.operands[instruction.b + n]);
      if (!fault.empty()) return fault;
    }
    return {};
  }

  std::string check_operand(char letter, const Operand& operand) const {
    if (!is_allowed(letter, operand.kind))
      return fmt::format("has an operand of kind {}", static_cast<uint32_t>(operand.kind));
    switch (operand.kind) {
      case Operand::Kind::kRegister: return out_of_range("register", operand.index, function_.num_registers);
      case Operand::Kind::kInt:
      case Operand::Kind::kBind: return out_of_range("int register", operand.index, function_.num_ints);
      case Operand::Kind::kString: return out_of_range("string", operand.index, executable_.strings.size());
      case Operand::Kind::kAnyDim:
        return operand.bits == 0 ? std::string()
                                 : out_of_range("string", static_cast<uint64_t>(operand.bits) - 1,
                                                executable_.strings.size());
      case Operand::Kind::kDtype: {
        const DataType dtype = operand_dtype(operand);
        if (dtype.is_void() && letter == 't') return {};
        const bool is_sound = dtype.code <= 17 && dtype.bits > 0 && dtype.lanes > 0 && !dtype.is_scalable();
        return is_sound ? std::string()
                        : fmt::format("has the dtype {}:{}:{}", dtype.code, dtype.bits, dtype.lanes);
      }
      default: return {};
    }
  }

  // Checks counts that must agree with each other.
  std::string check_counts(const Instruction& instruction) const {
    const int64_t count = instruction.num_operands;
    switch (instruction.opcode) {
      case Opcode::kCheckTensor:
      case Opcode::kCheckShape: {
        const int64_t head = instruction.opcode == Opcode::kCheckTensor ? 3 : 2;
        const int64_t ndim = function_.operands[instruction.b + head - 1].bits;
        return ndim >= -1 && std::max<int64_t>(ndim, 0) == count - head && ndim <= kMaxDims
                   ? std::string()
                   : fmt::format("has {} patterns for {} dimensions", count - head, ndim);
      }
      case Opcode::kArenaTensor:
      case Opcode::kNewTensor:
      case Opcode::kReshape:
        return count - 2 <= kMaxDims ? std::string()
                                     : fmt::format("makes a tensor of more than {} dimensions", kMaxDims);
      case Opcode::kLoop: {
        const int64_t carried = function_.operands[instruction.b].bits,
                      collected = function_.operands[instruction.b + 1].bits;
        const auto fits = [&](int64_t number) { return number >= 0 && number <= count; };
        return fits(carried) && fits(collected) && 4 + collected + carried <= count
                   ? std::string()
                   : fmt::format("has {} operands for {} carried and {} collected values", count, carried,
                                 collected);
      }
      case Opcode::kCallFunction:
      case Opcode::kMakeClosure: {
        const auto num_parameters =
            static_cast<int64_t>(executable_.functions[instruction.a].parameters.size());
        const bool fits =
            instruction.opcode == Opcode::kCallFunction ? count == num_parameters : count <= num_parameters;
        return fits ? std::string()
                    : fmt::format("gives {} arguments to \"{}\", which takes {}", count,
                                  executable_.functions[instruction.a].name, num_parameters);
      }
      default: return {};
    }
  }

  const Executable& executable_;
  const BytecodeFunction& function_;
};

}  // namespace

std::string find_fault(const Executable& executable) {
  std::set<std::string_view> names;
  for (const BytecodeFunction& function : executable.functions) {
    std::string fault = FunctionVerifier(executable, function).check();
    if (!fault.empty()) return fault;
    if (!names.insert(function.name).second)
      return fmt::format("there are two functions \"{}\"", function.name);
  }
  for (size_t n = 0; n < executable.constants.size(); ++n) {
    const Tensor& constant = executable.constants[n];
    if (!constant || !constant.device().is_cpu() || !constant.is_contiguous())
      return fmt::format("constant {} is not a compact tensor on cpu", n);
  }
  return {};
}

}  // namespace tilewright::runtime::vm
