// One function of a module during compilation.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/driver/target.h"
#include "tilewright/records/record.h"
#include "tilewright/support/hash.h"

namespace tilewright::schedule {
struct PlannedFunction;
}

namespace tilewright::driver {

/// Attribute of a loop program: the ir::Target that it is compiled for, where that is not the module's.
inline constexpr std::string_view kKernelTarget = "kernel_target";

struct Kernel {
  std::string name;
  tir::PrimFunc func;                          // calls no other function of the module
  bool is_left_to_rules = true;                // schedule/default schedules it, if the target has rules
  records::Key key = {};                       // of its records of tuning
  std::optional<records::Record> record = {};  // the fastest of them, which schedules it
  ir::IRModule lowered = {};                   // empty until it is lowered
  std::string object = {};                     // its code, if the target compiles functions one by one
  std::string device_source = {};              // Generator::device_source
  bool is_by_record = false;                   // `record` has scheduled it; false if its trace did not apply
  std::string plans = {};  // a line for each (schedule/default/extent_plans.h); empty: it has one
  std::shared_ptr<const Generator> own_generator = {};  // for kKernelTarget; null: the module's
  const Generator& generator(const Generator& of_module) const {
    return own_generator ? *own_generator : of_module;
  }
};

/// The loop programs of `module`.  Raises UserError if two have the same name for callers.
///
/// are_checked  their accesses are checked when they run (lower/steps/check_bounds.cc)
/// machine      Key::machine of the target; empty: kernels need no keys
std::vector<Kernel> kernels_of(const ir::IRModule& module, bool are_left_to_rules, bool are_checked,
                               const std::string& machine);

/// The generator of a module whose kernels are compiled by `of_module` or their own: that of a device if there is one,
/// because it makes code for the host of any kernel.  Raises Unsupported if their hosts differ.
Generator joined_generator(const Generator& of_module, const std::vector<Kernel>& kernels);

/// The kernel scheduled by its record, else by the rules; one plan with an empty trace if it is not left to
/// them.  An attempt says why the record does not apply.
schedule::PlannedFunction schedule_kernel(const Kernel& kernel, const Generator& generator);

/// True if the kernel's record did not apply.
bool is_record_refused(const schedule::PlannedFunction& planned);

/// The lines of Kernel::plans.
std::string plans_text(const schedule::PlannedFunction& planned);

/// The hash of everything that its object depends on; nullopt if the compiler or the generator has no ID, or
/// if accesses are checked: source lines, which messages show then, are not hashed.
std::optional<Hash128> cache_key(const Kernel& kernel, const Generator& generator);

}  // namespace tilewright::driver
