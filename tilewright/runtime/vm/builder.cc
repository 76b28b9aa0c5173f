#include "tilewright/runtime/vm/builder.h"

#include <bit>

#include "tilewright/runtime/vm/verify.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime::vm {
namespace {

uint32_t intern(std::map<std::string, uint32_t, std::less<>>& numbers, std::vector<std::string>& texts,
                std::string_view text) {
  auto [entry, is_new] = numbers.try_emplace(std::string(text), static_cast<uint32_t>(texts.size()));
  if (is_new) texts.emplace_back(text);
  return entry->second;
}

Operands joined(Operands head, const Operands& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

}  // namespace

Operand imm_float(double value) { return {Operand::Kind::kFloat, 0, std::bit_cast<int64_t>(value)}; }
Operand imm_dtype(DataType dtype) {
  return {Operand::Kind::kDtype, 0, dtype.code | dtype.bits << 8 | static_cast<int64_t>(dtype.lanes) << 16};
}
Operand imm_device(Device device) {
  return {Operand::Kind::kDevice, static_cast<uint32_t>(device.type), device.id};
}

uint32_t ExecutableBuilder::string(std::string_view text) {
  return intern(strings_, executable_.strings, text);
}
uint32_t ExecutableBuilder::callee(std::string_view name) {
  return intern(callees_, executable_.callees, name);
}

uint32_t ExecutableBuilder::constant(Tensor tensor) {
  executable_.constants.push_back(tensor.compact().read_only_view());
  return static_cast<uint32_t>(executable_.constants.size() - 1);
}

uint32_t ExecutableBuilder::declare(std::string_view name) {
  auto [entry, is_new] =
      functions_.try_emplace(std::string(name), static_cast<uint32_t>(executable_.functions.size()));
  if (is_new) executable_.functions.emplace_back();
  return entry->second;
}

uint32_t ExecutableBuilder::add(BytecodeFunction function) {
  const uint32_t index = declare(function.name);
  TILEWRIGHT_CHECK(executable_.functions[index].code.empty(), "vm: function \"{}\" is defined twice",
                   function.name);
  executable_.functions[index] = std::move(function);
  return index;
}

Executable ExecutableBuilder::finish() {
  for (const auto& [name, index] : functions_) {
    TILEWRIGHT_CHECK(!executable_.functions[index].code.empty(),
                     "vm: function \"{}\" is declared, but not defined", name);
  }
  const std::string fault = find_fault(executable_);
  TILEWRIGHT_CHECK(fault.empty(), "vm: {}", fault);
  return std::move(executable_);
}

FunctionBuilder::FunctionBuilder(ExecutableBuilder& executable, std::string name,
                                 std::vector<Description> parameters, std::vector<Description> results,
                                 bool is_public)
    : executable_(executable) {
  function_.name = std::move(name);
  function_.is_public = is_public;
  function_.num_registers = static_cast<uint32_t>(parameters.size());
  function_.parameters = std::move(parameters);
  function_.results = std::move(results);
}

Register FunctionBuilder::new_register() { return {function_.num_registers++}; }

IntRegister FunctionBuilder::new_int(std::string name) {
  if (!name.empty()) {
    function_.int_names.resize(function_.num_ints);
    function_.int_names.push_back(std::move(name));
  }
  return {function_.num_ints++};
}

Operand FunctionBuilder::str(std::string_view text) {
  return {Operand::Kind::kString, executable_.string(text), 0};
}

Instruction& FunctionBuilder::emit(Opcode opcode, uint32_t dst, uint32_t a, uint32_t b) {
  return function_.code.emplace_back(Instruction{opcode, device_, 0, dst, a, b});
}

Instruction& FunctionBuilder::emit_with(Opcode opcode, uint32_t dst, uint32_t a, const Operands& operands) {
  if (operands.size() > UINT16_MAX) {
    throw Unsupported("function \"{}\" has a tuple or call of {} values, more than {}", function_.name,
                      operands.size(), UINT16_MAX);
  }
  const auto first = static_cast<uint32_t>(function_.operands.size());
  function_.operands.insert(function_.operands.end(), operands.begin(), operands.end());
  Instruction& instruction = emit(opcode, dst, a, first);
  instruction.num_operands = static_cast<uint16_t>(operands.size());
  return instruction;
}

void FunctionBuilder::check_tensor(Register value, std::string_view name, DataType dtype,
                                   const Operands& dims) {
  emit_with(Opcode::kCheckTensor, 0, value.index,
            joined({str(name), imm_dtype(dtype), imm(static_cast<int64_t>(dims.size()))}, dims));
}
void FunctionBuilder::check_tensor_any_ndim(Register value, std::string_view name, DataType dtype) {
  emit_with(Opcode::kCheckTensor, 0, value.index, {str(name), imm_dtype(dtype), imm(-1)});
}
void FunctionBuilder::check_shape(Register value, std::string_view name, const Operands& dims) {
  emit_with(Opcode::kCheckShape, 0, value.index,
            joined({str(name), imm(static_cast<int64_t>(dims.size()))}, dims));
}
void FunctionBuilder::check_shape_any_ndim(Register value, std::string_view name) {
  emit_with(Opcode::kCheckShape, 0, value.index, {str(name), imm(-1)});
}
void FunctionBuilder::check_kind(Register value, std::string_view name, uint32_t kind, int64_t num_fields) {
  emit_with(Opcode::kCheckKind, kind, value.index, {str(name), imm(num_fields)});
}
void FunctionBuilder::check_equal(IntRegister value, IntRegister expected, std::string_view what) {
  emit_with(Opcode::kCheckEqual, 0, value.index, {str(what), expected});
}
void FunctionBuilder::check_divisible(IntRegister value, IntRegister divisor, std::string_view what) {
  emit_with(Opcode::kCheckDivisible, 0, value.index, {str(what), divisor});
}
void FunctionBuilder::align_tensor(Register value, int64_t least_bytes, int64_t most_bytes) {
  emit_with(Opcode::kAlignTensor, 0, value.index, {imm(least_bytes), imm(most_bytes)});
}
void FunctionBuilder::require(IntRegister condition, std::string_view format, const Operands& values) {
  emit_with(Opcode::kRequire, 0, condition.index, joined({str(format)}, values));
}

IntRegister FunctionBuilder::load_dim(Register tensor_or_shape, uint32_t axis) {
  const IntRegister result = new_int();
  emit(Opcode::kLoadDim, result.index, tensor_or_shape.index, axis);
  return result;
}
IntRegister FunctionBuilder::load_int(Register value) {
  const IntRegister result = new_int();
  emit(Opcode::kLoadInt, result.index, value.index, 0);
  return result;
}
IntRegister FunctionBuilder::set_int(int64_t value) {
  const IntRegister result = new_int();
  set_int(result, imm(value));
  return result;
}
void FunctionBuilder::set_int(IntRegister into, Operand size) {
  emit_with(Opcode::kSetInt, into.index, 0, {size});
}
IntRegister FunctionBuilder::binary(Opcode opcode, IntRegister a, IntRegister b) {
  TILEWRIGHT_CHECK(opcode >= Opcode::kAdd && opcode <= Opcode::kLess, "vm: opcode {} is not arithmetic",
                   static_cast<int>(opcode));
  const IntRegister result = new_int();
  emit(opcode, result.index, a.index, b.index);
  return result;
}

void FunctionBuilder::arena(Operand num_bytes) { emit_with(Opcode::kArena, 0, 0, {num_bytes}); }
Register FunctionBuilder::arena_tensor(Operand offset_bytes, DataType dtype, const Operands& dims) {
  const Register result = new_register();
  emit_with(Opcode::kArenaTensor, result.index, 0, joined({offset_bytes, imm_dtype(dtype)}, dims));
  return result;
}
Register FunctionBuilder::new_tensor(DataType dtype, const Operands& dims) {
  const Register result = new_register();
  emit_with(Opcode::kNewTensor, result.index, 0, joined({imm_dtype(dtype)}, dims));
  return result;
}
Register FunctionBuilder::reshape(Register tensor, const Operands& dims) {
  const Register result = new_register();
  emit_with(Opcode::kReshape, result.index, tensor.index, dims);
  return result;
}
Register FunctionBuilder::constant(Tensor tensor) {
  const Register result = new_register();
  emit(Opcode::kConstant, result.index, 0, executable_.constant(std::move(tensor)));
  return result;
}

void FunctionBuilder::call_kernel(std::string_view callee, const Operands& args) {
  emit_with(Opcode::kCallKernel, 0, executable_.callee(callee), args);
}
Register FunctionBuilder::call_packed(std::string_view callee, const Operands& args) {
  const Register result = new_register();
  emit_with(Opcode::kCallPacked, result.index, executable_.callee(callee), args);
  return result;
}
Register FunctionBuilder::call_function(uint32_t function, const Operands& args) {
  const Register result = new_register();
  emit_with(Opcode::kCallFunction, result.index, function, args);
  return result;
}
Register FunctionBuilder::call_closure(Register closure, const Operands& args) {
  const Register result = new_register();
  emit_with(Opcode::kCallClosure, result.index, closure.index, args);
  return result;
}
Register FunctionBuilder::make_closure(uint32_t function, const Operands& captured) {
  const Register result = new_register();
  emit_with(Opcode::kMakeClosure, result.index, function, captured);
  return result;
}
Register FunctionBuilder::loop(Register body, const Loop& loop) {
  const Register result = new_register();
  Operands operands{imm(static_cast<int64_t>(loop.carried.size())),
                    imm(static_cast<int64_t>(loop.empty.size())), loop.most, loop.condition};
  for (const Operands* list : {&loop.empty, &loop.carried, &loop.captured})
    operands.insert(operands.end(), list->begin(), list->end());
  emit_with(Opcode::kLoop, result.index, body.index, operands);
  return result;
}

Register FunctionBuilder::set(Operand value) {
  const Register result = new_register();
  set(result, value);
  return result;
}
void FunctionBuilder::set(Register into, Operand value) { emit_with(Opcode::kSet, into.index, 0, {value}); }
Register FunctionBuilder::make_tuple(const Operands& fields) {
  const Register result = new_register();
  emit_with(Opcode::kMakeTuple, result.index, 0, fields);
  return result;
}
Register FunctionBuilder::get_item(Register tuple, uint32_t field) {
  const Register result = new_register();
  emit(Opcode::kGetItem, result.index, tuple.index, field);
  return result;
}
Register FunctionBuilder::make_shape(const Operands& sizes) {
  const Register result = new_register();
  emit_with(Opcode::kMakeShape, result.index, 0, sizes);
  return result;
}
Register FunctionBuilder::shape_of(Register tensor) {
  const Register result = new_register();
  emit(Opcode::kShapeOf, result.index, tensor.index, 0);
  return result;
}
Register FunctionBuilder::tensor_to_shape(Register tensor) {
  const Register result = new_register();
  emit(Opcode::kTensorToShape, result.index, tensor.index, 0);
  return result;
}
void FunctionBuilder::kill(Register value) { emit(Opcode::kKill, 0, value.index, 0); }

Label FunctionBuilder::new_label() {
  labels_.push_back(-1);
  return {static_cast<uint32_t>(labels_.size() - 1)};
}
void FunctionBuilder::bind_label(Label label) {
  labels_[label.index] = static_cast<int64_t>(function_.code.size());
}
void FunctionBuilder::emit_jump(Opcode opcode, uint32_t condition, Label label) {
  jumps_.push_back({function_.code.size(), label.index});
  emit(opcode, 0, condition, 0);
}
void FunctionBuilder::jump(Label label) { emit_jump(Opcode::kJump, 0, label); }
void FunctionBuilder::jump_if_zero(IntRegister condition, Label label) {
  emit_jump(Opcode::kJumpIfZero, condition.index, label);
}
void FunctionBuilder::jump_if_false(Register condition, Label label) {
  emit_jump(Opcode::kJumpIfFalse, condition.index, label);
}
void FunctionBuilder::ret(Register value) { emit(Opcode::kReturn, 0, value.index, 0); }

BytecodeFunction FunctionBuilder::finish() {
  for (const Jump& jump : jumps_) {
    const int64_t target = labels_[jump.label];
    TILEWRIGHT_CHECK(target >= 0, "vm: function \"{}\" jumps to a label that is not bound", function_.name);
    TILEWRIGHT_CHECK(target > static_cast<int64_t>(jump.instruction), "vm: function \"{}\" jumps back",
                     function_.name);
    function_.code[jump.instruction].b = static_cast<uint32_t>(target);
  }
  return std::move(function_);
}

}  // namespace tilewright::runtime::vm
