// Target cuda: kernels as CUDA C, which nvcc compiles when they are first called or exported.
#include "tilewright/driver/cuda_compiler.h"
#include "tilewright/driver/device_target.h"
#include "tilewright/runtime/device/accelerator.h"

namespace tilewright::driver {
namespace {

// The architecture of GPU 0 of this machine, "sm_90"; "" if there is none.
std::string arch_of_here() {
  const runtime::Device device{kDLCUDA, 0};
  try {
    std::string version = runtime::accelerator(device, "target cuda").properties(0).compute_version;
    std::erase(version, '.');
    return version.empty() ? "" : "sm_" + version;
  } catch (const Error&) {
    return "";
  }
}

std::vector<runtime::DeviceImage> images(const runtime::DeviceImage& source, const ir::Target& target,
                                         bool is_for_here) {
  const std::string wanted = target->attrs.get_string("arch", "");
  std::string arch = wanted;
  // code for sm_90a runs on GPUs of exactly this version, code for sm_80 on newer ones of its generation
  if (is_for_here || arch.empty()) {
    const std::string here = arch_of_here();
    if (!here.empty() && !wanted.starts_with(here)) arch = here;
  }
  if (arch.empty()) arch = kDefaultCudaArch;
  return cuda_images(source.bytes, arch, !is_for_here);
}

Generator make(const ir::Target& target) {
  return make_device_generator(target, {codegen::DeviceLanguage::kCuda, kDLCUDA, ".cu", images});
}

}  // namespace

extern constinit const TargetInfo cuda_info = {"cuda", "CUDA C, and code that nvcc makes of it", make};

}  // namespace tilewright::driver
