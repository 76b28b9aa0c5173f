// Rule columns: a few sums of many terms that lie apart, as those along the first axis of a matrix, or of a row by a
// matrix.
//   for j, k: S[j] += A[k, j]
//   ->  for block in blockIdx.x: for column in threadIdx.x: for ko, part in threadIdx.y:
//         S[block * 32 + column] += A[ko * 8 + part, block * 32 + column]
// Neighbouring threads read neighbours, and the others terms of the same sums.
#include <algorithm>
#include <bit>

#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/default/gpu/threads.h"
#include "tilewright/schedule/steps.h"

namespace tilewright::schedule {

std::optional<Reason> reduce_columns(Schedule& sch, const BlockShape& sum, const GpuFeatures& features) {
  const std::optional<size_t> column = sum.last_axis();
  if (!column) return why_no_last_axis(sum);
  const std::string& name = sum.block->name_hint;
  const int64_t terms = num_steps(sum), results = sum.num_instances() / std::max<int64_t>(terms, 1);
  const int64_t most = features.num_sms * kGpuCosts.warps_per_sm * features.warp_size;
  if (results > most)
    return Reason(Reason::kCost, "block {} has {} results, one for each of {} threads that keep memory busy",
                  name, results, most);
  const int64_t most_parts =
      std::min(kGpuCosts.block_threads, features.max_threads_per_block) / features.warp_size;
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, terms / kGpuCosts.terms_per_thread));
  const int64_t parts = std::min(most_parts, static_cast<int64_t>(std::bit_floor(wanted)));
  if (parts < 2)
    return Reason(Reason::kTooSmall, "block {} adds up {} terms, too few for two threads", name, terms);
  LoopsByKind loops = loops_by_kind(sch, sum.ref);
  const std::vector<LoopRef> last = loops_of_axis(sch, sum.ref, *column, loops.spatial);
  if (last.size() != 1 || loops.others.empty())
    return Reason(Reason::kForm, "block {} has no loop of its own for axis {}", name,
                  axis_name(sum, *column));
  std::erase_if(loops.spatial, [&](LoopRef loop) { return sch.state()[loop] == sch.state()[last[0]]; });
  loops.spatial.push_back(last[0]);
  order_loops(sch, loops.spatial, loops.others);
  const std::vector<LoopRef> results_of =
      steps::split(sch, fused(sch, loops.spatial), {None{}, features.warp_size});
  const std::vector<LoopRef> terms_of = steps::split(sch, fused(sch, loops.others), {None{}, parts});
  steps::bind(sch, results_of[0], "blockIdx.x");
  steps::bind(sch, results_of[1], "threadIdx.x");
  steps::bind(sch, terms_of[1], "threadIdx.y");
  return std::nullopt;
}

}  // namespace tilewright::schedule
