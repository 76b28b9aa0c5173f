// Names of functions and results that attributes define.
#pragma once
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// Attribute of a graph function: the names of its results (Array of StringImm), one for each field of the
/// tuple.
inline constexpr std::string_view kOutputNames = "output_names";

/// The name under which the kernel `name` of `module` is exported: its global_symbol, or `name`.
std::string kernel_symbol(const IRModule& module, const std::string& name);

}  // namespace tilewright::relax
