#include "tilewright/tir/uses.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/walk.h"

namespace tilewright::tir {

namespace {

template <class Holds>
bool any_part(const PrimExpr& expr, Holds&& holds) {
  if (!expr) return false;
  bool found = false;
  std::unordered_set<const PrimExprNode*> seen;  // shared nodes that were visited
  walk(expr, [&](const PrimExprNode* node) {
    found = found || holds(node);
    return !found && (node->refs.load(std::memory_order_relaxed) == 1 || seen.insert(node).second);
  });
  return found;
}

}  // namespace

bool uses(const PrimExpr& expr, const VarNode* var) {
  return any_part(expr, [&](const PrimExprNode* node) { return node == var; });
}

bool uses(const Stmt& stmt, const VarNode* var) {
  bool found = false;
  walk(stmt, [&](const VarNode* node) { found = found || node == var; });
  return found;
}

bool uses_any(const PrimExpr& expr, const std::function<bool(const VarNode*)>& is_meant) {
  return any_part(expr, [&](const PrimExprNode* node) {
    return VarNode::classof(*node) && is_meant(static_cast<const VarNode*>(node));
  });
}

bool uses_any(const PrimExpr& expr, const std::vector<Var>& vars) {
  return uses_any(expr, [&](const VarNode* var) {
    return std::any_of(vars.begin(), vars.end(), [&](const Var& other) { return other.get() == var; });
  });
}

bool has_region_of(const std::vector<BufferRegion>& regions, const BufferNode* buffer) {
  return std::any_of(regions.begin(), regions.end(),
                     [&](const BufferRegion& region) { return region->buffer.get() == buffer; });
}

}  // namespace tilewright::tir
