// The devices of a module: those of I.module_global_infos({"vdevice": [...]}), and what names in types mean.
//   "opencl:1"  number 1 of the list's devices of this kind of target; if there are not so many, the device whose
//               vdevice_id is 1
//   "cpu:0"     the same among all devices that are CPUs, whatever their target
//   "vdevice:2" number 2 of the list
// A module without a list has the devices that its types and operators name, in the order in which they do.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/relax/graph/relax.h"
#include "tilewright/runtime/device.h"

namespace tilewright::relax {

struct VDevice {
  std::string name;    // "opencl:0": the one name that types have after realize_vdevice
  std::string target;  // "opencl -max_threads_per_block=256"
  runtime::Device device;
};

/// Key of IRModule::global_infos.
inline constexpr std::string_view kVDevices = "vdevice";

class VDevices {
 public:
  /// Raises UserError for a list that does not describe devices.
  explicit VDevices(const IRModule& module);

  const std::vector<VDevice>& list() const { return list_; }
  const VDevice& operator[](size_t n) const { return list_.at(n); }
  /// True if a type or operator of the module names a device.
  bool is_used() const { return is_used_; }
  /// The number in the list of the device that `name` means.  Raises UserError, at `where`, if there is none.
  size_t find(std::string_view name, const Expr& where) const;
  /// The same for R.hint_on_device, which names devices of the machine: "cuda:1" is the one whose vdevice_id is 1.
  size_t find_device(std::string_view name, const Expr& where) const;
  /// The device of the first tensor in `type` that names one; 0 if none does.
  size_t of_type(const Type& type, const Expr& where) const;
  /// The module with this list and its names in all types and operators.
  IRModule with_names(const IRModule& module) const;

 private:
  void add_named(std::string_view name, const Expr& where);
  std::vector<VDevice> list_;
  bool is_used_ = false;
};

/// The number of devices in the module's list; 1 if it has none.
size_t num_devices(const IRModule& module);

/// `module` with the device names in types and operators replaced by `rename(name, where, is_hint)`.
using Rename = std::function<std::string(const std::string& name, const Expr& where, bool is_hint)>;
IRModule with_device_names(const IRModule& module, const Rename& rename);

/// The device that an entry of the list describes, without its name.  Raises UserError if it describes none.
VDevice vdevice_of(const ObjectRef& entry);

}  // namespace tilewright::relax
