// Graphs whose values are on several devices: what each device's kernels are compiled for.
#pragma once
#include <string>
#include <vector>

#include "tilewright/ir/module.h"
#include "tilewright/ir/pass.h"
#include "tilewright/ir/target.h"
#include "tilewright/runtime/device.h"

namespace tilewright::driver {

/// Where the values of a graph are.
struct Placement {
  std::vector<runtime::Device> devices;  // of the virtual machine
  std::vector<ir::Target> targets;       // one for each
  std::string default_device;  // where values are that nothing places; empty: the module names no devices
  size_t default_target = 0;
  const ir::Target& main() const { return targets[default_target]; }
  bool is_located() const { return !default_device.empty(); }
};

/// The devices of `module`, which has the names of its list afterwards (relax/infer/vdevices.h); a module that names none
/// has that of the first target.
///
/// targets  At least one.  A target is that of the devices of its kind whose description is only a kind,
///          I.vdevice("cuda"); devices for which there is none have their own.  Values that nothing places are on the first
///          device that the first target serves, else on the first.
Placement place_graph(ir::IRModule* module, const std::vector<ir::Target>& targets);

/// `module` with all its values on devices.  is_strict: as in the pass realize_vdevice.
ir::IRModule located(const ir::IRModule& module, const Placement& placement, bool is_strict,
                     ir::PassContext& context);

/// `module` with a loop program for each target that calls need it for, which says so (kKernelTarget).
ir::IRModule with_kernel_targets(const ir::IRModule& module, const Placement& placement);

}  // namespace tilewright::driver
