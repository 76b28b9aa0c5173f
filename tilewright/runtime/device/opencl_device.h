// What the files of OpenCL share: the devices, which are opened when they are first used, and their memory.
#pragma once
#include <memory>
#include <string_view>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/device/address_ranges.h"
#include "tilewright/runtime/device/opencl_api.h"

namespace tilewright::runtime::opencl {

struct OpenDevice {
  Device device;
  DeviceId id = nullptr;
  Context context = nullptr;
  Queue queue = nullptr;  // in order
  DeviceProperties properties;
  LastLaunch last_launch;
};

/// The number of devices.
int num_devices();
/// Device `id`, open.  Raises UserError if the driver fails.
OpenDevice& open_device(int32_t id);
/// The queue that is the current stream of this thread.
Queue current_queue(OpenDevice& device);
/// Raises UserError "{device}: {call} failed: {name of code}" unless `code` is kSuccess.
void check(const OpenDevice& device, Int code, std::string_view call);
/// The same for a call that waits: the error tells which kernel was launched last.
void check_wait(const OpenDevice& device, Int code, std::string_view call);
/// The ranges of all memory objects of this process.
AddressRanges& memory_ranges();
/// The place of `address`.  Raises UserError if it is not in memory of `device`.
AddressRanges::Place memory_of(const OpenDevice& device, const void* address);

std::shared_ptr<void> load(int32_t id, const DeviceImage& image);
std::shared_ptr<void> find_kernel(int32_t id, const std::shared_ptr<void>& program, const std::string& symbol,
                                  std::span<const DataType> params);
void launch(int32_t id, void* kernel, const KernelLaunch& launch);

}  // namespace tilewright::runtime::opencl
