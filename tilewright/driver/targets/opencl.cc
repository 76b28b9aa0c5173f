// Target opencl: kernels as text of OpenCL C, which the driver of the device compiles when it first runs them.
#include "tilewright/driver/device_target.h"

namespace tilewright::driver {
namespace {

Generator make(const ir::Target& target) {
  return make_device_generator(target, {codegen::DeviceLanguage::kOpenCL, kDLOpenCL, ".cl"});
}

}  // namespace

extern constinit const TargetInfo opencl_info = {"opencl", "OpenCL C, which devices compile", make};

}  // namespace tilewright::driver
