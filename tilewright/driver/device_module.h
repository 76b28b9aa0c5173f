// The kernels of a compiled module that run on a device, as a module of their own: what the host's module imports.
#pragma once
#include <string>
#include <vector>

#include "tilewright/runtime/module.h"

namespace tilewright::driver {

/// It has the text of the kernels, but no functions that can be called: the host's functions launch them.
class DeviceModule final : public runtime::ModuleObject {
 public:
  /// `kind`: of the target, "cuda"; `sources`: Generator::device_source of each function.
  DeviceModule(std::string kind, std::vector<std::string> sources);

  std::string kind() const override { return kind_; }
  runtime::Function find(std::string_view) const override { return {}; }
  std::vector<std::string> names() const override { return {}; }
  /// The text of all kernels.
  std::string source() const;

 private:
  std::string kind_;
  std::vector<std::string> sources_;
};

/// `module` as kernels of a device; null if it is something else.
const DeviceModule* as_device(const runtime::Module& module);

}  // namespace tilewright::driver
