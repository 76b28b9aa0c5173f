// Runs an executable: VirtualMachine vm(executable, kernels); Value y = vm.invoke("main", {x});
// May be called from several threads at once, and from inside a call (by a packed function that calls back).
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/module.h"
#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::runtime::vm {

class MachineObject;

/// One call of a kernel or packed function, reported to the profiler after it ended.
struct CallRecord {
  std::string_view function;  // the calling function of the executable
  std::string_view callee;
  int64_t duration_ns;
  std::span<const TilewrightAny> args;  // for a compiled kernel; empty for a packed function
};
using Profiler = std::function<void(const CallRecord&)>;

/// Hooks around calls of kernels and packed functions.  `args` are tensors, scalars and strings; kernels
/// write their results into the last ones.  The tensors belong to the machine: copy those you keep.
struct Instrument {
  // Returns false to skip the call.
  std::function<bool(const Function& callee, std::string_view name, Args args)> before;
  std::function<void(const Function& callee, std::string_view name, Args args, const Value& result)> after;
};

class VirtualMachine {
 public:
  VirtualMachine() = default;
  /// kernels: where callees are looked up first; may be undefined, then only the registry is used.  A callee
  /// that is in neither is an error only when it is called: packed functions may be registered until then.
  /// Raises InternalError if the executable is not valid (find_fault).
  ///
  /// devices  where kernels run and tensors are, in the order of Executable::devices; default those.  Arguments from
  ///          elsewhere are copied.  Raises Unsupported for a device of another kind, UserError if there are too few.
  VirtualMachine(Executable executable, Module kernels, std::vector<Device> devices = {});
  /// The executable that a compiled model carries, with the model's kernels.
  /// Raises UserError if `model` carries none or it is damaged.
  static VirtualMachine from_module(const Module& model, std::vector<Device> devices = {});

  explicit operator bool() const { return static_cast<bool>(module_); }
  /// Calls a public function.  Raises UserError for an unknown name, a wrong number of arguments, or
  /// arguments that the function's checks refuse; errors of kernels and packed functions pass through.
  /// Tensors that are not compact or not aligned to their elements are copied first.  The result shares no
  /// memory with the machine.
  Value invoke(std::string_view function, Args args) const;
  template <class... Values>
  Value operator()(std::string_view function, const Values&... values) const {
    if constexpr (sizeof...(Values) == 0) {
      return invoke(function, {});
    } else {
      const Value args[] = {Value(values)...};
      return invoke(function, args);
    }
  }
  /// A public function as a packed function, which keeps the machine alive.  Raises UserError for an unknown
  /// name.
  Function get_function(std::string_view name) const;
  /// The machine as a module with its public functions; it imports the kernels.
  const Module& module() const { return module_; }
  const Executable& executable() const;
  const std::vector<Device>& devices() const;
  /// Callees that are neither in the kernels nor in the registry now.
  std::vector<std::string> missing_callees() const;
  /// Calls `profiler` after every kernel and packed call, from the thread that made it; null stops that.
  /// Must not be changed while a call is running.
  void set_profiler(Profiler profiler) const;
  /// Calls the hooks of `instrument` around every kernel and packed call, from the thread that makes it; an
  /// empty one removes them.  Must not be changed while a call is running.
  void set_instrument(Instrument instrument) const;

 private:
  MachineObject& machine() const;
  Module module_;
};

}  // namespace tilewright::runtime::vm
