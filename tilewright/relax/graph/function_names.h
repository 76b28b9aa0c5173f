// Names of functions and results that attributes define.
#pragma once
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// Attribute of a graph function: the names of its results (Array of StringImm), one for each field of the
/// tuple.
inline constexpr std::string_view kOutputNames = "output_names";

/// Attribute of a graph function: the names of its parameters and results that are strings (Array of StringImm).  Such a
/// value is a pair of tensors: bytes (uint8), and for each string the number of bytes up to its end (int64).
inline constexpr std::string_view kStringNames = "string_names";

/// The names in attribute `attr` of `func`; none if it has no such attribute.
std::vector<std::string> names_in(const Function& func, std::string_view attr);
/// The type of parameter or result `name` as messages show it: "float32[n, 784]", "string[n]".
std::string shown_type(const Function& func, const std::string& name, const Type& type);

/// The name under which the kernel `name` of `module` is exported: its global_symbol, or `name`.
std::string kernel_symbol(const IRModule& module, const std::string& name);

}  // namespace tilewright::relax
