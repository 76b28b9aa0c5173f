// One function of a module on its way to code.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/driver/target.h"
#include "tilewright/support/hash.h"

namespace tilewright::schedule {
struct DefaultSchedule;
}

namespace tilewright::driver {

struct Kernel {
  std::string name;
  tir::PrimFunc func;            // calls no other function of the module
  bool is_left_to_rules = true;  // schedule/default runs on it, where the target has rules
  ir::IRModule lowered = {};     // nothing until it is lowered
  std::string object = {};       // its code, if the target makes it function by function
};

/// The loop programs of `module`.  Raises UserError if two have the same name for callers.
///
/// are_checked  their accesses are checked when they run (lower/steps/check_bounds.cc)
std::vector<Kernel> kernels_of(const ir::IRModule& module, bool are_left_to_rules, bool are_checked);

/// What the rules make of it; an empty trace if it is not left to them.
schedule::DefaultSchedule schedule_kernel(const Kernel& kernel, const Generator& generator);

/// The hash of all that its object is made of; nothing if the compiler or the generator has no name, or if
/// accesses are checked: the lines that messages show are not hashed.
std::optional<Hash128> cache_key(const Kernel& kernel, const Generator& generator);

}  // namespace tilewright::driver
