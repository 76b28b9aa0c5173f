#include "tilewright/target/gpu_work.h"

#include <algorithm>

#include "tilewright/target/gpu_costs.h"

namespace tilewright::target {

std::optional<double> cycles_of(const GpuWork& work, const GpuFeatures& features) {
  const int64_t resident = features.blocks_per_sm(work.threads, work.registers_per_thread, work.shared_bytes);
  if (resident == 0 || work.shared_bytes > features.shared_bytes_per_block) return std::nullopt;
  const int64_t of_busiest = (work.blocks + features.num_sms - 1) / features.num_sms;
  const int64_t warps_of_block = (work.threads + features.warp_size - 1) / features.warp_size;
  const double warps =
      static_cast<double>(warps_of_block) * static_cast<double>(std::min(resident, of_busiest));
  // few warps wait for each other's results
  const double idle = std::max(1.0, static_cast<double>(kGpuCosts.busy_warps) / warps);
  const double longest = std::max({work.instructions * idle, work.shared, work.cache});
  const double others = work.instructions + work.shared + work.cache - longest;
  return static_cast<double>(of_busiest) * (longest + std::max(others, 0.0) * kGpuCosts.not_hidden);
}

}  // namespace tilewright::target
