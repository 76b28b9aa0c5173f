#include "tilewright/runtime/vm/machine_state.h"

#include <fmt/format.h>

#include "tilewright/runtime/builtins.h"
#include "tilewright/runtime/vm/host_calls.h"
#include "tilewright/runtime/vm/interpreter.h"
#include "tilewright/runtime/vm/print.h"
#include "tilewright/runtime/vm/serialize.h"
#include "tilewright/runtime/vm/verify.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::runtime::vm {
namespace {

class BytecodeClosure final : public FunctionObject {
 public:
  BytecodeClosure(const MachineObject& machine, uint32_t function, std::vector<Value> captured)
      : FunctionObject(machine.executable.functions[function].name),
        machine_(&machine),
        function_(function),
        captured_(std::move(captured)) {}

  Value call(Args args) const override {
    if (captured_.empty()) return machine_->call(function_, args);
    std::vector<Value> all(args.begin(), args.end());
    all.insert(all.end(), captured_.begin(), captured_.end());
    return machine_->call(function_, all);
  }

 private:
  Ref<MachineObject> machine_;
  uint32_t function_;
  std::vector<Value> captured_;
};

// Takes a frame, and returns it cleaned however the call ends.
class FrameLease {
 public:
  FrameLease(FramePool& pool, const BytecodeFunction& function, Device device)
      : pool_(pool), frame_(pool.take(function, device)) {}
  ~FrameLease() {
    frame_->finish();
    pool_.give_back(std::move(frame_));
  }
  Frame& operator*() { return *frame_; }

 private:
  FramePool& pool_;
  std::unique_ptr<Frame> frame_;
};

// The number of nested bytecode calls of this thread: the interpreter uses the C++ stack.
thread_local int depth = 0;
struct DepthScope {
  static constexpr int kMaxDepth = 1000;
  explicit DepthScope(const std::string& function) {
    if (depth >= kMaxDepth) throw UserError("{}: calls are nested more than {} deep", function, kMaxDepth);
    ++depth;
  }
  ~DepthScope() { --depth; }
};

// A constant on the device; what a device has for itself must not be written, as constants of the host.
Value on_device(const Tensor& constant, Device device) {
  return Value(device.is_cpu() ? constant : constant.to(device).read_only_view());
}

// Where the machine is, which must be of the kind that the kernels were compiled for.
Device device_for(const Executable& executable, std::optional<Device> wanted) {
  const std::string_view target = executable.note("target");
  const std::string_view kind = target.substr(0, target.find(' '));
  const bool is_device = kind == "cuda" || kind == "opencl" || kind == "metal";
  const Device first = is_device ? Device::parse(kind) : Device::cpu();
  if (!wanted || wanted->type == first.type) return wanted.value_or(first);
  throw Unsupported("VirtualMachine: this program is code of {}, it cannot run on {}",
                    is_device ? kind : std::string_view("the CPU"), wanted->str())
      .help("leave the device out, or pass tilewright.{}()", is_device ? kind : std::string_view("cpu"));
}

[[noreturn]] void wrong_count(const BytecodeFunction& function, size_t got) {
  std::vector<std::string> names;
  for (const Description& parameter : function.parameters) names.push_back(parameter.name);
  throw UserError("{}: got {}, expected {} ({})", function.name, count_text(got, "argument"), names.size(),
                  fmt::join(names, ", "))
      .help("{}", usage(function));
}

}  // namespace

Callee::Callee(std::string name, const Module& kernels)
    : name_(std::move(name)), is_for_host_(is_host_function(name_)) {
  if (kernels) function_ = kernels.find_function(name_);
  is_from_module_ = static_cast<bool>(function_);
  if (!is_from_module_) return;
  kernel_ = function_.object()->kernel;
  compiled_ = function_.object();
  self_ = function_.object()->self;
}

Function Callee::current() const {
  if (is_from_module_) return function_;
  std::lock_guard lock(mutex_);
  // read before the look-up, so that a change in between is noticed at the next call
  const uint64_t generation = registry_generation();
  if (generation != generation_) {
    function_ = find_function(name_);
    generation_ = generation;
  }
  return function_;
}

MachineObject::MachineObject(Executable source, const Module& kernels, Device device)
    : ModuleObject("vm"),
      executable(std::move(source)),
      kernels(kernels),
      device(device),
      argument_alignment(vm::argument_alignment(device)) {
  const std::string fault = find_fault(executable);
  TILEWRIGHT_CHECK(fault.empty(), "vm: {}", fault);
  for (const Tensor& constant : executable.constants) constants.push_back(on_device(constant, device));
  for (const std::string& name : executable.callees) callees.emplace_back(name, kernels);
  for (const std::string& text : executable.strings) strings.emplace_back(text);
  for (uint32_t n = 0; n < executable.functions.size(); ++n) {
    frames_.emplace_back();
    if (executable.functions[n].is_public) public_functions_.emplace(executable.functions[n].name, n);
  }
}

int64_t MachineObject::find_public(std::string_view function_name) const {
  auto entry = public_functions_.find(function_name);
  return entry == public_functions_.end() ? -1 : static_cast<int64_t>(entry->second);
}

Function MachineObject::find(std::string_view function_name) const {
  const int64_t index = find_public(function_name);
  return index < 0 ? Function() : make_closure(*this, static_cast<uint32_t>(index), {});
}

std::vector<std::string> MachineObject::names() const {
  std::vector<std::string> names;
  for (const BytecodeFunction& function : executable.functions) {
    if (function.is_public) names.push_back(function.name);
  }
  return names;
}

Value MachineObject::call(uint32_t index, Args args) const {
  const BytecodeFunction& function = executable.functions[index];
  if (args.size() != function.parameters.size()) wrong_count(function, args.size());
  DepthScope scope(function.name);
  FrameLease lease(frames_[index], function, device);
  Frame& frame = *lease;
  frame.start();
  for (uint32_t n = 0; n < args.size(); ++n) frame.reg(n) = args[n];
  return interpret(*this, function, frame);
}

Function make_closure(const MachineObject& machine, uint32_t function, std::vector<Value> captured) {
  return Function(Ref<FunctionObject>(new BytecodeClosure(machine, function, std::move(captured))));
}

VirtualMachine::VirtualMachine(Executable executable, Module kernels, std::optional<Device> device) {
  const Device place = device_for(executable, device);
  module_ = Module(Ref<ModuleObject>(new MachineObject(std::move(executable), kernels, place)));
  if (kernels) module_.import_module(kernels);
}

VirtualMachine VirtualMachine::from_module(const Module& model, std::optional<Device> device) {
  const std::span<const std::byte> blob = model.blob();
  if (blob.empty()) {
    throw UserError("{} has functions, but no model to run", model.name())
        .help("call its functions by name, or make a library with `tilewright compile`");
  }
  return VirtualMachine(load(blob, model.name(), std::make_shared<Module>(model)), model, device);
}

MachineObject& VirtualMachine::machine() const {
  return const_cast<MachineObject&>(static_cast<const MachineObject&>(*module_.object()));
}

Value VirtualMachine::invoke(std::string_view function, Args args) const {
  const int64_t index = machine().find_public(function);
  if (index < 0) (void)get_function(function);  // raises
  return machine().call(static_cast<uint32_t>(index), args);
}

Function VirtualMachine::get_function(std::string_view name) const {
  if (Function function = machine().find(name)) return function;
  const std::vector<std::string> names = machine().names();
  throw UserError("the model has no function \"{}\"", name)
      .help("{}", nearest_names_text(name, std::vector<std::string_view>(names.begin(), names.end())));
}

const Executable& VirtualMachine::executable() const { return machine().executable; }
Device VirtualMachine::device() const { return machine().device; }

std::vector<std::string> VirtualMachine::missing_callees() const {
  std::vector<std::string> missing;
  for (const Callee& callee : machine().callees) {
    if (!callee.kernel() && !callee.current()) missing.push_back(callee.name());
  }
  return missing;
}

void VirtualMachine::set_instrument(Instrument instrument) const {
  machine().instrument = std::move(instrument);
}
void VirtualMachine::set_profiler(Profiler profiler) const { machine().profiler = std::move(profiler); }

}  // namespace tilewright::runtime::vm
