// Graph functions that only their module calls: passes may change their parameters
// and results, or remove them.
#pragma once
#include <set>
#include <string>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// The names of the graph functions of `module` that have no global_symbol, are not "main", and are only
/// called by name: never passed as values or made into closures.  Excludes functions for fuse_tir or an
/// external code generator (Primitive, Composite, Codegen).
std::set<std::string> private_functions(const IRModule& module);

/// The name of the function of `names` that `value` calls, or "".
std::string called_name(const Expr& value, const std::set<std::string>& names);

}  // namespace tilewright::relax
