// The result of build(): lowered functions, their object code and, after the first call, their addresses.
#pragma once
#include <functional>
#include <mutex>
#include <optional>

#include "tilewright/driver/kernel.h"
#include "tilewright/runtime/module.h"

namespace tilewright::driver {

/// The sources of the kernels that run on devices of one kind.
struct DeviceSources {
  const Generator* generator;
  std::vector<std::string> sources;
};

class CompiledModule final : public runtime::ModuleObject {
 public:
  /// generator  of the kernels that have none of their own
  CompiledModule(std::string name, Generator generator, std::vector<Kernel> kernels,
                 std::function<std::string()> make_blob);

  std::string kind() const override { return "jit"; }
  /// Raises Unsupported if the code is for another machine.
  runtime::Function find(std::string_view function_name) const override;
  std::vector<std::string> names() const override;
  std::span<const std::byte> blob() const override;

  /// What links and exports the code (joined_generator), and made that of kernels without a generator of their own if none
  /// has one.
  const Generator& generator() const { return joined_; }
  const Generator& generator_of(const Kernel& kernel) const { return kernel.generator(generator_); }
  /// The functions, without their objects.
  const std::vector<Kernel>& kernels() const { return kernels_; }
  /// Generator::device_source of each function, for each generator of devices.
  std::vector<DeviceSources> device_sources() const;
  /// The lowered module of each function; lowers the functions whose code came from the cache.
  std::vector<ir::IRModule> lowered() const;
  /// The functions' code, then the object with the other exports of a library (kernel_abi.h).  Compiles
  /// whatever build postponed.
  std::vector<std::string> objects() const;
  /// Links the code in memory now; raises the same errors as find.
  const runtime::Module& load() const;

 private:
  void complete_objects() const;
  const std::string& blob_bytes() const;
  std::string device_code(bool is_for_here) const;

  Generator generator_;
  std::vector<Kernel> kernels_;
  Generator joined_;
  std::function<std::string()> make_blob_;
  mutable std::mutex mutex_;                  // guards the members below
  mutable std::vector<std::string> objects_;  // of the functions
  mutable bool has_all_objects_ = false;
  mutable std::optional<std::string> blob_;
  mutable runtime::Module loaded_;
};

/// `module` as the result of build(); null if it comes from elsewhere.
const CompiledModule* as_compiled(const runtime::Module& module);

}  // namespace tilewright::driver
