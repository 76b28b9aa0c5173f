// Writes an Executable: registers and labels are typed, strings and callees are stored once.
//
//   ExecutableBuilder builder;
//   FunctionBuilder f(builder, "main", {{"x", "float32[n, 7]"}}, {{"y", "float32[n, 7]"}});
//   IntRegister n = f.new_int("n");
//   f.check_tensor(f.parameter(0), "x", kFloat32, {bind(n), imm(7)});
//   Register y = f.new_tensor(kFloat32, {n, imm(7)});
//   f.call_kernel("relu", {f.parameter(0), y});
//   f.ret(y);
//   builder.add(f.finish());
//   Executable executable = builder.finish();
#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::runtime::vm {

struct Register {
  uint32_t index = 0;
  operator Operand() const { return {Operand::Kind::kRegister, index, 0}; }
};
struct IntRegister {
  uint32_t index = 0;
  operator Operand() const { return {Operand::Kind::kInt, index, 0}; }
};
/// A position in the code that jumps can refer to before it is reached.
struct Label {
  uint32_t index = 0;
};

inline Operand none() { return {}; }
inline Operand imm(int64_t value) { return {Operand::Kind::kImmediate, 0, value}; }
inline Operand imm_bool(bool value) { return {Operand::Kind::kBool, 0, value}; }
Operand imm_float(double value);
Operand imm_dtype(DataType dtype);
Operand imm_device(Device device);
/// Dimension patterns: bind stores the dimension in `target`; any_dim accepts every dimension, and messages
/// show string `shown` for it.
inline Operand bind(IntRegister target) { return {Operand::Kind::kBind, target.index, 0}; }
inline Operand any_dim() { return {Operand::Kind::kAnyDim, 0, 0}; }
inline Operand any_dim(uint32_t shown) { return {Operand::Kind::kAnyDim, 0, int64_t{shown} + 1}; }

class ExecutableBuilder {
 public:
  /// The index of the string in instructions; equal texts share one.
  uint32_t string(std::string_view text);
  uint32_t callee(std::string_view name);
  uint32_t constant(Tensor tensor);
  /// Instructions are for devices in the order in which they are added; without any, for one CPU.
  void add_device(Device device) { executable_.devices.push_back(device); }
  /// Declares a function before it is defined, so that others can call it.  Returns its index.
  uint32_t declare(std::string_view name);
  /// Defines a function, declared before or not.  Raises InternalError if it is defined already.
  uint32_t add(BytecodeFunction function);
  /// The executable, verified.  Raises InternalError if a declared function was not defined or verification
  /// fails.
  Executable finish();

 private:
  Executable executable_;
  std::map<std::string, uint32_t, std::less<>> strings_, callees_, functions_;
};

using Operands = std::vector<Operand>;

class FunctionBuilder {
 public:
  FunctionBuilder(ExecutableBuilder& executable, std::string name, std::vector<Description> parameters,
                  std::vector<Description> results, bool is_public = true);

  /// Register of parameter `position`.
  Register parameter(size_t position) const { return {static_cast<uint32_t>(position)}; }
  /// The next instructions are for device `number` of the executable's.
  void on_device(size_t number) { device_ = static_cast<uint8_t>(number); }
  size_t device() const { return device_; }
  Register new_register();
  /// name: how messages call it, e.g. a symbolic dimension; may be empty.
  IntRegister new_int(std::string name = "");
  /// A value operand for `text`.
  Operand str(std::string_view text);

  // Checks; `name` is the value's name in messages.  dtype void, or no dims at all: anything is accepted.
  void check_tensor(Register value, std::string_view name, DataType dtype, const Operands& dims);
  void check_tensor_any_ndim(Register value, std::string_view name, DataType dtype);
  void check_shape(Register value, std::string_view name, const Operands& dims);
  void check_shape_any_ndim(Register value, std::string_view name);
  /// kind: a ValueKind of runtime/value.h; num_fields only for tuples, -1: any number.
  void check_kind(Register value, std::string_view name, uint32_t kind, int64_t num_fields = -1);
  /// Error text: "{what} is {value}, expected {expected}"
  void check_equal(IntRegister value, IntRegister expected, std::string_view what);
  /// Error text: "{what} is {value}, which is not a multiple of {divisor}"
  void check_divisible(IntRegister value, IntRegister divisor, std::string_view what);
  /// Replaces a tensor of `least_bytes` to `most_bytes` by a copy if it is not aligned to 64 bytes.
  void align_tensor(Register value, int64_t least_bytes, int64_t most_bytes);
  /// Raises an error with `format`, {} replaced by each of the sizes `values`, if `condition` is 0.
  void require(IntRegister condition, std::string_view format, const Operands& values);

  // Integer arithmetic.  With `into`, the result goes to an existing int register.
  IntRegister load_dim(Register tensor_or_shape, uint32_t axis);
  IntRegister load_int(Register value);
  IntRegister set_int(int64_t value);
  void set_int(IntRegister into, Operand size);
  /// opcode: kAdd .. kLess
  IntRegister binary(Opcode opcode, IntRegister a, IntRegister b);

  // Memory
  void arena(Operand num_bytes);
  Register arena_tensor(Operand offset_bytes, DataType dtype, const Operands& dims);
  Register new_tensor(DataType dtype, const Operands& dims);
  Register reshape(Register tensor, const Operands& dims);
  Register constant(Tensor tensor);

  // Calls
  void call_kernel(std::string_view callee, const Operands& args);
  Register call_packed(std::string_view callee, const Operands& args);
  Register call_function(uint32_t function, const Operands& args);
  Register call_closure(Register closure, const Operands& args);
  Register make_closure(uint32_t function, const Operands& captured);
  /// most, condition: none for no limit and no condition.  empty: per value that iterations collect, the tensor
  /// that stands for none.  See vm/loop.h.
  struct Loop {
    Operand most, condition;
    Operands empty, carried, captured;
  };
  Register loop(Register body, const Loop& loop);

  // Values
  Register set(Operand value);
  void set(Register into, Operand value);
  Register make_tuple(const Operands& fields);
  Register get_item(Register tuple, uint32_t field);
  Register make_shape(const Operands& sizes);
  Register shape_of(Register tensor);
  Register tensor_to_shape(Register tensor);
  void kill(Register value);

  // Control
  Label new_label();
  /// Binds `label` to the next instruction.  All jumps to a label must come before it is bound.
  void bind_label(Label label);
  void jump(Label label);
  void jump_if_zero(IntRegister condition, Label label);
  void jump_if_false(Register condition, Label label);
  void ret(Register value);

  /// The function.  Raises InternalError if a label is unbound or a jump goes backward.
  BytecodeFunction finish();

 private:
  Instruction& emit(Opcode opcode, uint32_t dst, uint32_t a, uint32_t b);
  Instruction& emit_with(Opcode opcode, uint32_t dst, uint32_t a, const Operands& operands);
  void emit_jump(Opcode opcode, uint32_t condition, Label label);

  struct Jump {
    size_t instruction;
    uint32_t label;
  };
  ExecutableBuilder& executable_;
  BytecodeFunction function_;
  uint8_t device_ = 0;
  std::vector<Jump> jumps_;
  std::vector<int64_t> labels_;  // instruction index, -1 while unbound
};

}  // namespace tilewright::runtime::vm
