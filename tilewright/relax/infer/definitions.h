// What graph functions define: each variable once and before its uses, and a result of the type that they
// declare.
#pragma once
#include <string_view>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// Raises UserError at the first variable that graph functions of `module` define twice, as a parameter or by
/// a binding, in functions and branches inside of them, too, and at the first variable or dimension that is
/// used where it is not defined: before, behind the branch or function that defines it, or in another
/// function; and at the first call of a function that the module has not.
void require_definitions(const ir::IRModule& module);

/// Raises UserError if `result`, the type of what `func` returns, contradicts the type that it declares.
void require_declared_result(const Function& func, std::string_view name, const Type& result);

}  // namespace tilewright::relax
