// Code of devices that a library carries: images (cubin, PTX, source text of OpenCL) and the kernels in them.
// While it is registered, compiled code of the host launches kernel `key` by
//   call_packed("tilewright.kernel.<key>", device_type, device_id, grid x, y, z, block x, y, z,
//               bytes of dynamic shared memory, the arguments of the kernel ...)
// A kernel of OpenCL may declare its shared memory, of whatever size a launch says, or have one more, last parameter
// for it, a __local pointer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/support/dtype.h"

namespace tilewright::runtime {

/// The symbols of a library: const unsigned char[] and const uint64_t.
#define TILEWRIGHT_DEVICE_CODE_SYMBOL "__tilewright_device_code"
#define TILEWRIGHT_DEVICE_CODE_SIZE_SYMBOL "__tilewright_device_code_size"

struct DeviceImage {
  int32_t device_type = 0;  // a DLDeviceType
  std::string format;       // "cubin", "ptx", "opencl" or "metal"
  std::string arch;         // "sm_90a", "compute_80"; of OpenCL the options of the compiler, mostly empty
  std::string bytes;
};

struct DeviceKernel {
  std::string key;               // 32 hexadecimal digits
  std::string symbol;            // its name in the images
  std::vector<DataType> params;  // handle for pointers
  std::vector<uint32_t> images;  // numbers of the images that have it, the best one first
};

struct DeviceCode {
  std::vector<DeviceImage> images;
  std::vector<DeviceKernel> kernels;

  std::vector<std::byte> serialize() const;
  /// Raises UserError, which begins with `name`, for bytes that serialize() did not write.
  static DeviceCode parse(std::span<const std::byte> bytes, const std::string& name);
};

/// Makes the packed functions of `code` available until the result goes.  The same key may be registered several
/// times.  An image is loaded on a device when a kernel of it is first launched there.
std::shared_ptr<const void> register_device_code(DeviceCode code);

}  // namespace tilewright::runtime
