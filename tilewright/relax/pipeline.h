// What happens to a graph on its way to the virtual machine.
//   level 0  legalise only: one kernel per operator
//   level 1  also fold constants and drop dead code
//   level 2  also fuse (the default)
//   level 3  also transformations that change rounding
#pragma once
#include "tilewright/relax/pass.h"

namespace tilewright::relax {

/// The passes that turn a graph module into call_tir form, in order.  Each runs at its own level and above.
Pipeline default_pipeline();

}  // namespace tilewright::relax
