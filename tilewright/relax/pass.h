// The passes over graphs.  The folder passes/ is the registry: each file defines `constinit const PassInfo
// <stem>_info`.
#pragma once
#include "tilewright/ir/pass.h"
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

extern const PassInfo* const k_passes[];
extern const std::size_t k_passes_count;
/// The pass called `name`; raises UserError with the nearest names if there is none.
const PassInfo& find_pass(std::string_view name);

/// Raises UserError unless the context's level is 0 to 3 and the passes and config keys that it names exist.
void check_context(const PassContext& context);

/// `func` with parameters replaced by constants, found by name; symbolic dimensions take the constants'
/// extents.  Raises UserError for a name that is no parameter, or a constant of another dtype or shape.
Function bind_params(const Function& func,
                     const std::vector<std::pair<std::string, runtime::Tensor>>& params);

/// `func` without the bindings of dataflow blocks that have no effect and whose variables are not used.
Function remove_unused(const Function& func);
/// True if `binding` of `block` may be removed when nothing uses its variable.
using Removable = bool (*)(const BindingBlock& block, const Binding& binding);
/// `expr` without removable bindings that nothing uses, also in its branches.
Expr without_unused(const Expr& expr, Removable removable);

/// `func` without dataflow blocks: their bindings are in plain blocks, with plain variables.
Function to_non_dataflow(const Function& func);

}  // namespace tilewright::relax
