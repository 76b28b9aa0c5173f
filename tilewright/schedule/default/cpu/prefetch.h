// Prefetching: how far ahead, and into which cache.
#pragma once
#include "tilewright/schedule/default/cpu/shape.h"

namespace tilewright::schedule {

struct Prefetch {
  int64_t distance = 0;  // bytes; 0: nothing is fetched
  int64_t level = 1;     // the cache nearest to the core that lines go to: 1 or 2
};

/// `bytes` ahead: into L2 if that is a page or more.  Lines come from memory mostly then, and would wait for
/// it in one of L1's few places for lines under way (layer norm of 4096 x 1024 on a Zen 4: 1,640 us, into L2
/// 1,000).
Prefetch prefetch_at(int64_t bytes, const Features& features);
/// Vectors that `loop` reads are fetched ahead (tir/loop_hints.h).
void fetch_ahead(Schedule& sch, LoopRef loop, const Prefetch& prefetch);
/// The same, if L2 does not hold what `shape` reads: a processor sees no stream beyond a page, and where much
/// is computed with each vector it does not look far enough.
void fetch_far(Schedule& sch, const BlockShape& shape, LoopRef loop, const Features& features);

}  // namespace tilewright::schedule
