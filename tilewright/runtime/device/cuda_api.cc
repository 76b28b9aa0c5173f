#include "tilewright/runtime/device/cuda_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tilewright/runtime/device/cuda_emulation.h"
#include "tilewright/support/format.h"

namespace tilewright::runtime::cuda {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string library_path() {
  if (const std::string folder = cuda_emulation_folder(); !folder.empty()) return folder + "/libcuda.so.1";
  if (const auto path = variable("TILEWRIGHT_LIBCUDA"); !path.empty()) return std::string(path);
  return "libcuda.so.1";
}

Api load() {
  Api api;
  const std::string path = library_path();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    api.problem = fmt::format("{} cannot be loaded ({})", path, dlerror());
    return api;
  }
#define TILEWRIGHT_FIND(member, symbol, parameters)                             \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, #symbol)); \
  if (!api.member && api.problem.empty()) api.problem = path + " has no " #symbol;
  TILEWRIGHT_CUDA_FUNCTIONS(TILEWRIGHT_FIND)
#undef TILEWRIGHT_FIND
  api.param_info = reinterpret_cast<decltype(api.param_info)>(dlsym(library, "cuFuncGetParamInfo"));
  if (!api.problem.empty()) return api;
  Result code = api.init(0);
  if (code == kSuccess) code = api.device_count(&api.num_devices);
  if (code != kSuccess)
    api.problem = fmt::format("{} does not start: {}", path, error_text(api, code));
  else if (api.num_devices == 0)
    api.problem = path + " has no device";
  return api;
}

}  // namespace

const Api& api() {
  // never destroyed: tensors may be released while the process ends
  static const Api* const instance = new Api(load());
  return *instance;
}

std::string error_text(const Api& api, Result code) {
  const char *name = nullptr, *meaning = nullptr;
  if (api.error_name(code, &name) != kSuccess || !name) return fmt::format("error {} of CUDA", code);
  if (api.error_string(code, &meaning) != kSuccess || !meaning) return name;
  return fmt::format("{} ({})", name, meaning);
}

}  // namespace tilewright::runtime::cuda

namespace tilewright::runtime {

std::string cuda_emulation_folder() {
  const std::string_view wanted = cuda::variable("TILEWRIGHT_CUDA_EMULATION");
  if (wanted.empty() || wanted == "0") return "";
  Dl_info info{};
  std::filesystem::path folder;
  if (dladdr(reinterpret_cast<const void*>(&cuda_emulation_folder), &info) && info.dli_fname)
    folder = std::filesystem::path(info.dli_fname).parent_path();
  return folder / "cuda_emulation";
}

}  // namespace tilewright::runtime
