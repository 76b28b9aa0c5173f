#include "tilewright/schedule/default/cpu/prefetch.h"

#include "tilewright/schedule/steps.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/loop_hints.h"

namespace tilewright::schedule {

Prefetch prefetch_at(int64_t bytes, const Features& features) {
  return {bytes, bytes >= features.page_bytes ? 2 : 1};
}

void fetch_ahead(Schedule& sch, LoopRef loop, const Prefetch& prefetch) {
  if (prefetch.distance == 0) return;
  steps::annotate(sch, loop, tir::kPrefetchAhead, imm(prefetch.distance));
  if (prefetch.level > 1) steps::annotate(sch, loop, tir::kPrefetchLevel, imm(prefetch.level));
}

void fetch_far(Schedule& sch, const BlockShape& shape, LoopRef loop, const Features& features) {
  if (reads_beyond(shape, features.l2_bytes))
    fetch_ahead(sch, loop, prefetch_at(features.page_bytes, features));
}

}  // namespace tilewright::schedule
