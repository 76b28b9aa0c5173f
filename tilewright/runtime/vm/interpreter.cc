#include "tilewright/runtime/vm/interpreter.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "tilewright/runtime/error_state.h"
#include "tilewright/runtime/interrupt.h"
#include "tilewright/runtime/scalar.h"
#include "tilewright/runtime/vm/checks.h"
#include "tilewright/runtime/vm/host_calls.h"
#include "tilewright/runtime/vm/loop.h"
#include "tilewright/runtime/vm/opcodes.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime::vm {
namespace {

bool is_arena_tensor(const TensorObject& tensor) { return tensor.in_arena; }
// True for memory of the machine, which must not be returned: the next call would overwrite it (arena), or
// the user could overwrite constants.
bool is_machine_tensor(const TensorObject& tensor) { return tensor.in_arena || tensor.read_only; }

// True for a tensor that must be copied, or a tuple that holds one.
template <class Predicate>
bool holds(const Value& value, Predicate must_copy) {
  if (const TensorObject* tensor = value.tensor_object()) return must_copy(*tensor);
  if (!value.is(ValueKind::kTuple)) return false;
  const std::vector<Value>& fields = value.as_tuple();
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Value& field) { return holds(field, must_copy); });
}

// The value with such tensors replaced by copies.
template <class Predicate>
Value detached(Value value, Predicate must_copy) {
  if (!holds(value, must_copy)) return value;
  if (value.tensor_object()) return Value(value.as_tensor().copy());
  std::vector<Value> fields;
  for (const Value& field : value.as_tuple()) fields.push_back(detached(field, must_copy));
  return Value::tuple(std::move(fields));
}

int64_t dimension_of(const Value& value, uint32_t axis, std::string_view function) {
  ShapeView shape;
  if (const TensorObject* tensor = value.tensor_object())
    shape = {tensor->dl.shape, static_cast<size_t>(tensor->dl.ndim)};
  else if (value.is(ValueKind::kShape))
    shape = value.as_shape();
  else
    throw UserError("{}: {} has no dimensions", function, kind_with_article(value.kind()));
  if (axis >= shape.size()) throw UserError("{}: {} has no dimension {}", function, value.type_str(), axis);
  return shape[axis];
}

Value shape_from_tensor(const Value& value, std::string_view function) {
  const Tensor tensor = value.as_tensor(function).to(Device::cpu()).compact();
  if (tensor.ndim() != 1) throw UserError("{}: {} is not a shape", function, type_str(tensor));
  Shape shape;
  for (int64_t n = 0; n < tensor.num_elements(); ++n)
    shape.push_back(integer_of(tensor.slice(0, n, n + 1), function));
  return Value::shape(std::move(shape));
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

int64_t arithmetic(Opcode opcode, int64_t a, int64_t b, std::string_view function) {
  int64_t result = 0;
  bool overflows = false;
  switch (opcode) {
    case Opcode::kAdd: overflows = __builtin_add_overflow(a, b, &result); break;
    case Opcode::kSub: overflows = __builtin_sub_overflow(a, b, &result); break;
    case Opcode::kMul: overflows = __builtin_mul_overflow(a, b, &result); break;
    case Opcode::kFloorDiv:
    case Opcode::kFloorMod:
      if (b == 0) throw UserError("{}: a shape divides {} by zero", function, a);
      if (b == -1) {  // INT64_MIN / -1 traps on x86
        overflows = opcode == Opcode::kFloorDiv && __builtin_sub_overflow(int64_t{0}, a, &result);
        break;
      }
      result = opcode == Opcode::kFloorDiv ? floor_div(a, b) : a - b * floor_div(a, b);
      break;
    case Opcode::kMin: return a < b ? a : b;
    case Opcode::kMax: return a > b ? a : b;
    case Opcode::kEqual: return a == b;
    default: return a < b;  // kLess
  }
  if (overflows)
    throw UserError("{}: a shape is too large: arithmetic on {} and {} overflows", function, a, b);
  return result;
}

class Interpreter {
 public:
  Interpreter(const MachineObject& machine, const BytecodeFunction& function, Frame& frame)
      : machine_(machine), function_(function), frame_(frame) {}

  Value run();

 private:
  const Operand* operands(const Instruction& instruction) const {
    return function_.operands.data() + instruction.b;
  }

  int64_t size(const Operand& operand) const {
    return operand.kind == Operand::Kind::kInt ? frame_.integer(operand.index) : operand.bits;
  }

  // Writes the sizes from operand `first` on to frame.dims().  Returns their count.
  size_t read_dims(const Instruction& instruction, uint32_t first) {
    const Operand* list = operands(instruction);
    for (uint32_t n = first; n < instruction.num_operands; ++n) frame_.dims()[n - first] = size(list[n]);
    return instruction.num_operands - first;
  }

  Value value(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::kRegister: return frame_.reg(operand.index);
      case Operand::Kind::kInt: return Value(frame_.integer(operand.index));
      case Operand::Kind::kImmediate: return Value(operand.bits);
      case Operand::Kind::kFloat: return Value(std::bit_cast<double>(operand.bits));
      case Operand::Kind::kBool: return Value(operand.bits != 0);
      case Operand::Kind::kString: return machine_.strings[operand.index];
      case Operand::Kind::kDtype: return Value(operand_dtype(operand));
      case Operand::Kind::kDevice:
        return Value(Device{static_cast<int32_t>(operand.index), static_cast<int32_t>(operand.bits)});
      default: return Value();
    }
  }

  TilewrightAny any(const Operand& operand) const {
    TilewrightAny result{};
    switch (operand.kind) {
      case Operand::Kind::kRegister: {
        const Value& held = frame_.reg(operand.index);
        const TensorObject* tensor = held.tensor_object();
        if (!tensor) return to_any(held);
        result.type_index = kTilewrightDLTensor;
        result.v_ptr = const_cast<DLTensor*>(&tensor->dl);
        return result;
      }
      case Operand::Kind::kInt:
        result.type_index = kTilewrightInt;
        result.v_int64 = frame_.integer(operand.index);
        return result;
      case Operand::Kind::kImmediate:
        result.type_index = kTilewrightInt;
        result.v_int64 = operand.bits;
        return result;
      case Operand::Kind::kString: return to_any(machine_.strings[operand.index]);
      default: return to_any(value(operand));
    }
  }

  std::vector<Value> values(const Instruction& instruction) const {
    std::vector<Value> list;
    list.reserve(instruction.num_operands);
    for (uint32_t n = 0; n < instruction.num_operands; ++n) list.push_back(value(operands(instruction)[n]));
    return list;
  }

  // The arguments of a call, in the frame's buffer; clear_args clears it.
  Args args(const Instruction& instruction) {
    std::vector<Value>& buffer = frame_.values();
    buffer.clear();
    for (uint32_t n = 0; n < instruction.num_operands; ++n) buffer.push_back(value(operands(instruction)[n]));
    return buffer;
  }

  void run_kernel(const Callee& callee, const Instruction& instruction);
  Value run_packed(const Callee& callee, const Instruction& instruction);
  template <class Call>
  Value watched(const Callee& callee, const Function& target, const Instruction& instruction, Call call);
  template <class Call>
  void timed(const Callee& callee, std::span<const TilewrightAny> args, Call call);

  const MachineObject& machine_;
  const BytecodeFunction& function_;
  // A tensor from elsewhere, or a part of one that does not begin where arguments may, is copied.
  void make_ready(Value& value, size_t device) const {
    const TensorObject* tensor = value.tensor_object();
    const Device place = machine_.devices[device];
    const int64_t alignment = machine_.argument_alignments[device];
    if (tensor && !is_ready_on(tensor->dl, place, alignment))
      value = Value(ready_on(value.as_tensor(), place, alignment));
  }

  Frame& frame_;
};

template <class Call>
void Interpreter::timed(const Callee& callee, std::span<const TilewrightAny> args, Call call) {
  if (!machine_.profiler) return call();
  const auto start = std::chrono::steady_clock::now();
  call();
  const auto stop = std::chrono::steady_clock::now();
  machine_.profiler({function_.name, callee.name(),
                     std::chrono::duration_cast<std::chrono::nanoseconds>(stop - start).count(), args});
}

// Performs `call`, which returns a Value, between the machine's `before` and `after` hooks.
template <class Call>
Value Interpreter::watched(const Callee& callee, const Function& target, const Instruction& instruction,
                           Call call) {
  const Instrument& instrument = machine_.instrument;
  const std::vector<Value> list = values(instruction);
  if (instrument.before && !instrument.before(target, callee.name(), list)) return {};
  const Value result = call();
  if (instrument.after) instrument.after(target, callee.name(), list, result);
  return result;
}

void Interpreter::run_kernel(const Callee& callee, const Instruction& instruction) {
  check_interrupt();
  if (!callee.kernel()) {
    run_packed(callee, instruction);
    return;
  }
  TilewrightAny* anys = frame_.anys();
  const KernelParams& params = callee.compiled().params;
  for (uint32_t n = 0; n < instruction.num_operands; ++n) {
    const Operand& operand = operands(instruction)[n];
    if (machine_.uses_accelerators && operand.kind == Operand::Kind::kRegister)
      make_ready(frame_.reg(operand.index), instruction.device);
    anys[n] = any(operand);
    if (params.is_written(n) && operand.kind == Operand::Kind::kRegister) {
      const TensorObject* tensor = frame_.reg(operand.index).tensor_object();
      if (tensor && tensor->read_only) params.refuse_read_only(callee.name(), n);
    }
  }
  auto call = [&] {
    TilewrightAny result{};
    int32_t status = 0;
    timed(callee, {anys, instruction.num_operands},
          [&] { status = callee.kernel()(callee.self(), anys, instruction.num_operands, &result); });
    if (status != 0) raise_kernel_error(callee.compiled());
    return Value();
  };
  const bool is_watched = machine_.instrument.before || machine_.instrument.after;
  if (is_watched)
    watched(callee, machine_.kernels.get_function(callee.name()), instruction, call);
  else
    call();
}

Value Interpreter::run_packed(const Callee& callee, const Instruction& instruction) {
  const Function target = callee.current();
  if (!target) {
    throw UserError("{}: there is no function \"{}\": it is neither compiled nor registered", function_.name,
                    callee.name())
        .help("register it before the call");
  }
  auto call = [&] {
    Value result;
    const Args list = args(instruction);
    const bool is_for_host = machine_.uses_accelerators && callee.is_for_host();
    const Device device = machine_.devices[instruction.device];
    timed(callee, {}, [&] { result = is_for_host ? call_on_host(target, list, device) : target.call(list); });
    frame_.values().clear();
    return result;
  };
  const bool is_watched = machine_.instrument.before || machine_.instrument.after;
  return is_watched ? watched(callee, target, instruction, call) : call();
}

Value Interpreter::run() {
  const Instruction* code = function_.code.data();
  const Instruction* next = code;
  Frame& frame = frame_;
  for (;;) {
    const Instruction& in = *next++;
    switch (in.opcode) {
      case Opcode::kCheckTensor: check_tensor(machine_, function_, in, frame); break;
      case Opcode::kCheckShape: check_shape(machine_, function_, in, frame); break;
      case Opcode::kCheckKind: check_kind(machine_, function_, in, frame); break;
      case Opcode::kCheckEqual: check_equal(machine_, function_, in, frame); break;
      case Opcode::kCheckDivisible: check_divisible(machine_, function_, in, frame); break;
      case Opcode::kRequire: require(machine_, function_, in, frame); break;
      case Opcode::kAlignTensor: align_tensor(function_, in, frame); break;

      case Opcode::kLoadDim:
        frame.integer(in.dst) = dimension_of(frame.reg(in.a), in.b, function_.name);
        break;
      case Opcode::kLoadInt: frame.integer(in.dst) = integer_of(frame.reg(in.a), function_.name); break;
      case Opcode::kSetInt: frame.integer(in.dst) = size(*operands(in)); break;
      case Opcode::kAdd:
      case Opcode::kSub:
      case Opcode::kMul:
      case Opcode::kFloorDiv:
      case Opcode::kFloorMod:
      case Opcode::kMin:
      case Opcode::kMax:
      case Opcode::kEqual:
      case Opcode::kLess:
        frame.integer(in.dst) =
            arithmetic(in.opcode, frame.integer(in.a), frame.integer(in.b), function_.name);
        break;

      case Opcode::kArena: frame.reserve_arena(in.device, size(*operands(in))); break;
      case Opcode::kArenaTensor: {
        const size_t ndim = read_dims(in, 2);
        frame.make_arena_tensor(in.dst, in.device, size(operands(in)[0]), operand_dtype(operands(in)[1]),
                                ndim);
        break;
      }
      case Opcode::kNewTensor: {
        const size_t ndim = read_dims(in, 1);
        frame.reg(in.dst) = Value(
            Tensor::empty({frame.dims(), ndim}, operand_dtype(operands(in)[0]), machine_.devices[in.device]));
        break;
      }
      case Opcode::kReshape: {
        const size_t ndim = read_dims(in, 0);
        const Tensor base = frame.reg(in.a).as_tensor(function_.name).compact();
        frame.make_reshaped(in.dst, *base.object(), ndim);
        break;
      }
      case Opcode::kConstant: frame.reg(in.dst) = machine_.constants[in.device][in.b]; break;

      case Opcode::kCallKernel: run_kernel(machine_.callees[in.a], in); break;
      case Opcode::kCallPacked: frame.reg(in.dst) = run_packed(machine_.callees[in.a], in); break;
      case Opcode::kCallFunction: {
        Value result = machine_.call(in.a, args(in));
        frame.values().clear();
        frame.reg(in.dst) = std::move(result);
        break;
      }
      case Opcode::kCallClosure: {
        const Function closure = frame.reg(in.a).as_function(function_.name);
        Value result = closure.call(args(in));
        frame.values().clear();
        frame.reg(in.dst) = std::move(result);
        break;
      }
      case Opcode::kMakeClosure: {
        std::vector<Value> captured = values(in);
        for (Value& each : captured)
          each = detached(std::move(each), is_arena_tensor);  // a closure may outlive this call
        frame.reg(in.dst) = Value(make_closure(machine_, in.a, std::move(captured)));
        break;
      }

      case Opcode::kLoop: {
        const Function body = frame.reg(in.a).as_function(function_.name);
        frame.reg(in.dst) = run_loop(body, values(in), function_.name);
        break;
      }

      case Opcode::kSet: frame.reg(in.dst) = value(*operands(in)); break;
      case Opcode::kMakeTuple: frame.reg(in.dst) = Value::tuple(values(in)); break;
      case Opcode::kGetItem: {
        const Value tuple = frame.reg(in.a);
        const std::vector<Value>& fields = tuple.as_tuple(function_.name);
        if (in.b >= fields.size())
          throw UserError("{}: a tuple of {} has no field {}", function_.name, fields.size(), in.b);
        frame.reg(in.dst) = fields[in.b];
        break;
      }
      case Opcode::kMakeShape: {
        const size_t ndim = read_dims(in, 0);
        frame.reg(in.dst) = Value::shape(Shape(frame.dims(), frame.dims() + ndim));
        break;
      }
      case Opcode::kShapeOf: {
        const Tensor tensor = frame.reg(in.a).as_tensor(function_.name);
        frame.reg(in.dst) = Value::shape(Shape(tensor.shape().begin(), tensor.shape().end()));
        break;
      }
      case Opcode::kTensorToShape:
        frame.reg(in.dst) = shape_from_tensor(frame.reg(in.a), function_.name);
        break;
      case Opcode::kKill: frame.kill(in.a); break;

      case Opcode::kJump: next = code + in.b; break;
      case Opcode::kJumpIfZero:
        if (frame.integer(in.a) == 0) next = code + in.b;
        break;
      case Opcode::kJumpIfFalse:
        if (integer_of(frame.reg(in.a), function_.name) == 0) next = code + in.b;
        break;
      case Opcode::kReturn: return detached(std::move(frame.reg(in.a)), is_machine_tensor);
    }
  }
}

}  // namespace

Value interpret(const MachineObject& machine, const BytecodeFunction& function, Frame& frame) {
  return Interpreter(machine, function, frame).run();
}

}  // namespace tilewright::runtime::vm
