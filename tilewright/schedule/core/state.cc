#include "tilewright/schedule/core/state.h"

#include <algorithm>
#include <functional>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::schedule {

namespace {
bool is_loop_or_block(const Stmt& stmt) { return is<ForNode>(stmt) || is<BlockRealizeNode>(stmt); }
}  // namespace

void for_each_scope_stmt(const Stmt& stmt, const std::function<void(const Stmt&)>& visit) {
  if (!stmt) return;
  if (is_loop_or_block(stmt)) return visit(stmt);
  for_each_inner(stmt, [&](const Stmt& inner) { for_each_scope_stmt(inner, visit); });
}

Stmt replace_scope_stmt(const Stmt& stmt, const Stmt& before, const Stmt& after) {
  if (!stmt) return stmt;
  if (stmt == before) return after;
  if (is_loop_or_block(stmt)) return stmt;
  auto inside = [&](const Stmt& body) { return replace_scope_stmt(body, before, after); };
  if (const auto* list = stmt.as<SeqStmtNode>()) {
    // most often one of the items itself: a list may have hundreds, and a step changes one
    const auto place = std::find(list->seq.begin(), list->seq.end(), before) - list->seq.begin();
    if (static_cast<size_t>(place) < list->seq.size() && after && !is<SeqStmtNode>(after))
      return with(list, [&](SeqStmtNode& n) { n.seq[static_cast<size_t>(place)] = after; });
    std::vector<Stmt> items;
    items.reserve(list->seq.size());
    bool changed = false;
    for (const Stmt& item : list->seq) {
      items.push_back(changed ? item : inside(item));
      changed |= items.back() != item;
    }
    if (!changed) return stmt;
    std::erase(items, nullptr);
    return items.empty() ? Stmt() : seq(std::move(items));
  }
  if (const auto* branch = stmt.as<IfThenElseNode>()) {
    Stmt then_case = inside(branch->then_case), else_case = inside(branch->else_case);
    if (then_case == branch->then_case && else_case == branch->else_case) return stmt;
    if (!then_case && !else_case) return nullptr;
    if (!then_case) then_case = seq({});
    return with(branch, [&](IfThenElseNode& n) { n.then_case = then_case, n.else_case = else_case; });
  }
  bool has_gone = false;
  Stmt changed = with_inner(stmt, [&](const Stmt& inner) {
    Stmt now = inside(inner);
    has_gone |= !now;
    return now;
  });
  return has_gone ? Stmt() : changed;
}

namespace {

const Object* key_of(const Stmt& stmt) {
  if (const auto* loop = stmt.as<ForNode>()) return loop->loop_var.get();
  return stmt.as<BlockRealizeNode>()->block.get();
}
const Stmt& body_of(const Stmt& stmt) {
  if (const auto* loop = stmt.as<ForNode>()) return loop->body;
  return stmt.as<BlockRealizeNode>()->block->body;
}
const std::string& name_of(const Stmt& stmt) {
  if (const auto* loop = stmt.as<ForNode>()) return loop->loop_var->name_hint;
  return stmt.as<BlockRealizeNode>()->block->name_hint;
}
Stmt with_scope_body(const Stmt& stmt, Stmt body) {
  if (const auto* loop = stmt.as<ForNode>()) return with(loop, [&](ForNode& n) { n.body = std::move(body); });
  const auto* realize = stmt.as<BlockRealizeNode>();
  return with(realize, [&](BlockRealizeNode& n) {
    n.block = with(n.block, [&](BlockNode& block) { block.body = std::move(body); });
  });
}

// The use that a loop or block makes of memory outside of the loops and blocks in it.
struct Uses {
  bool takes_addresses = false;  // makes views or passes pointers on
  std::vector<const VarNode*> pointers;

  void add(const VarNode* pointer) {
    if (std::find(pointers.begin(), pointers.end(), pointer) == pointers.end()) pointers.push_back(pointer);
  }
  void look(const ObjectRef& part) {
    if (!part || is<VarNode>(part) || is<IntImmNode>(part)) return;
    walk(
        part, [](const ForNode*) { return false; }, [](const BlockRealizeNode*) { return false; },
        [&](const DeclBufferNode* view) { takes_addresses = true, add(view->buffer->data.get()); },
        [&](const BufferLoadNode* load) { add(load->buffer->data.get()); },
        [&](const BufferStoreNode* store) { add(store->buffer->data.get()); },
        [&](const VarNode* var) {
          if (!var->dtype.is_handle()) return;
          takes_addresses = true, add(var);
        });
  }
};

Uses uses_of(const Stmt& stmt) {
  Uses uses;
  uses.look(body_of(stmt));
  if (const auto* loop = stmt.as<ForNode>()) {
    uses.look(loop->min), uses.look(loop->extent);
    return uses;
  }
  const auto* realize = stmt.as<BlockRealizeNode>();
  uses.look(realize->block->init), uses.look(realize->predicate);
  for (const PrimExpr& value : realize->iter_values) uses.look(value);
  for (const auto* regions : {&realize->block->reads, &realize->block->writes}) {
    for (const BufferRegion& region : *regions) uses.add(region->buffer->data.get());
  }
  for (const MatchBufferRegion& match : realize->block->match_buffers) {
    uses.takes_addresses = true;
    uses.add(match->source->buffer->data.get());
  }
  return uses;
}

// True if statements outside of its loops and blocks may use memory.
bool has_bare_code(const Stmt& stmt) {
  const auto* list = stmt.as<SeqStmtNode>();
  if (!list) return stmt && !is_loop_or_block(stmt);
  return !std::all_of(list->seq.begin(), list->seq.end(), is_loop_or_block);
}

// Gives every loop and block its own node, so that each can be told from the others: a program may share
// statements.
PrimFunc with_unique_scopes(const PrimFunc& func) {
  std::unordered_map<const Object*, int> count;
  bool is_unique = true;
  walk(
      func, [&](const ForNode* loop) { is_unique &= ++count[loop->loop_var.get()] == 1; },
      [&](const BlockNode* block) { is_unique &= ++count[block] == 1; });
  if (is_unique) return func;
  std::unordered_map<const Object*, int> seen;
  return rewrite(
      func,
      [&](auto& self, const ForNode* loop) -> Stmt {
        For inner = self.children(loop);
        if (++seen[loop->loop_var.get()] == 1) return inner;
        Var var = make_var(loop->loop_var->name_hint, loop->loop_var->dtype);
        return with(inner, [&](ForNode& n) {
          n.loop_var = var;
          n.body = substitute(n.body, {{loop->loop_var.get(), var}});
        });
      },
      [&](auto& self, const BlockNode* block) -> Stmt {
        Block inner = self.children(block);
        if (++seen[block] == 1) return inner;
        return with(inner, [](BlockNode&) {});
      });
}

}  // namespace

State::State(IRModule module, uint64_t seed) : base_(std::move(module)), random_(seed) {
  for (size_t n = 0; n < base_->functions.size(); ++n) {
    Func entry{base_->global_vars[n], ref_as<PrimFuncNode>(base_->functions[n]), kNoNode, {}, {}};
    if (entry.func) entry.func = with_unique_scopes(entry.func);
    funcs_.push_back(std::move(entry));
    Func& func = funcs_.back();
    if (!func.func || !is<BlockRealizeNode>(func.func->body)) continue;
    std::vector<NodeId> top;
    index_stmt(func.func->body, kNoNode, static_cast<int32_t>(n), &top);
    func.root = top[0];
  }
}

IRModule State::module() const {
  bool changed = false;
  for (size_t n = 0; n < funcs_.size(); ++n)
    changed |= funcs_[n].func && funcs_[n].func != base_->functions[n];
  if (!changed) return base_;
  return with(base_, [&](IRModuleNode& module) {
    for (size_t n = 0; n < funcs_.size(); ++n) {
      if (funcs_[n].func) module.functions[n] = funcs_[n].func;
    }
  });
}

NodeId State::add_node(int32_t func, NodeId parent, const Stmt& stmt) {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({stmt, parent, {}, func, -1, name_of(stmt), false, {}, false});
  index_of(func).set(key_of(stmt), id);
  note_uses(id);
  return id;
}

// Updates the recorded uses of a loop or block from its statement.
void State::note_uses(NodeId id) {
  const Stmt stmt = node(id).stmt;
  Uses uses = stmt ? uses_of(stmt) : Uses();
  if (uses.pointers != node(id).pointers) {
    auto& users = funcs_[static_cast<size_t>(node(id).func)].users;
    for (const VarNode* gone : node(id).pointers) {
      std::vector<NodeId>& of = users.edit(gone);
      std::erase(of, id);
      if (of.empty()) users.erase(gone);
    }
    for (const VarNode* pointer : uses.pointers) users.edit(pointer).push_back(id);
    edit_node(id).pointers = std::move(uses.pointers);
  }
  const bool has_bare = stmt && has_bare_code(body_of(stmt));
  if (uses.takes_addresses == node(id).takes_addresses && has_bare == node(id).has_bare_code) return;
  edit_node(id).takes_addresses = uses.takes_addresses;
  edit_node(id).has_bare_code = has_bare;
}

std::span<const NodeId> State::users_of(const Buffer& buffer, NodeId near) const {
  const std::vector<NodeId>* users = func_of(near).users.find(buffer->data.get());
  return users ? std::span<const NodeId>(*users) : std::span<const NodeId>();
}

void State::index_stmt(const Stmt& stmt, NodeId parent, int32_t func, std::vector<NodeId>* found) {
  for_each_scope_stmt(stmt, [&](const Stmt& inner) {
    const NodeId id = add_node(func, parent, inner);
    found->push_back(id);
    std::vector<NodeId> children;
    index_stmt(body_of(inner), id, func, &children);
    edit_node(id).children = std::move(children);
  });
}

NodeId State::scope_of(NodeId id) const {
  for (id = node(id).parent; id != kNoNode; id = node(id).parent) {
    if (!node(id).is_loop()) return id;
  }
  return kNoNode;
}

std::vector<NodeId> State::loops_above(NodeId id) const {
  std::vector<NodeId> loops;
  for (id = node(id).parent; id != kNoNode && node(id).is_loop(); id = node(id).parent) loops.push_back(id);
  return {loops.rbegin(), loops.rend()};
}

std::vector<NodeId> State::blocks_below(NodeId id) const {
  std::vector<NodeId> blocks;
  collect_blocks(id, &blocks);
  return blocks;
}

void State::collect_blocks(NodeId id, std::vector<NodeId>* blocks) const {
  for (NodeId child : node(id).children) {
    if (node(child).is_loop())
      collect_blocks(child, blocks);
    else
      blocks->push_back(child);
  }
}

bool State::is_inside(NodeId inner, NodeId outer) const {
  for (; inner != kNoNode; inner = node(inner).parent) {
    if (inner == outer) return true;
  }
  return false;
}

bool State::uses_addresses(NodeId id) const {
  const TreeNode& self = node(id);
  return self.takes_addresses || std::any_of(self.children.begin(), self.children.end(),
                                             [&](NodeId child) { return uses_addresses(child); });
}

NodeId State::find(const Object* var_or_block, NodeId near) const {
  const NodeId* known = func_of(near).index.find(var_or_block);
  TILEWRIGHT_CHECK(known, "the schedule's tree does not know a loop or block");
  return *known;
}

// ---------------------------------------------------------------- replace

struct State::Reindex {
  int32_t func;
  std::unordered_map<const BlockNode*, NodeId> forwarded;  // new block -> number of the old one
  std::vector<bool> reached;                               // numbers that the new program uses
  std::vector<std::vector<NodeId>> former_children;        // of nodes whose inside has changed

  bool is_reached(NodeId id) const {
    return static_cast<size_t>(id) < reached.size() && reached[static_cast<size_t>(id)];
  }
  /// The first of the next two of `former` that is `is_wanted`, if there is one: `at` goes on after it.
  template <class IsWanted>
  static NodeId next_known(const std::vector<NodeId>& former, size_t* at, IsWanted&& is_wanted) {
    for (size_t n = *at; n < std::min(*at + 2, former.size()); ++n) {
      if (is_wanted(former[n])) return *at = n + 1, former[n];
    }
    return kNoNode;
  }
  void reach(NodeId id) {
    if (static_cast<size_t>(id) >= reached.size()) reached.resize(static_cast<size_t>(id) + 1);
    reached[static_cast<size_t>(id)] = true;
  }
};

void State::reindex(Reindex& work, const Stmt& stmt, NodeId parent, const std::vector<NodeId>& former,
                    std::vector<NodeId>* found) {
  size_t at = 0;
  for_each_scope_stmt(stmt, [&](const Stmt& inner) {
    auto& index = index_of(work.func);
    const auto* realize = inner.as<BlockRealizeNode>();
    NodeId id = Reindex::next_known(former, &at, [&](NodeId old) { return node(old).stmt == inner; });
    if (id == kNoNode) {
      const NodeId* known = index.find(key_of(inner));
      id = known ? *known : kNoNode;
      if (realize && !known) {
        auto it = work.forwarded.find(realize->block.get());
        if (it != work.forwarded.end()) id = it->second;
      }
      Reindex::next_known(former, &at, [&](NodeId old) { return old == id; });
    }
    if (id == kNoNode) {
      id = add_node(work.func, parent, inner);
      work.reach(id);
      std::vector<NodeId> children;
      reindex(work, body_of(inner), id, {}, &children);
      edit_node(id).children = std::move(children);
      found->push_back(id);
      return;
    }
    TILEWRIGHT_CHECK(!work.is_reached(id), "the new program uses {} twice", name_of(inner));
    work.reach(id);
    found->push_back(id);
    if (node(id).stmt == inner && node(id).parent == parent) return;
    TreeNode& self = edit_node(id);
    const bool same_key = key_of(self.stmt) == key_of(inner),
               same_body = body_of(self.stmt) == body_of(inner);
    if (!same_key) index.erase(key_of(self.stmt));
    if (!same_key) index.set(key_of(inner), id);
    const bool same_stmt = self.stmt == inner;
    self.stmt = inner;
    self.parent = parent;
    self.name = name_of(inner);
    if (!same_stmt) note_uses(id);
    if (same_body) return;
    std::vector<NodeId> children;
    work.former_children.push_back(std::exchange(edit_node(id).children, {}));
    reindex(work, body_of(inner), id, std::vector<NodeId>(work.former_children.back()), &children);
    edit_node(id).children = std::move(children);
  });
}

void State::remove(Reindex& work, NodeId id) {
  if (work.is_reached(id) || !node(id).stmt) return;
  TreeNode& gone = edit_node(id);
  auto& index = index_of(work.func);
  const NodeId* known = index.find(key_of(gone.stmt));
  if (known && *known == id) index.erase(key_of(gone.stmt));
  gone.stmt = nullptr;
  note_uses(id);
  gone.removed_by = step_;
  gone.parent = kNoNode;
  for (NodeId child : std::exchange(gone.children, {})) remove(work, child);
}

// Parents of `target` get the new statement, up to the function.
void State::rebuild_path(NodeId target, Stmt before, Stmt after) {
  const int32_t func = node(target).func;
  auto& index = index_of(func);
  for (NodeId id = node(target).parent; id != kNoNode; id = node(id).parent) {
    TreeNode& parent = edit_node(id);
    Stmt body = replace_scope_stmt(body_of(parent.stmt), before, after);
    TILEWRIGHT_CHECK(body && body != body_of(parent.stmt),
                     "a statement is not where the schedule's tree has it");
    before = parent.stmt;
    index.erase(key_of(parent.stmt));
    parent.stmt = with_scope_body(parent.stmt, std::move(body));
    index.set(key_of(parent.stmt), id);
    after = parent.stmt;
  }
  PrimFunc& owner = funcs_[static_cast<size_t>(func)].func;
  owner = with(owner, [&](PrimFuncNode& n) { n.body = after; });
}

void State::replace(NodeId target, const Stmt& by, const BlockMap& forwarded) {
  const Stmt before = node(target).stmt;
  if (before == by) return;
  const NodeId parent = node(target).parent;
  Reindex work{node(target).func, {}, {}, {}};
  for (const auto& [old_block, new_block] : forwarded) {
    // blocks inside of an init have no place in the tree
    if (const NodeId* known = index_of(work.func).find(old_block)) work.forwarded[new_block.get()] = *known;
  }
  rebuild_path(target, before, by);
  if (parent != kNoNode && (node(parent).has_bare_code || has_bare_code(by))) note_uses(parent);
  std::vector<NodeId> found;
  reindex(work, by, parent, {}, &found);
  if (parent != kNoNode) {
    auto& siblings = edit_node(parent).children;
    auto at = std::find(siblings.begin(), siblings.end(), target);
    at = siblings.erase(at);
    siblings.insert(at, found.begin(), found.end());
  } else {
    TILEWRIGHT_CHECK(found.size() == 1, "a function keeps one root block");
    funcs_[static_cast<size_t>(work.func)].root = found[0];
  }
  // A loop or block that the new program does not use any more has been consumed by this step.
  std::vector<std::vector<NodeId>> former = std::move(work.former_children);
  remove(work, target);
  for (const auto& children : former) {
    for (NodeId child : children) remove(work, child);
  }
}

void State::replace_func(NodeId root, PrimFunc func, const BlockMap& forwarded) {
  const Stmt body = func->body;
  const auto index = static_cast<size_t>(node(root).func);
  replace(root, body, forwarded);
  funcs_[index].func = std::move(func);
}

// ---------------------------------------------------------------- handles

LoopRef State::new_loop_ref(NodeId id) {
  handles_.push_back({Handle::kLoop, id});
  return {static_cast<int32_t>(handles_.size()) - 1};
}
BlockRef State::new_block_ref(NodeId id) {
  handles_.push_back({Handle::kBlock, id});
  return {static_cast<int32_t>(handles_.size()) - 1};
}
ExprRef State::new_expr_ref(int64_t value) {
  handles_.push_back({Handle::kExpr, value});
  return {static_cast<int32_t>(handles_.size()) - 1};
}

namespace {
constexpr int64_t kFirstPlace = -2;  // handles of places have the values below, which are no numbers of nodes
}
LoopRef State::new_place_ref(Place place) {
  handles_.push_back({Handle::kLoop, kFirstPlace - static_cast<int64_t>(place)});
  return {static_cast<int32_t>(handles_.size()) - 1};
}
std::optional<Place> State::special_place(LoopRef ref) const {
  if (ref.id < 0 || static_cast<size_t>(ref.id) >= handles_.size()) return std::nullopt;
  const Handle& handle = handles_[static_cast<size_t>(ref.id)];
  if (handle.kind != Handle::kLoop || handle.value > kFirstPlace) return std::nullopt;
  return static_cast<Place>(kFirstPlace - handle.value);
}

NodeId State::lookup(int32_t id, Handle::Kind kind) const {
  if (id < 0 || static_cast<size_t>(id) >= handles_.size()) return kNoNode;
  const Handle& handle = handles_[static_cast<size_t>(id)];
  return handle.kind == kind ? static_cast<NodeId>(handle.value) : kNoNode;
}

NodeId State::resolve(int32_t id, Handle::Kind kind) const {
  if (kind == Handle::kLoop && special_place(LoopRef{id}))
    throw UserError("{} stands for a place that is no loop", handle_name(LoopRef{id}))
        .help("only compute_at and reverse_compute_at take it");
  const NodeId found = lookup(id, kind);
  TILEWRIGHT_CHECK(found != kNoNode && node(found).stmt, "handle {} points at nothing", id);
  return found;
}

NodeId State::operator[](PlaceRef ref) const {
  return std::visit([&](auto handle) { return (*this)[handle]; }, ref);
}

bool State::is_known(ExprRef ref) const {
  return ref.id >= 0 && static_cast<size_t>(ref.id) < handles_.size() &&
         handles_[static_cast<size_t>(ref.id)].kind == Handle::kExpr;
}

int64_t State::operator[](ExprRef ref) const {
  TILEWRIGHT_CHECK(is_known(ref), "handle {} is no integer", ref.id);
  return handles_[static_cast<size_t>(ref.id)].value;
}

std::optional<int64_t> State::operator[](const Factor& factor) const {
  if (const auto* value = std::get_if<int64_t>(&factor)) return *value;
  if (const auto* sampled = std::get_if<ExprRef>(&factor)) return (*this)[*sampled];
  return std::nullopt;
}

void State::verify_tree() const {
  for (const Func& func : funcs_) {
    if (func.root == kNoNode) continue;
    TILEWRIGHT_CHECK(func.func->body == node(func.root).stmt, "the root of {} is not its body",
                     func.name->name_hint);
    size_t count = 0, num_uses = 0;
    func.users.for_each([&](const VarNode*, const std::vector<NodeId>& users) { num_uses += users.size(); });
    std::function<void(const Stmt&, NodeId)> check = [&](const Stmt& stmt, NodeId parent) {
      std::vector<NodeId> found;
      for_each_scope_stmt(stmt, [&](const Stmt& inner) {
        const NodeId* known = func.index.find(key_of(inner));
        TILEWRIGHT_CHECK(known, "{} is missing in the tree", name_of(inner));
        const TreeNode& self = node(*known);
        TILEWRIGHT_CHECK(self.stmt == inner && self.parent == parent, "{} is wrong in the tree",
                         name_of(inner));
        TILEWRIGHT_CHECK(self.pointers == uses_of(inner).pointers, "what {} uses is wrong in the tree",
                         name_of(inner));
        for (const VarNode* pointer : self.pointers) {
          const std::vector<NodeId>* users = func.users.find(pointer);
          TILEWRIGHT_CHECK(users && std::count(users->begin(), users->end(), *known) == 1,
                           "{} is not among the users of {}", name_of(inner), pointer->name_hint);
          --num_uses;
        }
        found.push_back(*known);
        ++count;
        check(body_of(inner), *known);
      });
      if (parent != kNoNode)
        TILEWRIGHT_CHECK(found == node(parent).children, "the children of {} are wrong in the tree",
                         node(parent).name);
    };
    check(func.func->body, kNoNode);
    TILEWRIGHT_CHECK(count == func.index.size(), "the tree of {} has {} entries for {} loops and blocks",
                     func.name->name_hint, func.index.size(), count);
    TILEWRIGHT_CHECK(num_uses == 0, "the tree of {} has {} users that are gone", func.name->name_hint,
                     num_uses);
  }
}

}  // namespace tilewright::schedule
