#include "tilewright/runtime/vm/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tilewright/runtime/scalar.h"
#include "tilewright/runtime/value_text.h"
#include "tilewright/runtime/vm/host_calls.h"
#include "tilewright/runtime/vm/opcodes.h"
#include "tilewright/runtime/vm/print.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime::vm {
namespace {

using Patterns = std::span<const Operand>;

// Compares dimensions with patterns and stores those that patterns bind.  Returns true if all agree.
bool match(ShapeView shape, Patterns patterns, Frame& frame) {
  for (size_t axis = 0; axis < patterns.size(); ++axis) {
    const Operand& pattern = patterns[axis];
    switch (pattern.kind) {
      case Operand::Kind::kBind: frame.integer(pattern.index) = shape[axis]; break;
      case Operand::Kind::kInt:
        if (shape[axis] != frame.integer(pattern.index)) return false;
        break;
      case Operand::Kind::kImmediate:
        if (shape[axis] != pattern.bits) return false;
        break;
      default: break;
    }
  }
  return true;
}

std::string name_of_int(const BytecodeFunction& function, uint32_t index) {
  const bool is_named = index < function.int_names.size() && !function.int_names[index].empty();
  return is_named ? function.int_names[index] : fmt::format("i{}", index);
}

// The size that `pattern` had before `shape` was matched, or that it binds there; nullopt if `shape` has
// another rank.
std::optional<int64_t> known_size(const Operand& pattern, Patterns patterns, ShapeView shape, Frame& frame) {
  const auto bound = std::find_if(patterns.begin(), patterns.end(), [&](const Operand& other) {
    return other.kind == Operand::Kind::kBind && other.index == pattern.index;
  });
  if (bound == patterns.end()) return frame.integer(pattern.index);
  if (shape.size() != patterns.size()) return std::nullopt;
  return shape[static_cast<size_t>(bound - patterns.begin())];
}

// The expected shape with the known values of its names: "[n, n + 1] with n = 5".
// shape  the shape of the value, empty if it has none
std::string expected_shape(const MachineObject& machine, const BytecodeFunction& function, Patterns patterns,
                           ShapeView shape, Frame& frame) {
  std::vector<std::string> dims, values;
  for (const Operand& pattern : patterns) {
    switch (pattern.kind) {
      case Operand::Kind::kImmediate: dims.push_back(fmt::format("{}", pattern.bits)); break;
      case Operand::Kind::kAnyDim:
        dims.push_back(pattern.bits ? machine.executable.strings[static_cast<size_t>(pattern.bits - 1)]
                                    : "any");
        break;
      default: dims.push_back(name_of_int(function, pattern.index));
    }
    if (pattern.kind != Operand::Kind::kInt) continue;
    const std::optional<int64_t> size = known_size(pattern, patterns, shape, frame);
    if (!size) continue;
    std::string value = fmt::format("{} = {}", dims.back(), *size);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
  }
  return fmt::format("[{}]{}{}", fmt::join(dims, ", "), values.empty() ? "" : " with ",
                     fmt::join(values, ", "));
}

// Python passes lists as tuples.
std::string given(const Value& value) {
  return value.is(ValueKind::kTuple) ? "a tuple or list" : kind_with_article(value.kind());
}

[[noreturn]] void wrong_tensor(const MachineObject& machine, const BytecodeFunction& function,
                               const Instruction& instruction, Frame& frame) {
  const Operand* operands = function.operands.data() + instruction.b;
  const DataType dtype = operand_dtype(operands[1]);
  const Patterns patterns(operands + 3, instruction.num_operands - 3u);
  const Value& value = frame.reg(instruction.a);
  const bool is_list = value.is(ValueKind::kTuple);
  const TensorObject* tensor = value.tensor_object();
  const ShapeView shape =
      tensor ? ShapeView(tensor->dl.shape, static_cast<size_t>(tensor->dl.ndim)) : ShapeView();
  throw UserError(
      "{}: {} is {}, expected {}{}", function.name, machine.executable.strings[operands[0].index],
      value.is(ValueKind::kTensor) ? value.type_str() : given(value),
      dtype.is_void() ? "a tensor" : dtype.str(),
      operands[2].bits < 0 ? " of any shape" : expected_shape(machine, function, patterns, shape, frame))
      .help("{}{}", is_list ? "make it a tensor, e.g. numpy.array(values, \"float32\"); " : "",
            usage(function));
}

}  // namespace

void check_tensor(const MachineObject& machine, const BytecodeFunction& function,
                  const Instruction& instruction, Frame& frame) {
  const Operand* operands = function.operands.data() + instruction.b;
  const DataType dtype = operand_dtype(operands[1]);
  const int64_t ndim = operands[2].bits;
  Value& value = frame.reg(instruction.a);
  if (ndim == 0 && !value.tensor_object()) {
    if (const Tensor number = scalar_tensor(value, dtype)) value = number;
  }
  const TensorObject* tensor = value.tensor_object();
  if (!tensor) wrong_tensor(machine, function, instruction, frame);
  const bool has_dtype = dtype.is_void() || from_dlpack(tensor->dl.dtype) == dtype;
  const ShapeView shape(tensor->dl.shape, static_cast<size_t>(tensor->dl.ndim));
  const bool has_ndim = ndim < 0 || ndim == tensor->dl.ndim;
  const Patterns patterns(operands + 3, instruction.num_operands - 3u);
  if (!has_dtype || !has_ndim || !match(shape, patterns, frame))
    wrong_tensor(machine, function, instruction, frame);
  if (machine.uses_accelerators) {
    const size_t device = instruction.device;
    value = Value(ready_on(value.as_tensor(), machine.devices[device], machine.argument_alignments[device]));
    return;
  }
  if (tensor->dl.device.device_type != kDLCPU) {
    throw UserError("{}: {} is on {}, expected on cpu:0", function.name,
                    machine.executable.strings[operands[0].index],
                    Device::from_dlpack(tensor->dl.device).str())
        .help("{}", usage(function));
  }
  if (!Tensor::is_kernel_ready(tensor->dl)) value = value.as_tensor().compact();
}

void align_tensor(const BytecodeFunction& function, const Instruction& instruction, Frame& frame) {
  Value& value = frame.reg(instruction.a);
  if (!value.tensor_object()) return;
  const Operand* operands = function.operands.data() + instruction.b;
  const Tensor tensor = value.as_tensor();
  const int64_t bytes = tensor.num_bytes();
  if (!tensor.is_aligned(kTensorAlignment) && bytes >= operands[0].bits && bytes <= operands[1].bits)
    value = tensor.copy();
}

void check_shape(const MachineObject& machine, const BytecodeFunction& function,
                 const Instruction& instruction, Frame& frame) {
  const Operand* operands = function.operands.data() + instruction.b;
  const int64_t ndim = operands[1].bits;
  const Patterns patterns(operands + 2, instruction.num_operands - 2u);
  const Value& value = frame.reg(instruction.a);
  ShapeView shape;
  if (value.is(ValueKind::kShape)) {
    shape = value.as_shape();
    if ((ndim < 0 || ndim == static_cast<int64_t>(shape.size())) && match(shape, patterns, frame)) return;
  }
  throw UserError("{}: {} is {}, expected a shape{}", function.name,
                  machine.executable.strings[operands[0].index],
                  value.is(ValueKind::kShape) ? value.type_str() : given(value),
                  ndim < 0 ? "" : " " + expected_shape(machine, function, patterns, shape, frame))
      .help("{}", usage(function));
}

void check_kind(const MachineObject& machine, const BytecodeFunction& function,
                const Instruction& instruction, Frame& frame) {
  const Operand* operands = function.operands.data() + instruction.b;
  const auto kind = static_cast<ValueKind>(instruction.dst);
  const Value& value = frame.reg(instruction.a);
  const std::string& name = machine.executable.strings[operands[0].index];
  if (!value.is(kind)) {
    throw UserError("{}: {} is {}, expected {}", function.name, name, given(value), kind_with_article(kind))
        .help("{}", usage(function));
  }
  const int64_t num_fields = operands[1].bits;
  if (kind != ValueKind::kTuple || num_fields < 0) return;
  const auto actual = static_cast<int64_t>(value.as_tuple().size());
  if (actual != num_fields)
    throw UserError("{}: {} is a tuple of {}, expected of {}", function.name, name, actual, num_fields)
        .help("{}", usage(function));
}

void check_equal(const MachineObject& machine, const BytecodeFunction& function,
                 const Instruction& instruction, Frame& frame) {
  const Operand* operands = function.operands.data() + instruction.b;
  const int64_t actual = frame.integer(instruction.a), expected = frame.integer(operands[1].index);
  if (actual == expected) return;
  throw UserError("{}: {} is {}, expected {}", function.name, machine.executable.strings[operands[0].index],
                  actual, expected)
      .help("{}", usage(function));
}

void check_divisible(const MachineObject& machine, const BytecodeFunction& function,
                     const Instruction& instruction, Frame& frame) {
  const Operand* operands = function.operands.data() + instruction.b;
  const int64_t actual = frame.integer(instruction.a), divisor = frame.integer(operands[1].index);
  // INT64_MIN % -1 traps on x86
  if (divisor != 0 && (divisor == -1 || actual % divisor == 0)) return;
  throw UserError("{}: {} is {}, which is not a multiple of {}", function.name,
                  machine.executable.strings[operands[0].index], actual, divisor)
      .help("{}", usage(function));
}

void require(const MachineObject& machine, const BytecodeFunction& function, const Instruction& instruction,
             Frame& frame) {
  if (frame.integer(instruction.a) != 0) return;
  const Operand* operands = function.operands.data() + instruction.b;
  std::vector<Value> values;
  for (const Operand& operand : Patterns(operands + 1, instruction.num_operands - 1u))
    values.emplace_back(operand.kind == Operand::Kind::kInt ? frame.integer(operand.index) : operand.bits);
  throw UserError("{}: {}", function.name,
                  format_values(machine.executable.strings[operands[0].index], values))
      .help("{}", usage(function));
}

}  // namespace tilewright::runtime::vm
