#include "tilewright/schedule/core/edit.h"

#include <algorithm>

#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

void Edit::replace_block(NodeId id, BlockRealize by) {
  const BlockRealizeNode* before = state_.node(id).realize();
  if (before->block != by->block) forward(before->block.get(), by->block);
  replace(id, by);
}

// The children of `id` in which something changes.
std::vector<NodeId> Edit::changed_children(NodeId id) const {
  std::vector<NodeId> found;
  const auto meet = [&](NodeId changed) {
    while (changed != kNoNode && state_.node(changed).parent != id) changed = state_.node(changed).parent;
    if (changed != kNoNode && std::find(found.begin(), found.end(), changed) == found.end())
      found.push_back(changed);
  };
  for (const auto& [changed, by] : changes_) meet(changed);
  for (const auto& [changed, by] : edits_) meet(changed);
  return found;
}

Stmt Edit::build(NodeId root) {
  auto known = changes_.find(root);
  if (known != changes_.end()) return known->second;
  const TreeNode& node = state_.node(root);
  Stmt body = node.is_loop() ? node.loop()->body : node.block()->body;
  for (NodeId child : changed_children(root)) {
    body = replace_scope_stmt(body, state_.node(child).stmt, build(child));
    if (!body && node.is_loop()) return nullptr;
    if (!body) body = seq({});
  }
  if (const ForNode* loop = node.loop()) {
    if (body == loop->body) return node.stmt;
    return with(loop, [&](ForNode& n) { n.body = body; });
  }
  const BlockRealizeNode* realize = node.realize();
  auto edits = edits_.find(root);
  if (body == realize->block->body && edits == edits_.end()) return node.stmt;
  Block block = with(realize->block, [&](BlockNode& n) {
    n.body = body;
    if (edits == edits_.end()) return;
    for (const auto& edit : edits->second) edit(n);
  });
  forward(realize->block.get(), block);
  return with(realize, [&](BlockRealizeNode& n) { n.block = block; });
}

void Edit::commit(State& state, NodeId root) {
  Stmt by = build(root);
  TILEWRIGHT_CHECK(by, "an edit leaves nothing of {}", state.node(root).name);
  state.replace(root, by, forwarded_);
}

std::vector<Stmt> statements_of(const Stmt& body) {
  if (const auto* list = body.as<SeqStmtNode>()) return list->seq;
  return {body};
}

}  // namespace tilewright::schedule
