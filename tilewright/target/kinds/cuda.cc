#include "tilewright/target/attributes.h"

namespace tilewright::target {

extern constinit const TargetKind cuda_info = {"cuda", "cuda", "CUDA source for NVIDIA GPUs", kGpuAttrs,
                                               "cuda,gpu"};

}  // namespace tilewright::target
