// Names of machines, and the targets they stand for.
// GPUs: compute capability and limits of a block as in the CUDA C++ Programming Guide, section "Compute
// Capabilities" (shared memory: what a block has without asking for more).
#include <algorithm>

#include "tilewright/target/target.h"

namespace tilewright::target {
namespace {

struct Tag {
  std::string_view name, meaning;
};

#define CUDA_TARGET(arch, registers)                                \
  "cuda -arch=" arch                                                \
  " -max_threads_per_block=1024 -max_shared_memory_per_block=49152" \
  " -registers_per_block=" registers " -thread_warp_size=32"
#define METAL_TARGET \
  "metal -max_threads_per_block=1024 -max_shared_memory_per_block=32768 -thread_warp_size=32"

// sorted by name
constexpr Tag kTags[] = {
    {"apple/m1-gpu", METAL_TARGET},
    {"apple/m2-gpu", METAL_TARGET},
    {"aws/cpu/c5.2xlarge", "llvm -mcpu=skylake-avx512 -num-cores=4"},
    {"aws/cpu/c5.4xlarge", "llvm -mcpu=skylake-avx512 -num-cores=8"},
    {"aws/cpu/c5.9xlarge", "llvm -mcpu=skylake-avx512 -num-cores=18"},
    {"aws/cpu/c5.large", "llvm -mcpu=skylake-avx512 -num-cores=1"},
    {"aws/cpu/c5.xlarge", "llvm -mcpu=skylake-avx512 -num-cores=2"},
    {"native", "llvm -mcpu=native"},
    {"nvidia/geforce-gtx-1080-ti", CUDA_TARGET("sm_61", "65536")},
    {"nvidia/geforce-rtx-2080-ti", CUDA_TARGET("sm_75", "65536")},
    {"nvidia/geforce-rtx-3060", CUDA_TARGET("sm_86", "65536")},
    {"nvidia/geforce-rtx-3070", CUDA_TARGET("sm_86", "65536")},
    {"nvidia/geforce-rtx-3080", CUDA_TARGET("sm_86", "65536")},
    {"nvidia/geforce-rtx-3090", CUDA_TARGET("sm_86", "65536")},
    {"nvidia/geforce-rtx-3090-ti", CUDA_TARGET("sm_86", "65536")},
    {"nvidia/geforce-rtx-4060", CUDA_TARGET("sm_89", "65536")},
    {"nvidia/geforce-rtx-4070", CUDA_TARGET("sm_89", "65536")},
    {"nvidia/geforce-rtx-4080", CUDA_TARGET("sm_89", "65536")},
    {"nvidia/geforce-rtx-4090", CUDA_TARGET("sm_89", "65536")},
    {"nvidia/geforce-rtx-5090", CUDA_TARGET("sm_120", "65536")},
    {"nvidia/jetson-agx-orin-32gb", CUDA_TARGET("sm_87", "65536")},
    {"nvidia/jetson-agx-orin-64gb", CUDA_TARGET("sm_87", "65536")},
    {"nvidia/jetson-agx-xavier", CUDA_TARGET("sm_72", "65536")},
    {"nvidia/jetson-nano", CUDA_TARGET("sm_53", "32768")},
    {"nvidia/jetson-orin-nano", CUDA_TARGET("sm_87", "65536")},
    {"nvidia/jetson-tx2", CUDA_TARGET("sm_62", "32768")},
    {"nvidia/nvidia-a10", CUDA_TARGET("sm_86", "65536")},
    {"nvidia/nvidia-a100", CUDA_TARGET("sm_80", "65536")},
    {"nvidia/nvidia-a10g", CUDA_TARGET("sm_86", "65536")},
    {"nvidia/nvidia-a30", CUDA_TARGET("sm_80", "65536")},
    {"nvidia/nvidia-a40", CUDA_TARGET("sm_86", "65536")},
    {"nvidia/nvidia-b200", CUDA_TARGET("sm_100", "65536")},
    {"nvidia/nvidia-h100", CUDA_TARGET("sm_90a", "65536")},
    {"nvidia/nvidia-h200", CUDA_TARGET("sm_90a", "65536")},
    {"nvidia/nvidia-l4", CUDA_TARGET("sm_89", "65536")},
    {"nvidia/nvidia-l40", CUDA_TARGET("sm_89", "65536")},
    {"nvidia/nvidia-t4", CUDA_TARGET("sm_75", "65536")},
    {"nvidia/tesla-k80", CUDA_TARGET("sm_37", "65536")},
    {"nvidia/tesla-p100", CUDA_TARGET("sm_60", "65536")},
    {"nvidia/tesla-p4", CUDA_TARGET("sm_61", "65536")},
    {"nvidia/tesla-p40", CUDA_TARGET("sm_61", "65536")},
    {"nvidia/tesla-v100", CUDA_TARGET("sm_70", "65536")},
    {"raspberry-pi/3b-aarch64", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a53 -mattr=+neon -num-cores=4"},
    {"raspberry-pi/4b-aarch64", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+neon -num-cores=4"},
    {"raspberry-pi/5-aarch64", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76 -mattr=+neon -num-cores=4"},
};

}  // namespace

std::string_view find_target_tag(std::string_view tag) {
  const auto* found =
      std::lower_bound(std::begin(kTags), std::end(kTags), tag,
                       [](const Tag& known, std::string_view name) { return known.name < name; });
  return found != std::end(kTags) && found->name == tag ? found->meaning : "";
}

std::vector<std::string_view> target_tags() {
  std::vector<std::string_view> names;
  for (const Tag& tag : kTags) names.push_back(tag.name);
  return names;
}

}  // namespace tilewright::target
