// Target cuda: kernels as CUDA C, which nvcc compiles when they are first called or exported.
#include <algorithm>

#include "tilewright/driver/cuda_compiler.h"
#include "tilewright/driver/device_target.h"
#include "tilewright/runtime/device/accelerator.h"
#include "tilewright/target/architectures.h"

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

// For this machine the one architecture that is best here, else all that the target names.
std::vector<runtime::DeviceImage> images(const runtime::DeviceImage& source, const ir::Target& target,
                                         bool is_for_here) {
  std::vector<std::string> wanted = target::cuda_architectures(target);
  const std::string here = is_for_here || wanted.empty() ? arch_of_here() : "";
  if (!here.empty()) {
    // code for sm_90a runs on GPUs of exactly this version, code for sm_80 on newer ones of its generation
    const auto own =
        std::ranges::find_if(wanted, [&](const std::string& arch) { return arch.starts_with(here); });
    wanted = {own == wanted.end() ? here : *own};
  }
  if (wanted.empty()) wanted = {std::string(kDefaultCudaArch)};
  if (is_for_here) wanted.resize(1);
  std::vector<runtime::DeviceImage> all;
  for (const std::string& arch : wanted) {
    for (runtime::DeviceImage& image : cuda_images(source.bytes, arch, !is_for_here))
      all.push_back(std::move(image));
  }
  return all;
}

Generator make(const ir::Target& target) {
  return make_device_generator(target, {codegen::DeviceLanguage::kCuda, kDLCUDA, ".cu", images});
}

}  // namespace

extern constinit const TargetInfo cuda_info = {"cuda", "CUDA C, and code that nvcc makes of it", make};

}  // namespace tilewright::driver
