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

enum class Style { kText, kPython };

class Printer {
 public:
  Printer(const Executable& executable, const BytecodeFunction& function, Style style = Style::kText)
      : executable_(executable), function_(function), style_(style) {}

  std::string print() const {
    std::string text = fmt::format("{}{}\n", function_.is_public ? "" : "private ", signature(function_));
    for (size_t position = 0; position < function_.code.size(); ++position) {
      text += fmt::format("{:>4}: {}\n", position, line(function_.code[position]));
    }
    return text;
  }

  std::string print_python() const {
    std::vector<std::string> names;
    for (const Description& parameter : function_.parameters)
      names.push_back(fmt::format("\"{}\"", parameter.name));
    std::string text = fmt::format("with ib.function(\"{}\", num_inputs={}, param_names=[{}]):\n",
                                   function_.name, names.size(), fmt::join(names, ", "));
    for (const Instruction& instruction : function_.code) {
      const OpcodeInfo& info = *opcode_info(instruction.opcode);
      const std::vector<std::string> args = arguments(info, instruction);
      text += fmt::format("    ib.emit(\"{}\", args=[{}]", info.name, fmt::join(args, ", "));
      if (has_result(info)) text += ", dst=" + show(info.dst, instruction.dst);
      text += ")\n";
    }
    return text;
  }

 private:
  static bool has_result(const OpcodeInfo& info) {
    return info.dst == Field::kRegister || info.dst == Field::kInt;
  }

  std::string line(const Instruction& instruction) const {
    const OpcodeInfo& info = *opcode_info(instruction.opcode);
    const std::string device =
        instruction.device ? " on " + executable_.devices[instruction.device].str() : std::string();
    return fmt::format("{}{}({}){}", has_result(info) ? show(info.dst, instruction.dst) + " = " : "",
                       info.name, fmt::join(arguments(info, instruction), ", "), device);
  }

  std::vector<std::string> arguments(const OpcodeInfo& info, const Instruction& instruction) const {
    std::vector<std::string> args;
    for (auto [field, value] : {std::pair(info.a, instruction.a), std::pair(info.b, instruction.b)}) {
      if (field != Field::kUnused && field != Field::kOperands) args.push_back(show(field, value));
    }
    if (info.dst == Field::kKind) args.push_back(show(info.dst, instruction.dst));
    for (uint32_t n = 0; n < instruction.num_operands; ++n)
      args.push_back(show(function_.operands[instruction.b + n]));
    return args;
  }

  bool is_python() const { return style_ == Style::kPython; }
  std::string quoted(const std::string& text) const { return is_python() ? '"' + text + '"' : text; }
  std::string register_name(uint32_t index) const {
    return fmt::format(fmt::runtime(is_python() ? "ib.r({})" : "r{}"), index);
  }
  std::string int_name(uint32_t index, std::string_view role = {}) const {
    const bool is_named = index < function_.int_names.size() && !function_.int_names[index].empty();
    const std::string name = is_named ? function_.int_names[index] : fmt::format("i{}", index);
    if (is_python()) return fmt::format("ib.{}(\"{}\")", role.empty() ? "int" : role, name);
    return role.empty() ? name : fmt::format("{} {}", role, name);
  }

  std::string show(Field field, uint32_t value) const {
    switch (field) {
      case Field::kRegister: return register_name(value);
      case Field::kInt: return int_name(value);
      case Field::kConstantIndex:
        return is_python() ? fmt::format("ib.const({})", value)
                           : type_str(executable_.constants[value]) + fmt::format(" #{}", value);
      case Field::kCallee: return quoted(executable_.callees[value]);
      case Field::kFunction: return quoted(executable_.functions[value].name);
      case Field::kTarget: return fmt::format(fmt::runtime(is_python() ? "ib.line({})" : "-> {}"), value);
      case Field::kKind: return quoted(std::string(kind_with_article(static_cast<ValueKind>(value))));
      default: return fmt::format("{}", value);
    }
  }

  std::string show(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::kNone: return is_python() ? "None" : "none";
      case Operand::Kind::kRegister: return register_name(operand.index);
      case Operand::Kind::kInt: return int_name(operand.index);
      case Operand::Kind::kBind: return int_name(operand.index, "bind");
      case Operand::Kind::kAnyDim: return quoted("any");
      case Operand::Kind::kImmediate: return fmt::format("{}", operand.bits);
      case Operand::Kind::kFloat: return fmt::format("{}", std::bit_cast<double>(operand.bits));
      case Operand::Kind::kBool:
        return is_python() ? (operand.bits ? "True" : "False") : (operand.bits ? "true" : "false");
      case Operand::Kind::kString: return '"' + executable_.strings[operand.index] + '"';
      case Operand::Kind::kDtype: return quoted(operand_dtype(operand).str());
      case Operand::Kind::kDevice:
        return quoted(Device{static_cast<int32_t>(operand.index), static_cast<int32_t>(operand.bits)}.str());
    }
    return "";
  }

  const Executable& executable_;
  const BytecodeFunction& function_;
  Style style_;
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

std::string to_python(const Executable& executable) {
  std::string text = "ib = ExecBuilder()\n";
  for (const BytecodeFunction& function : executable.functions)
    text += Printer(executable, function, Style::kPython).print_python();
  return text;
}

}  // namespace tilewright::runtime::vm
