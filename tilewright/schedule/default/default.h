// Fast without tuning: schedules chosen by rules from the shape of a computation and the machine.
// A rule emits ordinary primitives, so the trace can be read, replayed, changed and tuned from.
#pragma once
#include <string>

#include "tilewright/schedule/default/machine.h"
#include "tilewright/schedule/schedule.h"

namespace tilewright::schedule {

/// Empty if nobody has scheduled `func`: every block stands alone in its own nest of serial loops, one loop
/// per axis, as te.create_prim_func and graph operators make it.  Else what shows that somebody has.
std::string why_not_plain(const PrimFunc& func);

/// A function and the steps that made it; the same function and no steps if no rule applies.
struct DefaultSchedule {
  PrimFunc func;
  Trace trace;
};

/// `func` scheduled for `machine` by the rules.  A function that somebody has scheduled stays as it is.
/// name  what the trace and messages call it
DefaultSchedule schedule_by_rules(const std::string& name, const PrimFunc& func, const Machine& machine);

}  // namespace tilewright::schedule
