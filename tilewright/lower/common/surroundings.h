// Conditions known from enclosing loops and branches, for passes that simplify under them.  They are
// forgotten after the statement: for i in range(k) implies k >= 1 inside, but after the loop k may be 0.
#pragma once
#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/bounds_conditions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {

/// Tells `analyzer` the range of the loop's variable, until the innermost scope ends; not bounds that are
/// read from memory, which may change while the loop runs:  for i in range(J[0]): J[0] = -1
inline void learn_range(const ForNode* loop, arith::Analyzer& analyzer) {
  if (!is_stable(loop->min)) return;
  if (is_stable(loop->extent))
    analyzer.bind(loop->loop_var, make_range(loop->min, loop->extent));
  else
    analyzer.require(loop->loop_var >= loop->min);
}

/// Tells `analyzer` the conjuncts of a condition that stay true while statements run.
inline void learn_condition(const PrimExpr& condition, arith::Analyzer& analyzer) {
  for (const PrimExpr& part : arith::conjuncts(condition)) {
    if (part->dtype.is_scalar() && is_stable(part)) analyzer.require(part);
  }
}

/// The loop with its children rewritten by `self`; `analyzer` knows its range in the body.
template <class Self>
For rewrite_loop(Self& self, const ForNode* loop, arith::Analyzer& analyzer) {
  const PrimExpr min = self(loop->min), extent = self(loop->extent);
  const auto scope = analyzer.enter();
  learn_range(loop, analyzer);
  const Stmt body = self(loop->body);
  if (min == loop->min && extent == loop->extent && body == loop->body) return For(loop);
  return with(loop, [&](ForNode& n) { n.min = min, n.extent = extent, n.body = body; });
}

}  // namespace tilewright::lower
