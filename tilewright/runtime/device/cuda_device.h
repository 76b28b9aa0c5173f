// What the files of CUDA share: the devices, whose primary contexts are opened when they are first used.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string_view>

#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/runtime/device/cuda_api.h"

namespace tilewright::runtime::cuda {

struct OpenDevice {
  Device device;
  DeviceNumber number = 0;
  Context context = nullptr;
  bool has_pool = false;
  std::mutex mutex;  // guards the next member
  std::set<void*> own_streams;
  // a stream of another library may not wait for the stream that the device begins with
  std::atomic<bool> has_foreign_streams{false};
  DeviceProperties properties;
  LastLaunch last_launch;
};

OpenDevice& open_device(int32_t id);
Stream current_stream(const OpenDevice& device);
/// Raises UserError "{device}: {call} failed: {error}" unless `code` is kSuccess.
void check(const OpenDevice& device, Result code, std::string_view call);
/// The same for a call that waits: the error tells which kernel was launched last.
void check_wait(const OpenDevice& device, Result code, std::string_view call);

/// Makes the context of a device current on this thread until the end of the scope.
class InContext {
 public:
  explicit InContext(const OpenDevice& device);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  bool is_pushed_ = false;
};

std::shared_ptr<void> load(int32_t id, const DeviceImage& image);
std::shared_ptr<void> find_kernel(int32_t id, const std::shared_ptr<void>& program, const std::string& symbol,
                                  std::span<const DataType> params);
void launch(int32_t id, void* kernel, const KernelLaunch& launch);

}  // namespace tilewright::runtime::cuda
