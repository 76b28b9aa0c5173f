// Small steps that the rules for GPUs share.
#pragma once
#include "tilewright/schedule/default/gpu/rules.h"

namespace tilewright::schedule {

/// The loops of a block by the axes whose values they give, outermost first.
struct LoopsByKind {
  std::vector<LoopRef> spatial;  // of axes whose values are apart from each other, or of none
  std::vector<LoopRef> others;   // that reduce, or whose order counts
};
/// Of the loops around `block` inside of `outer`; of all, if there is none.
LoopsByKind loops_by_kind(Schedule& sch, BlockRef block, std::optional<LoopRef> outer = {});

/// The product of the constant extents of `loops`; nothing if one is open.
std::optional<int64_t> num_iterations(const Schedule& sch, const std::vector<LoopRef>& loops);

/// One loop for all of `loops`, which follow each other; there is at least one.
LoopRef fused(Schedule& sch, const std::vector<LoopRef>& loops);

/// `first` and then `then` from the outside in, if they are not so already.
void order_loops(Schedule& sch, std::vector<LoopRef> first, const std::vector<LoopRef>& then);

/// Threads of a block for `count` pieces of work (nothing: an open number) that are apart from each other: fewer where
/// multiprocessors would have no block.
int64_t threads_for(std::optional<int64_t> count, const GpuFeatures& features);

/// Binds loops, up to three, to x, y and z of the grid in this order; but the one that may have more blocks than y and z
/// take is on x, of several the last.
void bind_blocks(Schedule& sch, std::vector<LoopRef> loops, const GpuFeatures& features);

/// How many neighbours along the last dimension that a block stores a thread computes as a vector: all that it loads
/// along it begins at addresses that vectors may have, and no condition decides; 1 if there are none.
int64_t lanes_of(const BlockShape& shape, const GpuFeatures& features);

/// Copies what a reduction writes from registers, in loops of their own after it.
std::vector<BlockRef> keep_results_in_registers(Schedule& sch, BlockRef block);

}  // namespace tilewright::schedule
