// Devices whose memory the host cannot touch: the functions that such a kind has beside those of
// DeviceInterface, which copy to and from the host, run kernels and measure time.
// Work goes to the current stream of the calling thread, one after the other; functions return when it is queued,
// unless they say that they wait.  All may be called from any thread.  They raise UserError or Unsupported, with
// the name that the driver has for its error.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/device.h"
#include "tilewright/support/dtype.h"

namespace tilewright::runtime {

struct DeviceImage;

/// What a device is.  A number that its driver does not tell is 0, a text empty.
struct DeviceProperties {
  std::string name;             // "NVIDIA H100 80GB HBM3"
  std::string driver;           // "CUDA 13.0", "OpenCL 3.0 PoCL 3.1-debian"
  std::string compute_version;  // "9.0"; of OpenCL the version of its language, "1.2"
  int64_t multi_processor_count = 0;
  int64_t max_threads_per_block = 0;
  int64_t warp_size = 0;
  int64_t max_shared_memory_per_block = 0;          // bytes that every kernel may have
  int64_t max_dynamic_shared_memory_per_block = 0;  // bytes that a launch may ask for
  int64_t max_registers_per_block = 0;
  int64_t max_threads_per_multi_processor = 0;
  int64_t max_shared_memory_per_multi_processor = 0;  // bytes
  int64_t max_registers_per_multi_processor = 0;
  int64_t max_clock_rate = 0;       // kHz
  int64_t total_global_memory = 0;  // bytes
  int64_t l2_cache_size_bytes = 0;
  int64_t memory_alignment = 1;  // an argument of a kernel may begin at each multiple of so many bytes
  std::array<int64_t, 3> max_thread_dimensions{};
  std::array<int64_t, 3> max_grid_dimensions{};
};

struct KernelArgument {
  DataType dtype;
  alignas(8) std::array<std::byte, 8> bytes;  // a scalar, or an address of memory of the device

  void* pointer() const {
    void* address;
    std::memcpy(&address, bytes.data(), sizeof address);
    return address;
  }
};

struct KernelLaunch {
  std::shared_ptr<const std::string> symbol;  // the name of the kernel
  std::array<int64_t, 3> grid{}, block{};     // x, y, z; within the limits of the device, and not 0
  int64_t dynamic_shared_bytes = 0;
  std::span<const KernelArgument> arguments;
};
/// "kernel add(handle, 7) on cuda:0 with grid [4, 1, 1] and block [128, 1, 1]"
std::string launch_text(Device device, const KernelLaunch& launch);

/// The kernel that was launched last on a device, for errors that are found when somebody waits for it.
class LastLaunch {
 public:
  void set(const KernelLaunch& launch);
  /// The next step for an error that came after it: "the last kernel launched is ..."; empty if there is none.
  std::string help(Device device) const;

 private:
  mutable std::mutex mutex_;
  KernelLaunch launch_;
  std::vector<KernelArgument> arguments_;
};

/// The current stream of this thread on `device`; null is the stream that a device begins with.
void*& current_stream_of(Device device);

struct Accelerator {
  /// Why there is no device of this kind: a text and the next step.
  struct Missing {
    std::string reason, help;
  };
  Missing (*why_none)();
  const DeviceProperties& (*properties)(int32_t id);
  int64_t (*free_memory)(int32_t id);  // bytes; 0 if the driver does not tell

  /// If it `waits`, the host may change `from` as soon as it returns; else when the work is done.
  void (*copy_from_host)(int32_t id, void* to, const void* from, size_t bytes, bool waits);
  /// If it `waits`, the bytes are there when it returns; else when the work is done.
  void (*copy_to_host)(int32_t id, void* to, const void* from, size_t bytes, bool waits);
  void (*fill_zero)(int32_t id, void* to, size_t bytes);

  /// The code of `image`; compiles it where it is source text, with what the compiler says in the error.
  std::shared_ptr<void> (*load)(int32_t id, const DeviceImage& image);
  /// A kernel of a loaded image, with `params` as it is described; it keeps the image loaded.
  std::shared_ptr<void> (*find_kernel)(int32_t id, const std::shared_ptr<void>& program,
                                       const std::string& symbol, std::span<const DataType> params);
  void (*launch)(int32_t id, void* kernel, const KernelLaunch& launch);

  /// A stream of its own; null is the stream that a device begins with.
  void* (*create_stream)(int32_t id);
  /// Waits for its work.
  void (*free_stream)(int32_t id, void* stream);
  void* (*current_stream)(int32_t id);
  /// Makes `stream` the current one of this thread: one of create_stream, or one of another library.
  void (*set_stream)(int32_t id, void* stream);
  /// Waits until the work of `stream` is done, and raises what went wrong in it.
  void (*synchronize)(int32_t id, void* stream);
  /// What is queued in `waiting` from now on begins when what is in `awaited` now is done.
  void (*wait_for_stream)(int32_t id, void* waiting, void* awaited);

  /// A point in the current stream.
  std::shared_ptr<void> (*record_event)(int32_t id);
  bool (*is_done)(int32_t id, void* event);
  /// Waits for `end`; the time between.
  double (*seconds_between)(int32_t id, void* begin, void* end);
};

/// The functions of a device that device_interface has and that is not the CPU; raises like device_interface, and
/// UserError for the CPU: "{what}: ...".
const Accelerator& accelerator(Device device, std::string_view what);

}  // namespace tilewright::runtime
