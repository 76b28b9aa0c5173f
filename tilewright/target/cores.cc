#include "tilewright/target/cores.h"

#include <algorithm>
#include <iterator>

namespace tilewright::target {
namespace {

constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20;

constexpr std::string_view kIntel = "Intel 64 and IA-32 Architectures Optimization Reference Manual",
                           kZen2 = "AMD Software Optimization Guide for Family 17h Models 30h and later",
                           kZen3 = "AMD Software Optimization Guide for Family 19h",
                           kZen4 = "AMD Software Optimization Guide for the Zen 4 Microarchitecture",
                           kZen5 = "AMD Software Optimization Guide for the Zen 5 Microarchitecture",
                           kA53 = "Arm Cortex-A53 Technical Reference Manual",
                           kA72 = "Arm Cortex-A72 Software Optimization Guide",
                           kA76 = "Arm Cortex-A76 Software Optimization Guide",
                           kN1 = "Arm Neoverse N1 Software Optimization Guide",
                           kN2 = "Arm Neoverse N2 Software Optimization Guide",
                           kV1 = "Arm Neoverse V1 Software Optimization Guide",
                           kV2 = "Arm Neoverse V2 Software Optimization Guide",
                           kApple = "Apple Silicon CPU Optimization Guide";

// Where makers of chips choose the size of L2, it is that of common ones.
constexpr Core kCores[] = {
    {"apple-m1", 128 * kKiB, 8, 3 * kMiB, kApple},
    {"apple-m2", 128 * kKiB, 8, 4 * kMiB, kApple},
    {"cascadelake", 32 * kKiB, 8, kMiB, kIntel},
    {"cortex-a53", 32 * kKiB, 4, 128 * kKiB, kA53},
    {"cortex-a72", 32 * kKiB, 2, 256 * kKiB, kA72},
    {"cortex-a76", 64 * kKiB, 4, 512 * kKiB, kA76},
    {"emeraldrapids", 48 * kKiB, 12, 2 * kMiB, kIntel},
    {"haswell", 32 * kKiB, 8, 256 * kKiB, kIntel},
    {"icelake-server", 48 * kKiB, 12, 1280 * kKiB, kIntel},
    {"neoverse-n1", 64 * kKiB, 4, kMiB, kN1},
    {"neoverse-n2", 64 * kKiB, 4, kMiB, kN2},
    {"neoverse-v1", 64 * kKiB, 4, kMiB, kV1},
    {"neoverse-v2", 64 * kKiB, 4, 2 * kMiB, kV2},
    {"sapphirerapids", 48 * kKiB, 12, 2 * kMiB, kIntel},
    {"skylake", 32 * kKiB, 8, 256 * kKiB, kIntel},
    {"skylake-avx512", 32 * kKiB, 8, kMiB, kIntel},
    {"znver2", 32 * kKiB, 8, 512 * kKiB, kZen2},
    {"znver3", 32 * kKiB, 8, 512 * kKiB, kZen3},
    {"znver4", 32 * kKiB, 8, kMiB, kZen4},
    {"znver5", 48 * kKiB, 12, kMiB, kZen5},
};

}  // namespace

std::span<const Core> all_cores() { return kCores; }

const Core* find_core(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kCores), std::end(kCores), [&](const Core& core) { return core.name == name; });
  return found == std::end(kCores) ? nullptr : found;
}

}  // namespace tilewright::target
