#include "tilewright/tir/uses.h"

#include "tilewright/ir/walk.h"

namespace tilewright::tir {

bool uses(const PrimExpr& expr, const VarNode* var) {
  bool found = false;
  walk(expr, [&](const VarNode* other) { found |= other == var; });
  return found;
}

}  // namespace tilewright::tir
