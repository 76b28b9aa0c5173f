// Checks the definitions of graph functions: each variable is defined once and before its uses, and the
// result has the declared type.
#pragma once
#include <string_view>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// Raises UserError at the first variable that graph functions of `module` define twice, as a parameter or by
/// a binding, also in local functions and branches; at the first variable or dimension that is used where it
/// is not defined: before its definition, after the branch or function that defines it, or in another
/// function; and at the first call of a function that the module does not have.
void require_definitions(const ir::IRModule& module);

/// Raises UserError if `result`, the type of the result of `func`, contradicts the declared type.
void require_declared_result(const Function& func, std::string_view name, const Type& result);

}  // namespace tilewright::relax
