// Which calls have side effects, and where such calls may stand.
#pragma once
#include <string_view>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// True if the operator of `call`, or the graph function of `module` that it calls, has no side effect.
/// False for what is not known: function values, registered functions, loop programs called by name.
bool is_pure_call(const CallNode* call, const IRModuleNode* module);

/// Raises UserError at the first call with a side effect inside of a dataflow block, or inside of a function
/// that says it is pure, unless its attribute "relax.force_pure" is true.  Functions inside of it are asked
/// for themselves.  Statements about memory and loop programs called by name write into what the function
/// itself allocates: they are no side effects of it.
///
/// name  what messages call `func`
void require_purity(const Function& func, std::string_view name, const IRModuleNode* module);

}  // namespace tilewright::relax
