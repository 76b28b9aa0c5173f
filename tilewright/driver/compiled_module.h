// The module that build() makes: lowered functions, their object code and, once called, their addresses.
#pragma once
#include <functional>
#include <mutex>
#include <optional>

#include "tilewright/driver/kernel.h"
#include "tilewright/runtime/module.h"

namespace tilewright::driver {

class CompiledModule final : public runtime::ModuleObject {
 public:
  CompiledModule(std::string name, Generator generator, std::vector<Kernel> kernels,
                 std::function<std::string()> make_blob);

  std::string kind() const override { return "jit"; }
  /// Raises Unsupported if the code is for another machine.
  runtime::Function find(std::string_view function_name) const override;
  std::vector<std::string> names() const override;
  std::span<const std::byte> blob() const override;

  /// What made the code.
  const Generator& generator() const { return generator_; }
  /// The functions, without their objects.
  const std::vector<Kernel>& kernels() const { return kernels_; }
  /// One for each function; lowers what build took from the cache.
  std::vector<ir::IRModule> lowered() const;
  /// The functions' code, then what a library exports besides (kernel_abi.h).  Compiles what build left for
  /// later.
  std::vector<std::string> objects() const;
  /// Links the code in memory now; raises what find would.
  const runtime::Module& load() const;

 private:
  void complete_objects() const;
  const std::string& blob_bytes() const;

  Generator generator_;
  std::vector<Kernel> kernels_;
  std::function<std::string()> make_blob_;
  mutable std::mutex mutex_;                  // of what follows
  mutable std::vector<std::string> objects_;  // of the functions
  mutable bool has_all_objects_ = false;
  mutable std::optional<std::string> blob_;
  mutable runtime::Module loaded_;
};

/// `module` as build() made it; null if it comes from elsewhere.
const CompiledModule* as_compiled(const runtime::Module& module);

}  // namespace tilewright::driver
