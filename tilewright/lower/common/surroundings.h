// What the loops and conditions around a statement say, for passes that simplify under them.  It is forgotten
// behind them: for i in range(k) says k >= 1, and after the loop k may be 0.
#pragma once
#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/bounds_conditions.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {

/// Tells `analyzer` the range of the loop's variable, until the innermost scope ends; not what memory holds,
/// which may change while the loop runs:  for i in range(J[0]): J[0] = -1
inline void learn_range(const ForNode* loop, arith::Analyzer& analyzer) {
  if (!is_stable(loop->min)) return;
  if (is_stable(loop->extent))
    analyzer.bind(loop->loop_var, make_range(loop->min, loop->extent));
  else
    analyzer.require(loop->loop_var >= loop->min);
}

/// Tells `analyzer` what of a condition stays true while statements run.
inline void learn_condition(const PrimExpr& condition, arith::Analyzer& analyzer) {
  for (const PrimExpr& part : arith::conjuncts(condition)) {
    if (part->dtype.is_scalar() && is_stable(part)) analyzer.require(part);
  }
}

/// The loop with its parts rewritten by `self`; `analyzer` knows its range in its body.
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
