// Loads cubin and PTX, and launches their kernels.
#include <mutex>
#include <string>
#include <vector>

#include "tilewright/runtime/device/cuda_device.h"
#include "tilewright/runtime/device/device_code.h"
#include "tilewright/support/error.h"

namespace tilewright::runtime::cuda {
namespace {

// What every kernel may have, together with the memory that it declares.
constexpr int kSharedBytesOfAll = 48 * 1024;

struct LoadedKernel {
  std::shared_ptr<void> program;
  Function function = nullptr;
  std::mutex mutex;  // guards the next member
  int64_t allowed_shared_bytes = 0;
};

std::string trimmed(std::string text) {
  text.resize(std::min(text.find('\0'), text.size()));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// Drivers since CUDA 12.4 know what a kernel takes.
void check_params(Function function, std::span<const DataType> params) {
  if (!api().param_info) return;
  size_t count = 0, offset = 0, size = 0;
  for (; api().param_info(function, count, &offset, &size) == kSuccess; ++count) {
    if (count < params.size() && static_cast<size_t>(params[count].num_bytes()) != size)
      throw UserError("its parameter {} has {} bytes, in its description {}", count + 1, size,
                      params[count].str());
  }
  if (count != params.size())
    throw UserError("its code has {} parameters, its description {}", count, params.size());
}

// Asks the driver for more shared memory than every kernel may have.
void allow_shared_bytes(const OpenDevice& device, LoadedKernel& loaded, int64_t bytes) {
  std::lock_guard lock(loaded.mutex);
  if (bytes <= loaded.allowed_shared_bytes) return;
  check(
      device,
      api().set_function_attribute(loaded.function, kFuncMaxDynamicSharedSizeBytes, static_cast<int>(bytes)),
      "cuFuncSetAttribute");
  loaded.allowed_shared_bytes = bytes;
}

}  // namespace

std::shared_ptr<void> load(int32_t id, const DeviceImage& image) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  std::string log(8192, '\0');
  int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  cuda::Module module = nullptr;
  const Result code = api().load_module(&module, image.bytes.c_str(), 2, options, values);
  if (code != kSuccess) {
    log = trimmed(std::move(log));
    throw UserError("{} does not load the {} image of {}: {}{}{}", device.device.str(), image.format,
                    image.arch, error_text(api(), code), log.empty() ? "" : "\n", log);
  }
  return {module, [&device](void* loaded) {
            try {
              const InContext in_context(device);
              api().unload_module(static_cast<cuda::Module>(loaded));
            } catch (const Error&) {
              // the driver has ended before us
            }
          }};
}

std::shared_ptr<void> find_kernel(int32_t id, const std::shared_ptr<void>& program, const std::string& symbol,
                                  std::span<const DataType> params) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  auto loaded = std::make_shared<LoadedKernel>();
  loaded->program = program;
  check(device,
        api().module_function(&loaded->function, static_cast<cuda::Module>(program.get()), symbol.c_str()),
        "cuModuleGetFunction");
  check_params(loaded->function, params);
  int declared_bytes = 0;
  check(device, api().function_attribute(&declared_bytes, kFuncSharedSizeBytes, loaded->function),
        "cuFuncGetAttribute");
  loaded->allowed_shared_bytes = kSharedBytesOfAll - declared_bytes;
  return loaded;
}

void launch(int32_t id, void* kernel, const KernelLaunch& launch) {
  OpenDevice& device = open_device(id);
  const InContext in_context(device);
  auto& loaded = *static_cast<LoadedKernel*>(kernel);
  allow_shared_bytes(device, loaded, launch.dynamic_shared_bytes);
  std::vector<void*> values;
  values.reserve(launch.arguments.size());
  for (const KernelArgument& argument : launch.arguments)
    values.push_back(const_cast<std::byte*>(argument.bytes.data()));
  const auto number = [](int64_t value) { return static_cast<unsigned>(value); };
  check(device,
        api().launch_kernel(loaded.function, number(launch.grid[0]), number(launch.grid[1]),
                            number(launch.grid[2]), number(launch.block[0]), number(launch.block[1]),
                            number(launch.block[2]), number(launch.dynamic_shared_bytes),
                            current_stream(device), values.data(), nullptr),
        "cuLaunchKernel");
  device.last_launch.set(launch);
}

}  // namespace tilewright::runtime::cuda
