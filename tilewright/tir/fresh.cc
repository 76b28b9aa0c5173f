#include "tilewright/tir/fresh.h"

#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace {

using ir::Substitution;

void renew(const Var& var, Substitution* values) {
  (*values)[var.get()] = with(var, [](VarNode&) {});
}

// Maps `buffer` to a new one.  Definitions are walked before their uses: the variables of its shape are in
// *values already.
void renew(const Buffer& buffer, bool with_data, Substitution* values) {
  if (with_data) renew(buffer->data, values);
  const auto data = values->find(buffer->data.get());
  (*values)[buffer.get()] = with(buffer, [&](BufferNode& changed) {
    if (data != values->end()) changed.data = ref_as<VarNode>(data->second);
    for (PrimExpr& extent : changed.shape) extent = substitute(extent, *values);
    for (PrimExpr& stride : changed.strides) stride = substitute(stride, *values);
    if (changed.elem_offset) changed.elem_offset = substitute(changed.elem_offset, *values);
  });
}

// Maps the view to a new one, with new variables for those that its shape, strides and offset define.
void renew(const MatchBufferRegion& match, Substitution* values) {
  auto renew_var = [&](const PrimExpr& expr) {
    if (const auto* var = expr.as<VarNode>())
      if (!values->count(var)) renew(Var(var), values);
  };
  for (const PrimExpr& stride : match->buffer->strides) renew_var(stride);
  if (match->buffer->elem_offset) renew_var(match->buffer->elem_offset);
  renew(match->buffer, true, values);
}

}  // namespace

Stmt fresh_copy(const Stmt& body, Substitution values) {
  walk(
      body, [&](const ForNode* node) { renew(node->loop_var, &values); },
      [&](const LetStmtNode* node) { renew(node->var, &values); },
      [&](const LetNode* node) { renew(node->var, &values); },
      [&](const AllocBufferNode* node) { renew(node->buffer, true, &values); },
      [&](const DeclBufferNode* node) { renew(node->buffer, false, &values); },
      [&](const AttrStmtNode* node) {
        if (const auto* thread = node->node.as<IterVarNode>()) renew(thread->var, &values);
      },
      [&](const BlockNode* node) {
        for (const IterVar& axis : node->iter_vars) renew(axis->var, &values);
        for (const Buffer& buffer : node->alloc_buffers) renew(buffer, true, &values);
        for (const MatchBufferRegion& match : node->match_buffers) renew(match, &values);
      });
  return substitute(body, values);
}

}  // namespace tilewright::tir
