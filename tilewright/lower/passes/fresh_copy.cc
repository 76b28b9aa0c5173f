#include "tilewright/lower/passes/fresh_copy.h"

#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {

Stmt fresh_copy(const Stmt& body, Substitution values) {
  walk(
      body,
      [&](const ForNode* node) {
        values[node->loop_var.get()] = make_var(node->loop_var->name_hint, node->loop_var->dtype);
      },
      [&](const LetStmtNode* node) { values[node->var.get()] = with(node->var, [](VarNode&) {}); },
      [&](const AllocBufferNode* node) {
        Var data = with(node->buffer->data, [](VarNode&) {});
        values[node->buffer->data.get()] = data;
        values[node->buffer.get()] = with(node->buffer, [&](BufferNode& changed) { changed.data = data; });
      });
  return substitute(body, values);
}

int64_t num_nodes(const Stmt& stmt) {
  int64_t count = 0;
  walk(stmt, [&](const StmtNode*) { ++count; }, [&](const PrimExprNode*) { ++count; });
  return count;
}

}  // namespace tilewright::lower
