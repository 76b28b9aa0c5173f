// Compiles CUDA C by NVIDIA's compiler, or by the stand-in of the emulation.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/device/device_code.h"

namespace tilewright::driver {

/// The oldest architecture whose asynchronous copies and tensor cores of bfloat16 our texts may use.
inline constexpr std::string_view kDefaultCudaArch = "sm_80";

/// The images of `source` for `arch` ("sm_90a"): its machine code and, if `with_ptx`, PTX for newer GPUs.  Results are
/// kept on disk (disk_cache.h).  The compiler is $TILEWRIGHT_NVCC, else `nvcc` in PATH, in $CUDA_HOME/bin or in
/// /usr/local/cuda/bin; with TILEWRIGHT_CUDA_EMULATION=1 the stand-in that makes code for this CPU.  Raises UserError
/// with the compiler's messages, or if there is none.
std::vector<runtime::DeviceImage> cuda_images(const std::string& source, const std::string& arch,
                                              bool with_ptx);

}  // namespace tilewright::driver
