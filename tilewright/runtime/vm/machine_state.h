// The state of a VirtualMachine: the executable, its resolved callees, idle frames.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "tilewright/runtime/vm/frame.h"
#include "tilewright/runtime/vm/virtual_machine.h"

namespace tilewright::runtime::vm {

/// The function that a name of Executable::callees refers to.
class Callee {
 public:
  Callee(std::string name, const Module& kernels);
  const std::string& name() const { return name_; }
  /// Compiled code that stays valid as long as the machine; null if the callee must be called with Values.
  TilewrightKernel kernel() const { return kernel_; }
  void* self() const { return self_; }
  /// True for a function of the runtime that reads and writes memory of the host.
  bool is_for_host() const { return is_for_host_; }
  /// The function object that `kernel` belongs to.
  const FunctionObject& compiled() const { return *compiled_; }
  /// The current function: that of the module, or the one that the registry has under the name now.  May be
  /// undefined.
  Function current() const;

 private:
  std::string name_;
  bool is_for_host_;
  TilewrightKernel kernel_ = nullptr;
  void* self_ = nullptr;
  const FunctionObject* compiled_ = nullptr;  // owned by function_
  bool is_from_module_ = false;
  mutable std::mutex mutex_;
  mutable Function function_;        // guarded by mutex_ unless is_from_module_
  mutable uint64_t generation_ = 0;  // registry generation when function_ was looked up
};

class MachineObject final : public ModuleObject {
 public:
  /// Instruction::device counts `devices`, of which there is at least one.
  MachineObject(Executable executable, const Module& kernels, std::vector<Device> devices);

  std::string kind() const override { return "vm"; }
  Function find(std::string_view function_name) const override;
  std::vector<std::string> names() const override;

  /// Index of the public function; -1 if there is none.
  int64_t find_public(std::string_view function_name) const;
  Value call(uint32_t function, Args args) const;

  const Executable executable;
  const Module kernels;
  const std::vector<Device> devices;
  const bool uses_accelerators;               // one of the devices is no CPU
  std::vector<int64_t> argument_alignments;   // of kernels on each device, in bytes
  std::vector<std::vector<Value>> constants;  // by device: those that instructions load there
  std::deque<Callee> callees;
  std::vector<Value> strings;
  mutable Profiler profiler;
  mutable Instrument instrument;

 private:
  mutable std::deque<FramePool> frames_;  // one per function
  std::map<std::string, uint32_t, std::less<>> public_functions_;
};

/// A function of `machine` whose last parameters are bound to `captured`.
Function make_closure(const MachineObject& machine, uint32_t function, std::vector<Value> captured);

}  // namespace tilewright::runtime::vm
