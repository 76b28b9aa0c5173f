#include "tilewright/runtime/vm/machine_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
  FrameLease(FramePool& pool, const BytecodeFunction& function, const std::vector<Device>& devices)
      : pool_(pool), frame_(pool.take(function, devices)) {}
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

// "opencl", "the CPU"
std::string kind_text(Device device) {
  const std::string name = device.str();
  return device.is_cpu() ? "the CPU" : name.substr(0, name.find(':'));
}

std::string list_text(const std::vector<Device>& devices, std::string_view format) {
  std::vector<std::string> texts;
  for (const Device device : devices) {
    const std::string name = device.str();
    texts.push_back(fmt::format(fmt::runtime(format), name.substr(0, name.find(':')), device.id));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Where the machine is: a device of the right kind for each that the program was compiled for.  More are left out: TVM
// asks for the host's as the last.
std::vector<Device> devices_for(const Executable& executable, std::vector<Device> given) {
  std::vector<Device> wanted = executable.devices;
  if (wanted.empty()) wanted.push_back(Device::cpu());
  if (given.empty()) return wanted;
  const bool is_one = wanted.size() == 1;
  for (size_t n = 0; n < std::min(given.size(), wanted.size()); ++n) {
    if (given[n].type == wanted[n].type) continue;
    if (is_one)
      throw Unsupported("VirtualMachine: this program is code of {}, it cannot run on {}",
                        kind_text(wanted[0]), given[0].str())
          .help("leave the device out, or pass {}", list_text(wanted, "tilewright.{}()"));
    throw Unsupported("VirtualMachine: device {} of this program is code of {}, it cannot run on {}", n,
                      kind_text(wanted[n]), given[n].str())
        .help("leave the devices out, or pass [{}]", list_text(wanted, "tilewright.{}({})"));
  }
  if (given.size() < wanted.size())
    throw UserError("VirtualMachine: this program runs on {} ({}), but got {} ({})",
                    count_text(wanted.size(), "device"), list_text(wanted, "{}:{}"),
                    count_text(given.size(), "device"), list_text(given, "{}:{}"))
        .help("leave the devices out, or pass [{}]", list_text(wanted, "tilewright.{}({})"));
  given.resize(wanted.size());
  return given;
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

MachineObject::MachineObject(Executable source, const Module& kernels, std::vector<Device> places)
    : ModuleObject("vm"),
      executable(std::move(source)),
      kernels(kernels),
      devices(std::move(places)),
      uses_accelerators(
          std::any_of(devices.begin(), devices.end(), [](Device device) { return !device.is_cpu(); })) {
  const std::string fault = find_fault(executable);
  TILEWRIGHT_CHECK(fault.empty(), "vm: {}", fault);
  for (const Device device : devices) argument_alignments.push_back(argument_alignment(device));
  constants.assign(devices.size(), std::vector<Value>(executable.constants.size()));
  for (const BytecodeFunction& function : executable.functions) {
    for (const Instruction& instruction : function.code) {
      if (instruction.opcode != Opcode::kConstant) continue;
      Value& constant = constants[instruction.device][instruction.b];
      if (constant.is_none())
        constant = on_device(executable.constants[instruction.b], devices[instruction.device]);
    }
  }
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
  FrameLease lease(frames_[index], function, devices);
  Frame& frame = *lease;
  frame.start();
  for (uint32_t n = 0; n < args.size(); ++n) frame.reg(n) = args[n];
  return interpret(*this, function, frame);
}

Function make_closure(const MachineObject& machine, uint32_t function, std::vector<Value> captured) {
  return Function(Ref<FunctionObject>(new BytecodeClosure(machine, function, std::move(captured))));
}

VirtualMachine::VirtualMachine(Executable executable, Module kernels, std::vector<Device> devices) {
  std::vector<Device> places = devices_for(executable, std::move(devices));
  module_ = Module(Ref<ModuleObject>(new MachineObject(std::move(executable), kernels, std::move(places))));
  if (kernels) module_.import_module(kernels);
}

VirtualMachine VirtualMachine::from_module(const Module& model, std::vector<Device> devices) {
  const std::span<const std::byte> blob = model.blob();
  if (blob.empty()) {
    throw UserError("{} has functions, but no model to run", model.name())
        .help("call its functions by name, or make a library with `tilewright compile`");
  }
  return VirtualMachine(load(blob, model.name(), std::make_shared<Module>(model)), model, std::move(devices));
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
const std::vector<Device>& VirtualMachine::devices() const { return machine().devices; }

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
