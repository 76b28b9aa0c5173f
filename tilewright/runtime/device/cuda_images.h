// Which code of NVIDIA runs on which GPU.
#pragma once
#include <string_view>

#include "tilewright/runtime/device/device_code.h"

namespace tilewright::runtime {

/// How well a "cubin" or "ptx" image fits a GPU of `compute_version`, "9.0": 0 if it does not run there; else the
/// greater the better. A cubin runs on GPUs of its major version and at least its minor one, PTX on all that are at
/// least as new; code for sm_90a, with a letter, on exactly that version.
/// Source: docs.nvidia.com/cuda/cuda-compiler-driver-nvcc, "GPU Compilation".
int cuda_image_fit(const DeviceImage& image, std::string_view compute_version);

}  // namespace tilewright::runtime
