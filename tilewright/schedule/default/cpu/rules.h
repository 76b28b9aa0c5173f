// The rules, each tried on a schedule of its own: a rule returns the reason why it does not apply, or throws.
#pragma once
#include "tilewright/schedule/default/cpu/shape.h"
#include "tilewright/schedule/default/try_rule.h"

namespace tilewright::schedule {

/// Where a sum is computed, and from what.
struct SumPlace {
  std::optional<LoopRef> within = {};  // the loop that all this stays inside of
  std::optional<BlockRef> maker = {};  // the block that computes rows of matrix tiles, for this sum alone
};
/// Sums: matrix products, convolutions, pools, sums over outer axes.  A tile of results is kept in registers,
/// contiguous in the last dimension, while all its terms are added; an operand that many tiles read is
/// packed.
///
/// sum       a reduction
/// epilogue  an element by element block that is the only reader of the sum and takes part, or nothing
std::optional<Reason> tile_sum(Schedule& sch, const BlockShape& sum,
                               const std::optional<BlockShape>& epilogue, const Features& features,
                               const SumPlace& at = {});

/// True if the formula of an element by element block differs from value to value of a small axis:
/// select(a == 0, x, select(a == 1, y, z)).
bool is_chosen_by_axis(const BlockShape& shape);
/// A sum between such blocks, as Winograd's convolutions have them: in strips that stay near the core, small
/// axes written out.
///
/// shapes           all blocks of the function, in order
/// may_have_strips  false: all at once, as where strips cannot be computed apart from each other
/// Returns          the blocks that have their schedule with this
OrReason<std::vector<BlockRef>> tile_winograd(Schedule& sch, const std::vector<BlockShape>& shapes,
                                              const BlockShape& sum, const Features& features,
                                              bool may_have_strips);

/// Pools by steps (te/topi/pool_steps.h): some rows at a time, from the rows of data to results.
///
/// shapes   all blocks of the function, in order
/// Returns  the blocks that have their schedule with this
OrReason<std::vector<BlockRef>> tile_pool(Schedule& sch, const std::vector<BlockShape>& shapes,
                                          const Features& features);

/// Attention in blocks of queries (te/topi/attention_steps.h): all that a block needs is computed with it.
///
/// shapes  all blocks of the function, in order
std::optional<Reason> tile_attention(Schedule& sch, const std::vector<BlockShape>& shapes,
                                     const Features& features);

/// Programs in which every block works on rows (leading axes) and some reduce what is contiguous: all blocks
/// of one row together, partial sums in vectors.
///
/// shapes  blocks that follow each other, in order
std::optional<Reason> reduce_rows(Schedule& sch, const std::vector<BlockShape>& shapes,
                                  const Features& features);

/// Blocks that choose one of many terms together with its place, as argmax does: lanes choose apart from each
/// other, of neighbouring terms or for neighbouring results.
///
/// temporary  the buffers that nothing else reads
std::optional<Reason> choose_best(Schedule& sch, BlockRef ref, const std::vector<Buffer>& temporary,
                                  const Features& features);

/// The loop over the last dimension that an element by element block stores, of `loops` around it, becomes
/// the innermost, and vectors if what is read allows it.
///
/// Returns  why there are no vectors; the loops have their order nevertheless
std::optional<Reason> vectorize_last_axis(Schedule& sch, const BlockShape& shape, std::vector<LoopRef>* loops,
                                          const Features& features);

/// Element by element blocks: vectors along the last dimension, outer loops parallel where there is enough to
/// do.
///
/// Returns  why there are no vectors; loops may be parallel nevertheless
std::optional<Reason> vectorize_elements(Schedule& sch, const BlockShape& shape, const Features& features);

/// Blocks that no other rule takes: outer loops over spatial axes become parallel where there is enough to
/// do.
std::optional<Reason> parallelize_block(Schedule& sch, BlockRef block, const Features& features);

/// Fuses loops from `loops[0]` on until there are enough iterations for all cores to get about the same, and
/// makes them parallel.
///
/// num_candidates  how many of the loops, outermost first, may take part
/// Returns         the loops that are left: the parallel one first
std::vector<LoopRef> parallelize(Schedule& sch, std::vector<LoopRef> loops, size_t num_candidates,
                                 const Features& features);

/// A block that copies `buffer`, which `sum` reads from then on instead.
BlockRef copy_of_operand(Schedule& sch, const BlockShape& sum, const Buffer& buffer);
/// The innermost of `loops` as one vector, the others written out.
void expand(Schedule& sch, const std::vector<LoopRef>& loops);
/// True if two handles stand for one loop.
inline bool is_same(const Schedule& sch, LoopRef a, LoopRef b) { return sch.state()[a] == sch.state()[b]; }
/// The constant extent of a loop, or 0.
int64_t extent_of(const Schedule& sch, LoopRef loop);

}  // namespace tilewright::schedule
