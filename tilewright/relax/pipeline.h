// The passes that a graph goes through on its way to the virtual machine; docs/graph-passes.md describes
// them.
//   level 0  one loop program per operator
//   level 1  also folds constants and drops identities and dead code; results stay the same to the bit
//   level 2  also folds scales and batch norms into weights, which changes rounding, and fuses programs;
//            the default
//   level 3  as 2
#pragma once
#include "tilewright/relax/pass.h"

namespace tilewright::relax {

/// The passes that turn a graph module into call_tir form, in order.  Each runs at its own level and above.
Pipeline default_pipeline();

/// The passes that turn such a module into the input of vm_codegen, in order; at every level.
Pipeline lowering_pipeline();

}  // namespace tilewright::relax
