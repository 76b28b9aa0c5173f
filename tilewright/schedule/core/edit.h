// Several changes in one part of the tree, put in place with one State::replace.
#pragma once
#include <functional>

#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

class Edit {
 public:
  explicit Edit(const State& state) : state_(state) {}

  /// `by` in the place of node `id`.
  void replace(NodeId id, Stmt by) { changes_[id] = std::move(by); }
  /// Node `id` goes, and with it the loops that it leaves empty.
  void remove(NodeId id) { changes_[id] = nullptr; }
  /// A block at `id` goes on with another Block node: its handle stays.
  void forward(const BlockNode* from, Block to) { forwarded_[from] = std::move(to); }
  /// `id`, a block, with another realization of the same or a changed block.
  void replace_block(NodeId id, BlockRealize by);
  /// `edit(BlockNode&)` is run on block `id` when it is rebuilt; `id` is the root of the commit or on the way
  /// to a change.
  void edit_block(NodeId id, std::function<void(BlockNode&)> edit) { edits_[id].push_back(std::move(edit)); }

  /// Node `root` with all changes inside of it; null if nothing is left.
  Stmt build(NodeId root);
  /// Puts build(root) in the place of `root`.
  void commit(State& state, NodeId root);

 private:
  std::vector<NodeId> changed_children(NodeId id) const;
  const State& state_;
  std::unordered_map<NodeId, Stmt> changes_;
  std::unordered_map<NodeId, std::vector<std::function<void(BlockNode&)>>> edits_;
  BlockMap forwarded_;
};

/// The statements of a body, one by one.
std::vector<Stmt> statements_of(const Stmt& body);

}  // namespace tilewright::schedule
