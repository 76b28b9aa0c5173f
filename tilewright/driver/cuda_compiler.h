// Compiles CUDA C by NVIDIA's compiler, or by the stand-in of the emulation.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/runtime/device/device_code.h"

namespace tilewright::driver {

/// The oldest architecture whose asynchronous copies and tensor cores of bfloat16 our texts may use.
inline constexpr std::string_view kDefaultCudaArch = "sm_80";

/// NVIDIA's compiler: $TILEWRIGHT_NVCC, else `nvcc` in PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin; "" if there is
/// none.
std::string find_nvcc();
/// A program as text that tells it from others and older ones, for keys of what it made.
std::string identity_of(const std::string& program);

/// The images of `source` for `arch` ("sm_90a"): its machine code and, if `with_ptx`, PTX for newer GPUs.  Results are
/// kept on disk (disk_cache.h).  The compiler is that of find_nvcc; with TILEWRIGHT_CUDA_EMULATION=1 the stand-in that makes
/// code for this CPU.  Raises UserError with the compiler's messages, or if there is none.
std::vector<runtime::DeviceImage> cuda_images(const std::string& source, const std::string& arch,
                                              bool with_ptx);

}  // namespace tilewright::driver
