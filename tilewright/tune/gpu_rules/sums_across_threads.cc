// sums_across_threads: a sampled number of threads adds the terms of a result together, and a block of threads has a
// sampled number of results.
//   for i, k: S[i] += A[i, k]
//   ->  for i0 in blockIdx.x: for i1 in threadIdx.y: for k0: for k1 in threadIdx.x: S[..] += A[.., k0 * 32 + k1]
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tune/gpu_rule.h"
#include "tilewright/tune/samples.h"

namespace tilewright::tune {
namespace {
namespace steps = schedule::steps;
using schedule::LoopRef;
using schedule::None;

Schedule design_of(Schedule sch, BlockRef block, const GpuFeatures& features) {
  const schedule::LoopsByKind loops = loops_by_kind(sch, block);
  order_loops(sch, loops.spatial, loops.others);
  const LoopRef terms = fused(sch, loops.others);
  LoopRef results = loops.spatial.empty() ? steps::add_unit_loop(sch, terms) : fused(sch, loops.spatial);
  if (!loops.spatial.empty()) {
    const std::vector<LoopRef> rows = steps::split(sch, results, {None{}, sample_of(sch, {1, 2, 4, 8})});
    steps::bind(sch, rows[1], "threadIdx.y");
    results = rows[0];
  }
  steps::bind(sch, results, "blockIdx.x");
  const std::vector<LoopRef> parts = steps::split(
      sch, terms, {None{}, sample_threads(sch, features.warp_size, features.max_threads_per_block)});
  steps::bind(sch, parts[1], "threadIdx.x");
  return sch;
}

OrReason<std::vector<Schedule>> apply(const Schedule& sch, BlockRef block, const GpuFeatures& features) {
  if (std::optional<Reason> why = why_on_threads(sch, block)) return *why;
  const OrReason<schedule::BlockShape> shape = schedule::shape_of(sch, block);
  if (!shape) return shape.reason();
  if (!shape->is_reduction()) return Reason(Reason::kForm, "it is no reduction");
  Schedule start = sch;
  const schedule::LoopsByKind loops = loops_by_kind(start, block);
  if (loops.others.empty()) return Reason(Reason::kForm, "no loop adds terms");
  const std::optional<int64_t> terms = num_iterations(start, loops.others);
  if (!terms) return Reason(Reason::kOpenExtent, "the number of its terms is known only at run time");
  if (*terms < features.warp_size)
    return Reason(Reason::kTooSmall, "it adds {} terms, fewer than the {} threads of a warp", *terms,
                  features.warp_size);
  try {
    return std::vector<Schedule>{sch, design_of(start, block, features)};
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::kInternal) throw;
    return Reason(Reason::kRefused, "{}", error.text());
  }
}

}  // namespace

extern constinit const GpuRuleInfo sums_across_threads_info{
    "sums_across_threads", "threads add the terms of a result together", 20, &apply};
}  // namespace tilewright::tune
