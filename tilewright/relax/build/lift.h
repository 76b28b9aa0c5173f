// Bindings that read values of the function around them, as a function of their own.
#pragma once
#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

struct Lifted {
  Function function;           // params, then one for each of `captured`
  std::vector<Expr> captured;  // values of the function around: variables, then at most one shape
};

/// The private function with the parameters `params` and the bindings `body`.  Variables and dimensions that neither
/// defines become parameters after them; dimensions that no parameter's type defines arrive as a shape.
Lifted lifted(const std::vector<Var>& params, const SeqExpr& body);

}  // namespace tilewright::relax
