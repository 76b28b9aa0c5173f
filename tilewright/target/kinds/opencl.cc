#include "tilewright/target/attributes.h"

namespace tilewright::target {

extern constinit const TargetKind opencl_info = {"opencl", "opencl", "OpenCL C source", kGpuAttrs,
                                                 "opencl,gpu"};

}  // namespace tilewright::target
