#include "tilewright/runtime/device/cuda_device.h"

#include <mutex>
#include <vector>

#include "tilewright/support/error.h"

namespace tilewright::runtime::cuda {
namespace {

struct Slot {
  std::mutex mutex;  // held while it is opened
  std::unique_ptr<OpenDevice> device;
};

// Never destroyed: tensors may be released while the process ends.
std::vector<Slot>& slots() {
  static auto* const instance = new std::vector<Slot>(static_cast<size_t>(api().num_devices));
  return *instance;
}

int64_t attribute(DeviceNumber number, int which) {
  int value = 0;
  api().device_attribute(&value, static_cast<Attribute>(which), number);
  return value;
}

DeviceProperties read_properties(DeviceNumber number) {
  const auto get = [number](int which) { return attribute(number, which); };
  DeviceProperties properties;
  char name[256] = {};
  api().device_name(name, sizeof name - 1, number);
  properties.name = name;
  int version = 0;
  api().driver_version(&version);
  properties.driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  properties.compute_version =
      fmt::format("{}.{}", get(kComputeCapabilityMajor), get(kComputeCapabilityMinor));
  properties.multi_processor_count = get(kMultiprocessorCount);
  properties.max_threads_per_block = get(kMaxThreadsPerBlock);
  properties.warp_size = get(kWarpSize);
  properties.max_shared_memory_per_block = get(kMaxSharedMemoryPerBlock);
  properties.max_dynamic_shared_memory_per_block =
      std::max(get(kMaxSharedMemoryPerBlockOptin), properties.max_shared_memory_per_block);
  properties.max_registers_per_block = get(kMaxRegistersPerBlock);
  properties.max_threads_per_multi_processor = get(kMaxThreadsPerMultiprocessor);
  properties.max_shared_memory_per_multi_processor = get(kMaxSharedMemoryPerMultiprocessor);
  properties.max_registers_per_multi_processor = get(kMaxRegistersPerMultiprocessor);
  properties.max_clock_rate = get(kClockRate);
  size_t memory = 0;
  api().device_total_memory(&memory, number);
  properties.total_global_memory = static_cast<int64_t>(memory);
  properties.l2_cache_size_bytes = get(kL2CacheSize);
  for (int axis = 0; axis < 3; ++axis) {
    properties.max_thread_dimensions[static_cast<size_t>(axis)] = get(kMaxBlockDimX + axis);
    properties.max_grid_dimensions[static_cast<size_t>(axis)] = get(kMaxGridDimX + axis);
  }
  return properties;
}

void open(OpenDevice& device) {
  check(device, api().device(&device.number, device.device.id), "cuDeviceGet");
  check(device, api().retain_context(&device.context, device.number), "cuDevicePrimaryCtxRetain");
  device.properties = read_properties(device.number);
  Pool pool = nullptr;
  device.has_pool = attribute(device.number, kMemoryPoolsSupported) != 0 &&
                    api().default_pool(&pool, device.number) == kSuccess;
  if (!device.has_pool) return;
  uint64_t kept_bytes = UINT64_MAX;  // the pool gives nothing back to the system
  check(device, api().set_pool_attribute(pool, kMempoolReleaseThreshold, &kept_bytes),
        "cuMemPoolSetAttribute");
}

}  // namespace

OpenDevice& open_device(int32_t id) {
  Slot& slot = slots().at(static_cast<size_t>(id));
  std::lock_guard lock(slot.mutex);
  if (!slot.device) {
    auto device = std::make_unique<OpenDevice>();
    device->device = {kDLCUDA, id};
    open(*device);
    slot.device = std::move(device);
  }
  return *slot.device;
}

Stream current_stream(const OpenDevice& device) {
  return static_cast<Stream>(current_stream_of(device.device));
}

void check(const OpenDevice& device, Result code, std::string_view call) {
  if (code == kSuccess) return;
  throw UserError("{}: {} failed: {}", device.device.str(), call, error_text(api(), code));
}

void check_wait(const OpenDevice& device, Result code, std::string_view call) {
  try {
    check(device, code, call);
  } catch (UserError& error) {
    error.set_help(device.last_launch.help(device.device));
    throw;
  }
}

InContext::InContext(const OpenDevice& device) {
  Context current = nullptr;
  if (api().current_context(&current) == kSuccess && current == device.context) return;
  check(device, api().push_context(device.context), "cuCtxPushCurrent");
  is_pushed_ = true;
}

InContext::~InContext() {
  Context popped = nullptr;
  if (is_pushed_) api().pop_context(&popped);
}

}  // namespace tilewright::runtime::cuda
