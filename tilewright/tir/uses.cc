#include "tilewright/tir/uses.h"

#include <unordered_set>

#include "tilewright/ir/walk.h"

namespace tilewright::tir {

bool uses(const PrimExpr& expr, const VarNode* var) {
  if (!expr) return false;
  bool found = false;
  std::unordered_set<const PrimExprNode*> seen;  // shared nodes that were visited
  walk(expr, [&](const PrimExprNode* node) {
    found |= node == var;
    return !found && (node->refs.load(std::memory_order_relaxed) == 1 || seen.insert(node).second);
  });
  return found;
}

}  // namespace tilewright::tir
