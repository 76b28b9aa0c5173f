// Memory plans: tensors alive together never overlap, and the peak is near the lower bound.
#include "tilewright/relax/memory/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace tilewright::relax {
namespace {

std::string problem_of(const MemoryPlan& plan) {
  for (size_t a = 0; a < plan.tensors.size(); ++a) {
    const Lifetime& first = plan.tensors[a];
    if (plan.offsets[a] % 64 != 0 || plan.offsets[a] + first.num_bytes > plan.peak_bytes)
      return first.name + " lies wrong";
    for (size_t b = 0; b < a; ++b) {
      const Lifetime& second = plan.tensors[b];
      const bool together = first.first <= second.last && second.first <= first.last;
      const bool overlap = plan.offsets[a] < plan.offsets[b] + second.num_bytes &&
                           plan.offsets[b] < plan.offsets[a] + first.num_bytes;
      if (together && overlap) return first.name + " overlaps " + second.name;
    }
  }
  return plan.peak_bytes < plan.lower_bound_bytes ? "below the bound" : "";
}

// A network: a chain with branches that join again a few steps later.
std::vector<Lifetime> random_network(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Lifetime> tensors;
  const auto count = static_cast<int64_t>(random() % 60 + 2);
  for (int64_t n = 0; n < count; ++n) {
    const auto stays = static_cast<int64_t>(random() % 4 == 0 ? random() % 8 : 0);
    tensors.push_back({"t" + std::to_string(n), static_cast<int64_t>(random() % 4000 + 1), n, n + 1 + stays});
  }
  return tensors;
}

TEST(MemoryPlan, TensorsAliveTogetherNeverOverlap) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_EQ(problem_of(plan_memory(random_network(seed))), "") << "seed " << seed;
  }
}

TEST(MemoryPlan, AChainReachesTheLowerBound) {
  const MemoryPlan plan =
      plan_memory({{"a", 1024, 0, 1}, {"b", 1536, 1, 2}, {"c", 1024, 2, 3}, {"d", 512, 0, 3}});
  EXPECT_EQ(problem_of(plan), "");
  EXPECT_EQ(plan.lower_bound_bytes, 3072);
  EXPECT_EQ(plan.peak_bytes, 3072);
}

TEST(MemoryPlan, NetworksComeNearTheLowerBound) {
  double total = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const MemoryPlan plan = plan_memory(random_network(seed));
    total += static_cast<double>(plan.peak_bytes) / static_cast<double>(plan.lower_bound_bytes);
  }
  EXPECT_LT(total / 100, 1.02);
}

TEST(MemoryPlan, NothingNeedsNothing) {
  EXPECT_EQ(plan_memory({}).str(), "peak 0 bytes, lower bound 0 bytes, gap 0.0 %");
}

}  // namespace
}  // namespace tilewright::relax
