#include "tilewright/schedule/legality/same_iteration.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/schedule/core/loops.h"

namespace tilewright::schedule {

bool may_meet_in_iteration(const State& state, const Access& read, NodeId writer, NodeId around) {
  if (!state.is_inside(writer, around)) return false;
  if (!state.node(around).is_loop()) return true;
  arith::Analyzer analyzer;
  bind_loops_above(state, read.block, analyzer);
  bind_loops_above(state, writer, analyzer);
  const arith::IntervalRegion box = relaxed(state, read, around, analyzer);
  for (const Access& write : accesses_of(state, writer)) {
    if (!write.is_write || !may_alias(write.buffer, read.buffer)) continue;
    if (write.buffer != read.buffer) return true;  // two views of the same memory
    if (!arith::are_disjoint(box, relaxed(state, write, around, analyzer), analyzer)) return true;
  }
  return false;
}

}  // namespace tilewright::schedule
