// Branches stand outside of dataflow blocks.
#pragma once
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// `func` with dataflow blocks split at each `if` in them, in branches and local functions, too:
///   with R.dataflow(): lv = f(x); lv1 = if c: ...; lv2 = g(lv, lv1); R.output(lv2)
///   ->  with R.dataflow(): gv = f(x)
///       gv1 = if c: ...
///       with R.dataflow(): lv2 = g(gv, gv1)
/// Variables of dataflow blocks that are used outside of their block become plain ones.
Function with_branches_outside(const Function& func);

}  // namespace tilewright::relax
