// The passes over graphs.  The folder passes/ is the registry: each file defines `constinit const PassInfo
// <stem>_info`.
#pragma once
#include "tilewright/ir/pass.h"
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

extern const PassInfo* const k_passes[];
extern const std::size_t k_passes_count;
/// The pass called `name`; raises UserError with the nearest names.
const PassInfo& find_pass(std::string_view name);

/// Raises UserError unless the context's level is 0 to 3, the passes it names exist, and so do its config
/// keys.
void check_context(const PassContext& context);

/// `func` with parameters replaced by constants, found by name; symbolic dimensions take the constants'
/// extents. Raises UserError for a name that is no parameter, or a constant of another dtype or shape.
Function bind_params(const Function& func,
                     const std::vector<std::pair<std::string, runtime::Tensor>>& params);

/// `func` without bindings of dataflow blocks whose variables nothing uses and that have no effect.
Function remove_unused(const Function& func);
/// Whether `binding` of `block` may go when nothing uses its variable.
using Removable = bool (*)(const BindingBlock& block, const Binding& binding);
/// `expr` without bindings that nothing uses and that are removable, those in its branches too.
Expr without_unused(const Expr& expr, Removable removable);

/// `func` without dataflow blocks: their bindings stand in plain blocks, with plain variables.
Function to_non_dataflow(const Function& func);

}  // namespace tilewright::relax
