// Graph functions that only their module calls: their parameters and results may change, or they may go.
#pragma once
#include <set>
#include <string>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// Names of the graph functions of `module` that have no global_symbol, are not "main", and are only called,
/// by name: never passed on or made into closures.  Without those that fuse_tir or a generator of code takes
/// (Primitive, Composite, Codegen).
std::set<std::string> private_functions(const IRModule& module);

/// The name of the function of `names` that `value` calls, or "".
std::string called_name(const Expr& value, const std::set<std::string>& names);

}  // namespace tilewright::relax
