// What happens to a graph on its way to the virtual machine; docs/graph-passes.md tells it to users.
//   level 0  one loop program per operator
//   level 1  also constants are folded, identities and dead code dropped; results stay the same to the bit
//   level 2  also scales and batch norms go into weights, which changes rounding, and programs are fused;
//            the default
//   level 3  as 2
#pragma once
#include "tilewright/relax/pass.h"

namespace tilewright::relax {

/// The passes that turn a graph module into call_tir form, in order.  Each runs at its own level and above.
Pipeline default_pipeline();

/// The passes that turn such a module into what vm_codegen takes, in order; at every level.
Pipeline lowering_pipeline();

}  // namespace tilewright::relax
