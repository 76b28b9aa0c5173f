// The one of a kernel's plans that a call runs.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tilewright/driver/build.h"
#include "tilewright/runtime/value.h"

namespace tilewright::explain {

/// Values of symbolic sizes by their names.
using Sizes = std::map<std::string, int64_t>;

/// The sizes of `inputs` of "main".
Sizes sizes_of_call(const ir::IRModule& module, const std::vector<runtime::Value>& inputs);

/// Those of `schedules` (driver::kernel_schedules) that are of kernel `name`; none if it is not among them.
std::span<const driver::KernelSchedule> plans_of(const std::string& name,
                                                 const std::vector<driver::KernelSchedule>& schedules);

/// The place of the plan for `sizes` among the plans of one kernel: the last that has begun.
size_t plan_for(std::span<const driver::KernelSchedule> plans, const Sizes& sizes);

}  // namespace tilewright::explain
