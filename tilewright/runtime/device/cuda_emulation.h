// Where the emulation of CUDA lies, a driver and a compiler for machines without a GPU of NVIDIA.
#pragma once
#include <string>

namespace tilewright::runtime {

/// The folder cuda_emulation beside this library; empty unless the environment has TILEWRIGHT_CUDA_EMULATION=1.
std::string cuda_emulation_folder();

}  // namespace tilewright::runtime
