#include "tilewright/schedule/default/gpu/threads.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "tilewright/schedule/default/cpu/rules.h"
#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {

LoopsByKind loops_by_kind(Schedule& sch, BlockRef block, std::optional<LoopRef> outer) {
  const BlockRealizeNode* realize = sch.state().node(sch.state()[block]).realize();
  const std::vector<LoopRef> loops = loops_inside(sch, block, outer);
  LoopsByKind found;
  for (LoopRef loop : loops) {
    const VarNode* var = sch.state().node(sch.state()[loop]).loop()->loop_var.get();
    bool is_spatial = true;
    for (size_t axis = 0; axis < realize->iter_values.size(); ++axis)
      is_spatial &= realize->block->iter_vars[axis]->iter_type == IterType::kSpatial ||
                    !tir::uses(realize->iter_values[axis], var);
    (is_spatial ? found.spatial : found.others).push_back(loop);
  }
  return found;
}

std::optional<int64_t> num_iterations(const Schedule& sch, const std::vector<LoopRef>& loops) {
  int64_t count = 1;
  for (LoopRef loop : loops) {
    int64_t extent;
    if (!as_const_int(sch.state().node(sch.state()[loop]).loop()->extent, &extent)) return std::nullopt;
    count = product(count, extent);
  }
  return count;
}

LoopRef fused(Schedule& sch, const std::vector<LoopRef>& loops) {
  return loops.size() == 1 ? loops[0] : steps::fuse(sch, loops);
}

void order_loops(Schedule& sch, std::vector<LoopRef> first, const std::vector<LoopRef>& then) {
  first.insert(first.end(), then.begin(), then.end());
  const auto depth = [&](LoopRef loop) {
    int64_t count = 0;
    for (auto id = sch.state()[loop]; sch.state().node(id).is_loop(); id = sch.state().node(id).parent)
      ++count;
    return count;
  };
  const bool is_ordered = std::ranges::is_sorted(first, {}, depth);
  if (!is_ordered) steps::reorder(sch, first);
}

int64_t threads_for(std::optional<int64_t> count, const GpuFeatures& features) {
  int64_t threads = std::min(kGpuCosts.block_threads, features.max_threads_per_block);
  if (!count) return threads;
  while (threads > features.warp_size && *count <= threads / 2 * features.num_sms) threads /= 2;
  return std::clamp<int64_t>(*count, 1, threads);
}

void bind_blocks(Schedule& sch, std::vector<LoopRef> loops, const GpuFeatures& features) {
  const int64_t most = std::min(features.max_grid_y, features.max_grid_z);
  // 2: too many for y and z, 1: maybe, 0: not
  const auto excess = [&](LoopRef loop) {
    const std::optional<int64_t> count = num_iterations(sch, {loop});
    return !count ? 1 : *count > most ? 2 : 0;
  };
  size_t longest = 0;
  for (size_t n = 1; n < loops.size(); ++n) {
    if (excess(loops[n]) > 0 && excess(loops[n]) >= excess(loops[longest])) longest = n;
  }
  std::rotate(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(longest),
              loops.begin() + static_cast<std::ptrdiff_t>(longest) + 1);
  constexpr std::string_view kAxes[] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};
  for (size_t n = 0; n < loops.size(); ++n) steps::bind(sch, loops[n], kAxes[n]);
}

std::vector<BlockRef> keep_results_in_registers(Schedule& sch, BlockRef block) {
  std::vector<BlockRef> copies;
  const size_t num_buffers = sch.get(block)->writes.size();
  for (size_t n = 0; n < num_buffers; ++n)
    copies.push_back(steps::cache_write(sch, block, {static_cast<int64_t>(n)}, "local"));
  return copies;
}

}  // namespace tilewright::schedule
