#include "tilewright/schedule/default/gpu/pipeline_terms.h"

#include "tilewright/ir/options.h"
#include "tilewright/schedule/steps.h"

namespace tilewright::schedule {

int64_t pipeline_stages(const TileCosts& costs, const GpuFeatures& features) {
  constexpr int64_t kMostStages = 4;
  if (!features.has_async_copies) return 1;
  const auto num_blocks = [&](int64_t stages) {
    return features.blocks_per_sm(costs.threads, costs.registers_per_thread, stages * costs.shared_bytes);
  };
  int64_t stages = kMostStages;
  while (stages > 1 &&
         (stages * costs.shared_bytes > features.shared_bytes_per_block ||
          num_blocks(stages) < num_blocks(1) || (costs.num_steps > 0 && costs.num_steps < stages)))
    --stages;
  return stages;
}

void pipeline_terms(Schedule& sch, LoopRef loop, int64_t num_copies, int64_t num_others, int64_t stages,
                    bool is_async) {
  if (stages < 2) return;
  std::vector<int64_t> of_statements(static_cast<size_t>(num_copies), 0), order;
  of_statements.resize(static_cast<size_t>(num_copies + num_others), stages - 1);
  for (size_t n = 0; n < of_statements.size(); ++n) order.push_back(static_cast<int64_t>(n));
  steps::annotate(sch, loop, "software_pipeline_stage", ir::attr(of_statements));
  steps::annotate(sch, loop, "software_pipeline_order", ir::attr(order));
  if (is_async)
    steps::annotate(sch, loop, "software_pipeline_async_stages", ir::attr(std::vector<int64_t>{0}));
}

}  // namespace tilewright::schedule
