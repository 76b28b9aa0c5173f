// The program under schedule: per PrimFunc the tree of its loops and blocks, and the handles that point into
// it. `replace` is the only change: it rebuilds the path to the root, keeps the numbers of what survives and
// marks the rest as removed.  Loops survive by their loop variable, blocks by their Block node or by an
// explicit old -> new map.
#pragma once
#include <functional>
#include <random>
#include <span>
#include <unordered_map>

#include "tilewright/ir/module.h"
#include "tilewright/schedule/core/handles.h"
#include "tilewright/schedule/core/shared_copy.h"

namespace tilewright::schedule {

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

/// A loop or a block of the tree.  The number stays while the loop or block exists, whatever happens around
/// it.
struct TreeNode {
  Stmt stmt;                     // For or BlockRealize; null once removed
  NodeId parent = kNoNode;       // none for the root block
  std::vector<NodeId> children;  // in program order
  int32_t func = 0;
  int32_t removed_by = -1;       // the step that removed it, or -1
  std::string name;              // of the loop variable or block, kept after removal
  bool takes_addresses = false;  // it makes views or passes pointers on, its inner loops and blocks apart
  std::vector<const tir::VarNode*> pointers;  // to the memory that it uses, its inner loops and blocks apart
  bool has_bare_code = false;                 // it computes outside of its inner loops and blocks

  bool is_loop() const { return stmt.as<ForNode>() != nullptr; }
  const ForNode* loop() const { return stmt.as<ForNode>(); }
  const BlockRealizeNode* realize() const { return stmt.as<BlockRealizeNode>(); }
  const BlockNode* block() const { return realize() ? realize()->block.get() : nullptr; }
};

/// Where a block may be computed other than in a loop: not at all by itself, or where it stands.
enum class Place { kInline, kRoot };

/// The block that each changed block has become; removed blocks are not in it.
using BlockMap = std::unordered_map<const BlockNode*, Block>;

class State {
 public:
  explicit State(IRModule module, uint64_t seed = 0);

  /// The program as it is now.
  IRModule module() const;

  // ---- the tree
  const TreeNode& node(NodeId id) const {
    TILEWRIGHT_CHECK(id >= 0 && static_cast<size_t>(id) < nodes_.size(), "there is no loop or block {}", id);
    return nodes_[static_cast<size_t>(id)];
  }
  struct Func {
    GlobalVar name;
    PrimFunc func;                           // null if the function is none of ours
    NodeId root = kNoNode;                   // its root block; none if the function has no blocks
    SharedMap<const Object*, NodeId> index;  // loop variable or Block -> number
    SharedMap<const tir::VarNode*, std::vector<NodeId>> users;  // pointer -> loops and blocks that use it
  };
  const std::vector<Func>& funcs() const { return funcs_; }
  const Func& func_of(NodeId id) const { return funcs_.at(static_cast<size_t>(node(id).func)); }
  /// The nearest block around `id`; kNoNode for a root.
  NodeId scope_of(NodeId id) const;
  /// The loops around `id` inside of its scope block, outermost first; `id` is not among them.
  std::vector<NodeId> loops_above(NodeId id) const;
  /// The blocks whose scope is `scope` and which are `below` or inside of it (default: all), in program
  /// order.
  std::vector<NodeId> child_blocks(NodeId scope) const { return blocks_below(scope); }
  /// The outermost blocks strictly inside `id` (a loop or a block), in program order.
  std::vector<NodeId> blocks_below(NodeId id) const;
  bool is_inside(NodeId inner, NodeId outer) const;
  /// True if `id` or a loop or block in it uses memory by a view or a pointer: regions may not tell.
  bool uses_addresses(NodeId id) const;
  /// The loops and blocks of the function around `near` that may use the memory of `buffer` themselves:
  /// blocks that declare a region of it, what loads from it in bounds, axes or conditions, and what accesses
  /// it, or passes it on, outside of inner loops and blocks.  In no particular order.
  std::span<const NodeId> users_of(const Buffer& buffer, NodeId near) const;
  /// The number of the loop over `var` / of `block` in the function of `near`.
  NodeId find(const Object* var_or_block, NodeId near) const;

  /// Puts `by` in the place of `target`.  `forwarded` maps changed blocks to what they have become.
  void replace(NodeId target, const Stmt& by, const BlockMap& forwarded = {});
  /// Changes the function around `root` as a whole (its parameters' buffers); `body` takes the place of the
  /// root block.
  void replace_func(NodeId root, PrimFunc func, const BlockMap& forwarded);

  // ---- handles
  LoopRef new_loop_ref(NodeId id);
  BlockRef new_block_ref(NodeId id);
  ExprRef new_expr_ref(int64_t value);
  /// A handle that compute_at takes for a place that is no loop.
  LoopRef new_place_ref(Place place);
  std::optional<Place> special_place(LoopRef ref) const;
  /// The node behind a handle; a removed one is an InternalError, as Schedule::run has refused it before.
  NodeId operator[](LoopRef ref) const { return resolve(ref.id, Handle::kLoop); }
  NodeId operator[](BlockRef ref) const { return resolve(ref.id, Handle::kBlock); }
  NodeId operator[](PlaceRef ref) const;
  int64_t operator[](ExprRef ref) const;
  /// The integer behind a factor, or nothing for None.
  std::optional<int64_t> operator[](const Factor& factor) const;
  /// The node of a handle, alive or not; kNoNode if the handle has never been given out or is of another
  /// kind.
  NodeId node_of_handle(LoopRef ref) const { return lookup(ref.id, Handle::kLoop); }
  NodeId node_of_handle(BlockRef ref) const { return lookup(ref.id, Handle::kBlock); }
  bool is_known(ExprRef ref) const;
  size_t num_handles() const { return handles_.size(); }
  /// Forgets the handles given out since there were `count`, after a step that failed.
  void drop_handles(size_t count) { handles_.resize(count); }
  /// The handle numbered `id`, of any kind, stands for nothing from now on.
  void forget_handle(int32_t id) { handles_.at(static_cast<size_t>(id)).kind = Handle::kForgotten; }

  /// The function that blocks are looked for in when none is named; none: all.
  std::optional<std::string> working_on;

  /// True if the regions that blocks declare are all that they access: no step has hidden any.
  bool regions_are_complete = true;

  /// False: steps are taken to be legal where a proof would be needed.  The search tries thousands of decisions
  /// so, and replays the few that it chooses with proofs.
  bool proves_steps = true;

  // ---- the step that is being run, and its random numbers
  void begin_step(int32_t step) { step_ = step; }
  std::mt19937_64& random() { return random_; }

  /// Compares the tree with one built anew; raises InternalError at a difference.
  void verify_tree() const;

 private:
  struct Handle {
    enum Kind : uint8_t { kLoop, kBlock, kExpr, kForgotten } kind;
    int64_t value;  // node number, or the integer of an expression
  };
  NodeId lookup(int32_t id, Handle::Kind kind) const;
  NodeId resolve(int32_t id, Handle::Kind kind) const;
  void collect_blocks(NodeId id, std::vector<NodeId>* blocks) const;
  NodeId add_node(int32_t func, NodeId parent, const Stmt& stmt);
  TreeNode& edit_node(NodeId id) { return nodes_.edit(static_cast<size_t>(id)); }
  SharedMap<const Object*, NodeId>& index_of(int32_t func) { return funcs_[static_cast<size_t>(func)].index; }
  void note_uses(NodeId id);
  void index_stmt(const Stmt& stmt, NodeId parent, int32_t func, std::vector<NodeId>* found);

  struct Reindex;
  void reindex(Reindex& work, const Stmt& stmt, NodeId parent, const std::vector<NodeId>& former,
               std::vector<NodeId>* found);
  void remove(Reindex& work, NodeId id);
  void rebuild_path(NodeId target, Stmt before, Stmt after);

  std::vector<Func> funcs_;
  IRModule base_;  // names, attributes and functions that are none of ours
  SharedVector<TreeNode> nodes_;
  std::vector<Handle> handles_;
  int32_t step_ = 0;
  std::mt19937_64 random_;
};

/// Calls `visit` with each For and BlockRealize directly inside `stmt`, in program order, not going into
/// them.
void for_each_scope_stmt(const Stmt& stmt, const std::function<void(const Stmt&)>& visit);
/// `stmt` with `before`, a For or BlockRealize directly inside of it, replaced by `after`; null `after`
/// removes it, and the result is null when nothing is left.
Stmt replace_scope_stmt(const Stmt& stmt, const Stmt& before, const Stmt& after);

}  // namespace tilewright::schedule
