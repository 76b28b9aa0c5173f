// Tiles of operands that are copied while others are multiplied.
#pragma once
#include "tilewright/schedule/default/gpu/rules.h"

namespace tilewright::schedule {

/// What a block of a product of matrices takes.
struct TileCosts {
  int64_t threads, registers_per_thread;
  int64_t shared_bytes;  // the tiles of one step of the sum
  int64_t num_steps;     // 0: an open number
};
/// How many steps have their tiles in shared memory at a time: as many, up to four, as cost a multiprocessor none of its
/// blocks, if the GPU copies while it computes; else 1.
int64_t pipeline_stages(const TileCosts& costs, const GpuFeatures& features);

/// Annotates `loop`, whose body is `num_copies` statements that copy tiles and then `num_others` that use them: tiles of
/// `stages` steps are in shared memory at a time.  Does nothing for one stage.
///
/// is_async  copies need no registers and nobody waits for them, where the target has such copies
void pipeline_terms(Schedule& sch, LoopRef loop, int64_t num_copies, int64_t num_others, int64_t stages,
                    bool is_async);

}  // namespace tilewright::schedule
