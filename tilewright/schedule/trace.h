// The steps of a schedule, one by one: printed as Python, saved as JSON, replayed on another module.
#pragma once
#include "tilewright/schedule/core/primitive.h"

namespace tilewright::schedule {

class Schedule;

/// One step: the primitive, its arguments in the order of its table (decisions included) and its results.
struct Instruction {
  const PrimitiveInfo* primitive;
  std::vector<ArgValue> args;
  ArgValue result;  // None, a handle or a list of handles

  /// `l4, l5 = sch.split(loop=l2, factors=[None, 4])`
  std::string str() const;
  /// `split(l2, factors=[None, 4])`, as error texts write it
  std::string call() const;
  /// `l4, l5`; empty without results
  std::string results() const;
};

struct Trace {
  std::vector<Instruction> steps;

  /// One line a step; running it as Python with `sch` repeats the schedule.
  std::string str() const;
  std::string save_json() const;
  /// The trace that save_json wrote.  Raises UserError for other text, a newer version or unknown primitives.
  static Trace load_json(std::string_view text);
  /// Without steps that only look and whose results nothing uses.
  Trace simplified() const;
  /// The steps before the first enter_postproc.
  Trace without_postproc() const;
  /// Runs every step on `target`.  Handles are those of the trace only inside of it; what fails names its
  /// step and leaves `target` as it was.
  void apply_to(Schedule& target) const;
};

}  // namespace tilewright::schedule
