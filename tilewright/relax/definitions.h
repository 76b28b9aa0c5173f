// What graph functions define: each variable once, and a result of the type that they declare.
#pragma once
#include <string_view>

#include "tilewright/relax/relax.h"

namespace tilewright::relax {

/// Raises UserError at the first variable that `func` defines twice, as a parameter or by a binding, in
/// functions and branches inside of it, too.
///
/// name  what messages call `func`
void require_single_definitions(const Function& func, std::string_view name);

/// The same of all graph functions of `module`: a variable belongs to one of them.
void require_single_definitions(const ir::IRModule& module);

/// Raises UserError if `result`, the type of what `func` returns, contradicts the type that it declares.
void require_declared_result(const Function& func, std::string_view name, const Type& result);

}  // namespace tilewright::relax
