// What keeps the kernels of a schedule for a GPU from running fast, seen without running them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/explain/launches.h"
#include "tilewright/ir/target.h"
#include "tilewright/schedule/schedule.h"
#include "tilewright/support/error.h"

namespace tilewright::explain {

/// One finding.
struct Finding {
  std::string kind;    // "coalescing", "banks", "spills" or "occupancy"
  std::string kernel;  // "main_kernel"
  double figure =
      0;  // coalescing: sectors fetched over those needed; banks: ways; spills: bytes; occupancy: 0 to 1
  Note message;      // what was found, and the user's line
  std::string help;  // what to try

  /// The whole text, as that of an error: heading, place, line with caret, help.
  std::string text() const;
};

/// The findings of function `name` of a schedule, lowered for `target`, a GPU: the most serious of each kind first.
///
/// registers  of a thread, which occupancy counts
/// Raises UserError if the target is no GPU, a loop of the function is outside of kernels or a block does not fit.
std::vector<Finding> lint(const schedule::Schedule& sch, const std::string& name, const ir::Target& target,
                          const RegisterSource& registers = {});
/// The same of a scheduled function, with sizes for what is symbolic.
std::vector<Finding> lint(const tir::PrimFunc& func, const std::string& name, const ir::Target& target,
                          const RegisterSource& registers, const Sizes& sizes);

}  // namespace tilewright::explain
