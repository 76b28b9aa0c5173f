// The rules for GPUs: each makes one kernel of a block, or of several.
#pragma once
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/default/try_rule.h"
#include "tilewright/target/gpu_costs.h"
#include "tilewright/target/gpu_features.h"

namespace tilewright::schedule {
using target::GpuFeatures;
using target::kGpuCosts;

enum class Sharing {
  kAllLoops,   // over spatial axes
  kSomeLoops,  // those whose iterations are proved to be apart from each other, as one loop
  kRunsApart,  // the same, in runs with at most one open extent
  kLoopsApart  // the same, each for itself
};
/// One thread for each element, or for a vector of neighbours, that a block of any form computes; what it reduces
/// is added up in a register.
std::optional<Reason> share_elements(Schedule& sch, BlockRef block, const GpuFeatures& features,
                                     Sharing sharing);

/// Programs in which every block works on rows (leading axes) and some reduce what is contiguous: threads reduce a row
/// together, and all blocks of a row are one kernel.
///
/// shapes  blocks that follow each other, in order
std::optional<Reason> reduce_rows_by_threads(Schedule& sch, const std::vector<BlockShape>& shapes,
                                             const GpuFeatures& features);
/// A few sums of many terms that lie apart in memory: threads along one axis have neighbouring results, along another
/// parts of the terms.
std::optional<Reason> reduce_columns(Schedule& sch, const BlockShape& sum, const GpuFeatures& features);
/// A block that reads along one axis and writes along another: through a square of shared memory.
std::optional<Reason> transpose_in_shared_memory(Schedule& sch, const BlockShape& shape,
                                                 const GpuFeatures& features);
/// A block that chooses one of many terms together with its place, as argmax does: each thread chooses of some.
std::optional<Reason> choose_by_threads(Schedule& sch, BlockRef ref, const GpuFeatures& features);

/// Products of matrices, and convolutions, in tiles that lie in shared memory and registers.
///
/// epilogue  an element by element block that is the only reader of the sum and takes part, or nothing
std::optional<Reason> tile_product(Schedule& sch, const BlockShape& sum,
                                   const std::optional<BlockShape>& epilogue, const GpuFeatures& features);

/// The same by tensor cores, where the target has them for what is multiplied.
std::optional<Reason> multiply_by_tensor_cores(Schedule& sch, const BlockShape& sum,
                                               const std::optional<BlockShape>& epilogue,
                                               const GpuFeatures& features);

/// The whole nest of a block in one thread: what always works.
std::optional<Reason> run_in_one_thread(Schedule& sch, BlockRef block);

}  // namespace tilewright::schedule
