#include "tilewright/runtime/device/opencl_device.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "tilewright/support/error.h"

namespace tilewright::runtime::opencl {
namespace {

struct Slot {
  DeviceId id = nullptr;
  std::mutex mutex;  // held while it is opened
  std::unique_ptr<OpenDevice> device;
};

template <class Number>
Number info(DeviceId id, UInt what) {
  Number number{};
  api().clGetDeviceInfo(id, what, sizeof number, &number, nullptr);
  return number;
}

std::string text_info(DeviceId id, UInt what) {
  size_t size = 0;
  if (api().clGetDeviceInfo(id, what, 0, nullptr, &size) != kSuccess || size == 0) return {};
  std::string text(size, '\0');
  api().clGetDeviceInfo(id, what, size, text.data(), nullptr);
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

// The devices of all platforms, CPUs last.
std::vector<DeviceId> list_devices() {
  std::vector<DeviceId> ids, cpus;
  UInt num_platforms = 0;
  if (!api().problem.empty() || api().clGetPlatformIDs(0, nullptr, &num_platforms) != kSuccess) return ids;
  std::vector<Platform> platforms(num_platforms);
  if (api().clGetPlatformIDs(num_platforms, platforms.data(), nullptr) != kSuccess) return ids;
  for (Platform platform : platforms) {
    UInt count = 0;
    if (api().clGetDeviceIDs(platform, kDeviceTypeAll, 0, nullptr, &count) != kSuccess) continue;
    std::vector<DeviceId> some(count);
    if (api().clGetDeviceIDs(platform, kDeviceTypeAll, count, some.data(), nullptr) != kSuccess) continue;
    for (DeviceId id : some) ((info<Bits>(id, kDeviceType) & kDeviceTypeCpu) != 0 ? cpus : ids).push_back(id);
  }
  ids.insert(ids.end(), cpus.begin(), cpus.end());
  return ids;
}

// Never destroyed: tensors may be released while the process ends.
std::vector<std::unique_ptr<Slot>>& slots() {
  static auto* const instance = [] {
    auto* made = new std::vector<std::unique_ptr<Slot>>;
    for (DeviceId id : list_devices()) made->emplace_back(new Slot)->id = id;
    return made;
  }();
  return *instance;
}

DeviceProperties read_properties(DeviceId id) {
  DeviceProperties properties;
  properties.name = text_info(id, kDeviceName);
  properties.driver = text_info(id, kDeviceVersion);
  const std::string language = text_info(id, kDeviceOpenclCVersion);  // "OpenCL C 1.2 PoCL"
  constexpr std::string_view kBefore = "OpenCL C ";
  if (language.starts_with(kBefore))
    properties.compute_version =
        language.substr(kBefore.size(), language.find(' ', kBefore.size()) - kBefore.size());
  properties.multi_processor_count = info<UInt>(id, kDeviceMaxComputeUnits);
  properties.max_threads_per_block = static_cast<int64_t>(info<size_t>(id, kDeviceMaxWorkGroupSize));
  properties.warp_size = 1;  // OpenCL 1.2 has no operations of warps
  properties.max_shared_memory_per_block = static_cast<int64_t>(info<Bits>(id, kDeviceLocalMemSize));
  properties.max_dynamic_shared_memory_per_block = properties.max_shared_memory_per_block;
  properties.max_clock_rate = int64_t{info<UInt>(id, kDeviceMaxClockFrequency)} * 1000;
  properties.total_global_memory = static_cast<int64_t>(info<Bits>(id, kDeviceGlobalMemSize));
  properties.l2_cache_size_bytes = static_cast<int64_t>(info<Bits>(id, kDeviceGlobalMemCacheSize));
  properties.memory_alignment = std::max<int64_t>(1, info<UInt>(id, kDeviceMemBaseAddrAlign) / 8);
  const auto sizes = info<std::array<size_t, 3>>(id, kDeviceMaxWorkItemSizes);
  for (size_t axis = 0; axis < 3; ++axis) {
    properties.max_thread_dimensions[axis] = static_cast<int64_t>(sizes[axis]);
    properties.max_grid_dimensions[axis] = INT32_MAX;
  }
  return properties;
}

void open(OpenDevice& device) {
  Int code = kSuccess;
  device.context = api().clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &code);
  check(device, code, "clCreateContext");
  device.queue = api().clCreateCommandQueue(device.context, device.id, kQueueProfilingEnable, &code);
  check(device, code, "clCreateCommandQueue");
  device.properties = read_properties(device.id);
}

}  // namespace

int num_devices() { return static_cast<int>(slots().size()); }

OpenDevice& open_device(int32_t id) {
  Slot& slot = *slots().at(static_cast<size_t>(id));
  std::lock_guard lock(slot.mutex);
  if (!slot.device) {
    auto device = std::make_unique<OpenDevice>();
    device->device = {kDLOpenCL, id};
    device->id = slot.id;
    open(*device);
    slot.device = std::move(device);
  }
  return *slot.device;
}

Queue current_queue(OpenDevice& device) {
  void* stream = current_stream_of(device.device);
  return stream ? static_cast<Queue>(stream) : device.queue;
}

void check(const OpenDevice& device, Int code, std::string_view call) {
  if (code == kSuccess) return;
  throw UserError("{}: {} failed: {}", device.device.str(), call, error_name(code));
}

void check_wait(const OpenDevice& device, Int code, std::string_view call) {
  try {
    check(device, code, call);
  } catch (UserError& error) {
    error.set_help(device.last_launch.help(device.device));
    throw;
  }
}

AddressRanges& memory_ranges() {
  static auto* const instance = new AddressRanges;  // never destroyed, like the devices
  return *instance;
}

AddressRanges::Place memory_of(const OpenDevice& device, const void* address) {
  const auto place = memory_ranges().find(address);
  if (!place || place->device_id != device.device.id)
    throw UserError("the address {} is not in memory of {}", address, device.device.str())
        .help("copy the tensor there: x.to(device)");
  return *place;
}

}  // namespace tilewright::runtime::opencl
