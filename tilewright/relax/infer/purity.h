// Side effects: the calls that have them, and where such calls are allowed.
#pragma once
#include <string_view>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// True if the operator of `call`, or the graph function of `module` that it calls, has no side effect.
/// False if that is unknown: function values, registered functions, loop programs called by name.
bool is_pure_call(const CallNode* call, const IRModuleNode* module);

/// Raises UserError at the first call with a side effect in a dataflow block, or in a function that is
/// declared pure, unless its attribute "relax.force_pure" is true.  Local functions are checked by their own
/// declaration.  Memory statements and loop programs called by name write into memory that the function
/// itself allocates: they are not side effects of it.
///
/// name  the name of `func` in messages
void require_purity(const Function& func, std::string_view name, const IRModuleNode* module);

}  // namespace tilewright::relax
