#include "tilewright/lower/common/bounds_conditions.h"

#include "tilewright/arith/expr_util.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {

bool is_stable(const PrimExpr& expr) { return !arith::reads_memory(expr); }

PrimExpr lane(const PrimExpr& vector, int64_t n) {
  if (vector->dtype.is_scalar()) return vector;
  if (const auto* ramp = vector.as<RampNode>())
    return ramp->base + ramp->stride * make_const_int(ramp->stride->dtype, n);
  if (const auto* same = vector.as<BroadcastNode>()) return same->value;
  return ShuffleNode::make(std::vector<PrimExpr>{vector}, std::vector<PrimExpr>{imm(n)});
}

PrimExpr size_in_bits(const Buffer& buffer) {
  PrimExpr elements = imm(1, kInt64);
  for (size_t axis = 0; axis < buffer->shape.size(); ++axis) {
    const PrimExpr extent = tir::cast(kInt64, buffer->shape[axis]);
    elements = buffer->strides.empty() ? elements * extent
                                       : elements + (extent - 1) * tir::cast(kInt64, buffer->strides[axis]);
  }
  if (buffer->elem_offset) elements = elements + tir::cast(kInt64, buffer->elem_offset);
  return elements * static_cast<int64_t>(buffer->dtype.bits * buffer->dtype.lanes);
}

std::vector<PrimExpr> error_conditions(const Stmt& stmt) {
  const auto* branch = stmt.as<IfThenElseNode>();
  const auto* evaluate = branch && !branch->else_case ? branch->then_case.as<EvaluateNode>() : nullptr;
  const bool is_error = evaluate && is_call_of(evaluate->value.as<CallNode>(), "tir.raise_error");
  return is_error && is_stable(branch->condition) ? arith::conjuncts(branch->condition)
                                                  : std::vector<PrimExpr>();
}

bool feeds_index(const VarNode* var, const Stmt& stmt) {
  bool found = false;
  const auto look = [&](const std::vector<PrimExpr>& parts) {
    for (const PrimExpr& part : parts) found = found || uses(part, var);
  };
  walk(
      stmt, [&](const BufferStoreNode* node) { look(node->indices); },
      [&](const BufferLoadNode* node) { look(node->indices); },
      [&](const BufferNode* node) { look(node->shape); },
      [&](const ForNode* node) { look({node->min, node->extent}); },
      [&](const RangeNode* node) { look({node->min, node->extent}); },
      [&](const BlockRealizeNode* node) { look(node->iter_values); },
      [&](const LetStmtNode* node) {
        found = found || (uses(node->value, var) && feeds_index(node->var.get(), node->body));
      });
  return found;
}

}  // namespace tilewright::lower
