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
    {"apple-m1", 128 * kKiB, 8, 3 * kMiB, {4, 512}, 4, {3, 384}, {2, 256}, 8, kApple, 128},
    {"apple-m2", 128 * kKiB, 8, 4 * kMiB, {4, 512}, 4, {3, 384}, {2, 256}, 8, kApple, 128},
    {"cascadelake", 32 * kKiB, 8, kMiB, {2, 1024}, 4, {2, 1024}, {1, 512}, 4, kIntel},
    {"cortex-a53", 32 * kKiB, 4, 128 * kKiB, {}, 4, {}, {}, 4, kA53, 64, 16},
    {"cortex-a72", 32 * kKiB, 2, 256 * kKiB, {2, 128}, 3, {1, 128}, {1, 64}, 3, kA72, 64, 16},
    {"cortex-a76", 64 * kKiB, 4, 512 * kKiB, {2, 256}, 2, {2, 256}, {2, 128}, 4, kA76},
    {"emeraldrapids", 48 * kKiB, 12, 2 * kMiB, {2, 1024}, 4, {3, 1024}, {2, 512}, 6, kIntel},
    {"haswell", 32 * kKiB, 8, 256 * kKiB, {2, 512}, 5, {2, 512}, {1, 256}, 4, kIntel},
    {"icelake-server", 48 * kKiB, 12, 1280 * kKiB, {2, 1024}, 4, {2, 1024}, {2, 512}, 5, kIntel},
    {"neoverse-n1", 64 * kKiB, 4, kMiB, {2, 256}, 2, {2, 256}, {2, 128}, 4, kN1},
    {"neoverse-n2", 64 * kKiB, 4, kMiB, {2, 256}, 2, {3, 384}, {2, 256}, 5, kN2},
    {"neoverse-v1", 64 * kKiB, 4, kMiB, {4, 512}, 2, {3, 512}, {2, 256}, 8, kV1},
    {"neoverse-v2", 64 * kKiB, 4, 2 * kMiB, {4, 512}, 2, {3, 384}, {2, 256}, 8, kV2},
    {"sapphirerapids", 48 * kKiB, 12, 2 * kMiB, {2, 1024}, 4, {3, 1024}, {2, 512}, 6, kIntel},
    {"skylake", 32 * kKiB, 8, 256 * kKiB, {2, 512}, 4, {2, 512}, {1, 256}, 4, kIntel},
    {"skylake-avx512", 32 * kKiB, 8, kMiB, {2, 1024}, 4, {2, 1024}, {1, 512}, 4, kIntel},
    {"znver2", 32 * kKiB, 8, 512 * kKiB, {2, 512}, 5, {2, 512}, {1, 256}, 6, kZen2},
    {"znver3", 32 * kKiB, 8, 512 * kKiB, {2, 512}, 4, {3, 512}, {2, 256}, 6, kZen3},
    {"znver4", 32 * kKiB, 8, kMiB, {2, 512}, 4, {3, 512}, {2, 256}, 6, kZen4},
    {"znver5", 48 * kKiB, 12, kMiB, {2, 1024}, 4, {4, 1024}, {2, 512}, 8, kZen5},
};

}  // namespace

std::optional<Rates> Core::rates(int64_t vector_bits) const {
  if (multiply_adds.count == 0) return std::nullopt;
  return Rates{.fma_per_cycle = multiply_adds.per_cycle(vector_bits),
               .fma_latency = fma_latency,
               .loads_per_cycle = loads.per_cycle(vector_bits),
               .stores_per_cycle = stores.per_cycle(vector_bits),
               .issue_width = issue_width};
}

std::span<const Core> all_cores() { return kCores; }

const Core* find_core(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kCores), std::end(kCores), [&](const Core& core) { return core.name == name; });
  return found == std::end(kCores) ? nullptr : found;
}

}  // namespace tilewright::target
