// Modules over compiled code: symbols of a shared library or of a JIT, as kernel_abi.h describes them.
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

#include "tilewright/runtime/device/device_code.h"
#include "tilewright/runtime/elf_check.h"
#include "tilewright/runtime/host.h"
#include "tilewright/runtime/module.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime {
namespace {

class SymbolModule final : public ModuleObject {
 public:
  explicit SymbolModule(SymbolSource source) : ModuleObject(source.name), source_(std::move(source)) {
    check_version();
    if (void* host = source_.lookup(TILEWRIGHT_HOST_SYMBOL))
      *static_cast<const TilewrightHost**>(host) = host_services();
    if (const void* names = source_.lookup(TILEWRIGHT_NAMES_SYMBOL))
      split_names(static_cast<const char*>(names));
    register_kernels_of_devices();
  }

  std::string kind() const override { return source_.kind; }
  std::vector<std::string> names() const override { return names_; }

  Function find(std::string_view function_name) const override {
    std::lock_guard lock(mutex_);
    if (auto known = functions_.find(function_name); known != functions_.end()) return known->second;
    const std::string name(function_name);
    void* address = source_.lookup(TILEWRIGHT_KERNEL_PREFIX + name);
    if (!address) return Function();
    const void* params = source_.lookup(TILEWRIGHT_PARAMS_PREFIX + name);
    Function function =
        Function::from_kernel(name, reinterpret_cast<TilewrightKernel>(address), nullptr, source_.owner,
                              params ? KernelParams(static_cast<const char*>(params)) : KernelParams());
    functions_.emplace(name, function);
    return function;
  }

  std::span<const std::byte> blob() const override {
    const void* data = source_.lookup(TILEWRIGHT_BLOB_SYMBOL);
    const void* size = source_.lookup(TILEWRIGHT_BLOB_SIZE_SYMBOL);
    if (!data || !size) return {};
    return {static_cast<const std::byte*>(data), *static_cast<const uint64_t*>(size)};
  }

 private:
  void check_version() const {
    const void* version = source_.lookup(TILEWRIGHT_ABI_VERSION_SYMBOL);
    if (!version) {
      throw UserError("{} was not compiled by tilewright: it has no symbol {}", name,
                      TILEWRIGHT_ABI_VERSION_SYMBOL)
          .help("make a library with `tilewright compile`");
    }
    const uint32_t found = *static_cast<const uint32_t*>(version);
    if (found != TILEWRIGHT_KERNEL_ABI_VERSION) {
      throw UserError("{} has kernel ABI version {}, this runtime has {}", name, found,
                      TILEWRIGHT_KERNEL_ABI_VERSION)
          .help("compile the model again with the tilewright you run it with");
    }
  }

  // Functions keep `source_.owner`, and with it the kernels that they launch.
  void register_kernels_of_devices() {
    const void* data = source_.lookup(TILEWRIGHT_DEVICE_CODE_SYMBOL);
    const void* size = source_.lookup(TILEWRIGHT_DEVICE_CODE_SIZE_SYMBOL);
    if (!data || !size) return;
    const std::span bytes(static_cast<const std::byte*>(data), *static_cast<const uint64_t*>(size));
    struct Owner {
      std::shared_ptr<const void> code, kernels;
    };
    source_.owner =
        std::make_shared<Owner>(std::move(source_.owner),
                                register_device_code(DeviceCode::parse(bytes, "the device code of " + name)));
  }

  void split_names(std::string_view text) {
    for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
      names_.emplace_back(text.substr(0, end));
    }
  }

  SymbolSource source_;
  std::vector<std::string> names_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Function, std::less<>> functions_;
};

// A name for `path` under which the loader has not seen another file: for a name that it has open already,
// the loader returns the old file even if it was replaced on disk.
std::string name_for_loader(const std::filesystem::path& path) {
  using Identity = std::pair<dev_t, ino_t>;
  static std::mutex mutex;
  static std::map<std::string, std::vector<Identity>> known;  // the files that each path has named
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return path.string();
  std::lock_guard lock(mutex);
  std::vector<Identity>& files = known[path.string()];
  const Identity file{info.st_dev, info.st_ino};
  auto found = std::find(files.begin(), files.end(), file);
  if (found == files.end()) found = files.insert(files.end(), file);
  std::filesystem::path name = path.parent_path();
  for (auto other = files.begin(); other != found; ++other) name /= ".";
  return (name / path.filename()).string();
}

}  // namespace

Module Module::from_symbols(SymbolSource source) {
  return Module(Ref<ModuleObject>(new SymbolModule(std::move(source))));
}

Module Module::load(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw UserError("cannot load {}: there is no such file", path).help("check the path");
  check_shared_library(path);
  // an absolute path, so that the loader does not search its library paths
  const std::string name = name_for_loader(std::filesystem::absolute(path, error));
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw UserError("cannot load {}: {}", path, dlerror());
  std::shared_ptr<const void> owner(handle, [](const void* opened) { dlclose(const_cast<void*>(opened)); });
  auto lookup = [handle](const std::string& symbol) { return dlsym(handle, symbol.c_str()); };
  return from_symbols({path, "library", lookup, std::move(owner)});
}

}  // namespace tilewright::runtime
