// thread_elements: a block of any form gets a thread for each element, or for a vector of neighbours of sampled lanes, in
// blocks of a sampled number of threads; what it reduces is added up in a register.
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/gpu_rule.h"
#include "tilewright/tune/samples.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::LoopRef;
using schedule::None;

Schedule design_of(Schedule sch, BlockRef block, int64_t most_lanes, const GpuFeatures& features) {
  const bool is_reduction = sch.get(block)->init != nullptr;
  const std::vector<BlockRef> copies =
      is_reduction ? keep_results_in_registers(sch, block) : std::vector<BlockRef>();
  schedule::LoopsByKind loops = loops_by_kind(sch, block);
  order_loops(sch, loops.spatial, loops.others);
  if (most_lanes > 1) {
    const std::vector<LoopRef> parts =
        steps::split(sch, loops.spatial.back(), {None{}, sample_lanes(sch, most_lanes, true)});
    steps::vectorize(sch, parts[1]);
    loops.spatial.back() = parts[0];
  }
  for (BlockRef copy : copies) steps::reverse_compute_at(sch, copy, loops.spatial.back());
  const std::vector<LoopRef> parts =
      steps::split(sch, fused(sch, loops.spatial),
                   {None{}, sample_threads(sch, features.warp_size, features.max_threads_per_block)});
  steps::bind(sch, parts[0], "blockIdx.x");
  steps::bind(sch, parts[1], "threadIdx.x");
  if (is_reduction && !loops.others.empty()) steps::decompose_reduction(sch, block, loops.others[0]);
  return sch;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const GpuFeatures& features) {
  if (std::optional<Reason> why = why_on_threads(sch, block)) return *why;
  Schedule start = sch;
  const schedule::LoopsByKind loops = loops_by_kind(start, block);
  if (loops.spatial.empty())
    return Reason(Reason::kForm, "no axis has values that are computed apart from each other");
  const OrReason<schedule::BlockShape> shape = schedule::shape_of(sch, block);
  std::vector<Schedule> designs;
  std::string refused;
  const int64_t lanes = shape && loops.others.empty() ? lanes_of(*shape, features) : 1;
  for (int64_t most : lanes > 1 ? std::vector{lanes, int64_t{1}} : std::vector{int64_t{1}}) {
    try {
      designs.push_back(design_of(start, block, most, features));
    } catch (const Error& error) {
      if (error.kind() == Error::Kind::kInternal) throw;
      refused = error.text();
    }
  }
  if (designs.empty()) return Reason(Reason::kRefused, "{}", refused);
  return designs;
}

}  // namespace

extern constinit const GpuRuleInfo thread_elements_info{
    "thread_elements", "a thread for each element, or for a vector of neighbours", 30, &apply};
}  // namespace tilewright::tune
