#include "tilewright/runtime/vm/print.h"

#include <fmt/format.h>

#include <bit>

#include "tilewright/runtime/value.h"
#include "tilewright/runtime/vm/opcodes.h"

namespace tilewright::runtime::vm {
namespace {

std::string describe(const std::vector<Description>& values) {
  std::vector<std::string> texts;
  for (const Description& value : values)
    texts.push_back(value.name.empty() ? value.type : value.name + ": " + value.type);
  return fmt::format("{}", fmt::join(texts, ", "));
}

class Printer {
 public:
  Printer(const Executable& executable, const BytecodeFunction& function)
      : executable_(executable), function_(function) {}

  std::string print() const {
    std::string text = fmt::format("{}{}\n", function_.is_public ? "" : "private ", signature(function_));
    for (size_t position = 0; position < function_.code.size(); ++position) {
      text += fmt::format("{:>4}: {}\n", position, line(function_.code[position]));
    }
    return text;
  }

 private:
  std::string line(const Instruction& instruction) const {
    const OpcodeInfo& info = *opcode_info(instruction.opcode);
    std::vector<std::string> args;
    for (auto [field, value] : {std::pair(info.a, instruction.a), std::pair(info.b, instruction.b)}) {
      if (field != Field::kUnused && field != Field::kOperands) args.push_back(show(field, value));
    }
    if (info.dst == Field::kKind) args.push_back(show(info.dst, instruction.dst));
    for (uint32_t n = 0; n < instruction.num_operands; ++n)
      args.push_back(show(function_.operands[instruction.b + n]));
    const bool has_result = info.dst == Field::kRegister || info.dst == Field::kInt;
    return fmt::format("{}{}({})", has_result ? show(info.dst, instruction.dst) + " = " : "", info.name,
                       fmt::join(args, ", "));
  }

  std::string int_name(uint32_t index) const {
    const bool is_named = index < function_.int_names.size() && !function_.int_names[index].empty();
    return is_named ? function_.int_names[index] : fmt::format("i{}", index);
  }

  std::string show(Field field, uint32_t value) const {
    switch (field) {
      case Field::kRegister: return fmt::format("r{}", value);
      case Field::kInt: return int_name(value);
      case Field::kConstantIndex: return type_str(executable_.constants[value]) + fmt::format(" #{}", value);
      case Field::kCallee: return executable_.callees[value];
      case Field::kFunction: return executable_.functions[value].name;
      case Field::kTarget: return fmt::format("-> {}", value);
      case Field::kKind: return kind_with_article(static_cast<ValueKind>(value));
      default: return fmt::format("{}", value);
    }
  }

  std::string show(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::kNone: return "none";
      case Operand::Kind::kRegister: return fmt::format("r{}", operand.index);
      case Operand::Kind::kInt: return int_name(operand.index);
      case Operand::Kind::kBind: return "bind " + int_name(operand.index);
      case Operand::Kind::kAnyDim: return "any";
      case Operand::Kind::kImmediate: return fmt::format("{}", operand.bits);
      case Operand::Kind::kFloat: return fmt::format("{}", std::bit_cast<double>(operand.bits));
      case Operand::Kind::kBool: return operand.bits ? "true" : "false";
      case Operand::Kind::kString: return '"' + executable_.strings[operand.index] + '"';
      case Operand::Kind::kDtype: return operand_dtype(operand).str();
      case Operand::Kind::kDevice:
        return Device{static_cast<int32_t>(operand.index), static_cast<int32_t>(operand.bits)}.str();
    }
    return "";
  }

  const Executable& executable_;
  const BytecodeFunction& function_;
};

}  // namespace

std::string signature(const BytecodeFunction& function) {
  return fmt::format("{}({}) -> {}", function.name, describe(function.parameters),
                     describe(function.results));
}

std::string usage(const BytecodeFunction& function) { return "the function is " + signature(function); }

std::string to_text(const Executable& executable, const BytecodeFunction& function) {
  return Printer(executable, function).print();
}

std::string to_text(const Executable& executable) {
  std::string text;
  for (const BytecodeFunction& function : executable.functions) {
    if (!text.empty()) text += '\n';
    text += to_text(executable, function);
  }
  return text;
}

}  // namespace tilewright::runtime::vm
