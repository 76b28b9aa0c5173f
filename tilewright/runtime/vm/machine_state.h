// The state behind a VirtualMachine: the executable, its callees resolved, idle frames.
#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "tilewright/runtime/vm/frame.h"
#include "tilewright/runtime/vm/virtual_machine.h"

namespace tilewright::runtime::vm {

/// Who is behind a name of Executable::callees.
class Callee {
 public:
  Callee(std::string name, const Module& kernels);
  const std::string& name() const { return name_; }
  /// Compiled code that stays valid as long as the machine; null if it must be called with Values.
  TilewrightKernel kernel() const { return kernel_; }
  void* self() const { return self_; }
  /// What `kernel` belongs to.
  const FunctionObject& compiled() const { return *compiled_; }
  /// The function now: that of the module, or what the registry has under the name at this moment.  May be
  /// undefined.
  Function current() const;

 private:
  std::string name_;
  TilewrightKernel kernel_ = nullptr;
  void* self_ = nullptr;
  const FunctionObject* compiled_ = nullptr;  // kept by function_
  bool is_from_module_ = false;
  mutable std::mutex mutex_;
  mutable Function function_;        // guarded by mutex_ unless is_from_module_
  mutable uint64_t generation_ = 0;  // of the registry when function_ was found
};

class MachineObject final : public ModuleObject {
 public:
  MachineObject(Executable executable, const Module& kernels);

  std::string kind() const override { return "vm"; }
  Function find(std::string_view function_name) const override;
  std::vector<std::string> names() const override;

  /// Index of the public function; -1 if there is none.
  int64_t find_public(std::string_view function_name) const;
  Value call(uint32_t function, Args args) const;

  const Executable executable;
  const Module kernels;
  std::deque<Callee> callees;
  std::vector<Value> strings;
  mutable Profiler profiler;
  mutable Instrument instrument;

 private:
  mutable std::deque<FramePool> frames_;  // one per function
  std::map<std::string, uint32_t, std::less<>> public_functions_;
};

/// A function of `machine` whose last parameters are `captured`.
Function make_closure(const MachineObject& machine, uint32_t function, std::vector<Value> captured);

}  // namespace tilewright::runtime::vm
