#include "tilewright/schedule/transforms/buffers.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/near.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

namespace {

std::optional<size_t> find_buffer(const std::vector<BufferRegion>& regions, const BufferArg& which) {
  const auto* name = std::get_if<std::string>(&which.which);
  const auto* buffer = std::get_if<Buffer>(&which.which);
  for (size_t n = 0; n < regions.size(); ++n) {
    if (name ? regions[n]->buffer->name == *name : regions[n]->buffer == *buffer) return n;
  }
  return std::nullopt;
}

// `verb` says among which buffers: those that the block "reads", "writes", or "accesses" either way.
[[noreturn]] void fail_unknown(const State& state, NodeId id, const BufferArg& which, std::string_view verb) {
  const BlockNode* block = state.node(id).block();
  const auto* name = std::get_if<std::string>(&which.which);
  std::vector<std::string_view> names;
  for (const auto* regions : {&block->reads, &block->writes}) {
    if (verb == (regions == &block->reads ? "writes" : "reads")) continue;
    for (const BufferRegion& region : *regions) {
      if (std::find(names.begin(), names.end(), region->buffer->name) == names.end())
        names.push_back(region->buffer->name);
    }
  }
  const std::string_view wanted = name ? *name : std::get<Buffer>(which.which)->name;
  throw refuse(state, id, "block {} {} no buffer \"{}\"", block->name_hint, verb, wanted)
      .help("{}", nearest_names_text(wanted, names));
}

}  // namespace

BufferPlace require_buffer(const State& state, NodeId id, BufferArg* which, bool is_read) {
  const BlockNode* block = state.node(id).block();
  const auto& regions = is_read ? block->reads : block->writes;
  const char* verb = is_read ? "reads" : "writes";
  size_t found = 0;
  if (const auto* side = std::get_if<std::pair<std::string, int64_t>>(&which->which)) {
    if (side->first != (is_read ? "read" : "write"))
      throw refuse(state, id, "a buffer that block {} {} is asked for, not (\"{}\", {})", block->name_hint,
                   verb, side->first, side->second);
    which->which = int64_t{side->second};
  }
  if (const auto* index = std::get_if<int64_t>(&which->which)) {
    if (*index < 0 || *index >= static_cast<int64_t>(regions.size())) {
      UserError error = refuse(state, id, "block {} {} {}, there is no number {}", block->name_hint, verb,
                               count_text(regions.size(), "buffer"), *index);
      std::vector<std::string> numbered;
      for (size_t n = 0; n < regions.size(); ++n)
        numbered.push_back(fmt::format("{} is {}", n, regions[n]->buffer->name));
      if (!numbered.empty()) error.help("{}", fmt::join(numbered, ", "));
      throw error;
    }
    found = static_cast<size_t>(*index);
  } else {
    const std::optional<size_t> known = find_buffer(regions, *which);
    if (!known) fail_unknown(state, id, *which, verb);
    found = *known;
  }
  which->which = static_cast<int64_t>(found);
  return {regions[found]->buffer, is_read, found};
}

BufferPlace require_buffer(const State& state, NodeId id, BufferArg* which) {
  const BlockNode* block = state.node(id).block();
  bool is_read = false;
  if (const auto* side = std::get_if<std::pair<std::string, int64_t>>(&which->which)) {
    if (side->first != "read" && side->first != "write")
      throw refuse(state, id, "a buffer is in list \"read\" or \"write\", not \"{}\"", side->first);
    is_read = side->first == "read";
  } else if (const auto* index = std::get_if<int64_t>(&which->which)) {
    throw refuse(state, id, "buffer {} of block {} may be one that it reads or one that it writes", *index,
                 block->name_hint)
        .help("say which: (\"read\", {}) or (\"write\", {})", *index, *index);
  } else if (!find_buffer(block->writes, *which)) {
    is_read = true;
    if (!find_buffer(block->reads, *which)) fail_unknown(state, id, *which, "accesses");
  }
  const BufferPlace place = require_buffer(state, id, which, is_read);
  which->which = std::pair<std::string, int64_t>(is_read ? "read" : "write", place.index);
  return place;
}

WrittenBuffer allocated(const State& state, NodeId id, const Buffer& buffer) {
  NodeId root = id;
  while (state.node(root).parent != kNoNode) root = state.node(root).parent;
  return {buffer, allocation_of(state, buffer, id), root};
}

namespace {

// Rewrites statements below the owner: accesses, regions, and the blocks whose regions have to be found
// again.
class BufferReplacer {
 public:
  BufferReplacer(const State& state, NodeId near, const Buffer& from, const Buffer& to,
                 const IndexChange& indices)
      : state_(state), near_(near), from_(from), to_(to), indices_(indices) {}
  BlockMap forwarded;

  Stmt run(const Stmt& stmt) {
    return rewrite(
        stmt,
        [&](auto& self, const ForNode* loop) -> Stmt {
          // most loops of a program have nothing to do with the buffer
          if (!is<IntImmNode>(loop->min) || !is<IntImmNode>(loop->extent)) return self.children(loop);
          const Stmt body = self(loop->body);
          return body == loop->body ? Stmt(loop) : with(loop, [&](ForNode& n) { n.body = body; });
        },
        [&](auto& self, const BlockNode* block) -> Stmt {
          if (!may_use(block)) return Stmt(block);
          Block changed = self.children(block);
          if (changed.get() == block) return changed;
          if (indices_) {
            const analysis::AccessRegions regions = analysis::access_regions(changed);
            changed = with(changed, [&](BlockNode& n) {
              if (uses(n.reads)) n.reads = regions.reads;
              if (uses(n.writes)) n.writes = regions.writes;
            });
          }
          forwarded[block] = changed;
          return changed;
        },
        [&](auto& self, const BufferLoadNode* load) -> PrimExpr {
          const BufferLoad changed = self.children(load);
          if (load->buffer != from_) return changed;
          return cast(from_->dtype, BufferLoadNode::make(to_, new_indices(changed->indices),
                                                         changed->predicate, changed->span));
        },
        [&](auto& self, const BufferStoreNode* store) -> Stmt {
          const BufferStore changed = self.children(store);
          if (store->buffer != from_) return changed;
          return BufferStoreNode::make(to_, cast(to_->dtype, changed->value), new_indices(changed->indices),
                                       changed->predicate, changed->span);
        },
        [&](auto& self, const DeclBufferNode* view) -> Stmt {
          self.replace_uses(from_->data.get(), to_->data);
          return self.children(view);
        },
        [&](auto& self, const MatchBufferRegionNode* match) -> MatchBufferRegion {
          const MatchBufferRegion changed = self.children(match);
          const std::string scope = changed->source->buffer->scope();
          if (changed->buffer->scope() == scope) return changed;
          // a view is where its buffer is
          const Buffer view = with(changed->buffer, [&](BufferNode& n) {
            n.data = pointer_var(n.data->name_hint, n.dtype, scope);
          });
          self.replace_uses(match->buffer.get(), view);
          self.replace_uses(match->buffer->data.get(), view->data);
          return with(changed, [&](MatchBufferRegionNode& n) { n.buffer = view; });
        },
        [&](auto& self, const BufferRegionNode* region) -> BufferRegion {
          const BufferRegion changed = self.children(region);
          if (region->buffer != from_) return changed;
          return with(changed, [&](BufferRegionNode& n) { n.buffer = to_; });
        },
        [&](auto& self, const VarNode* var) -> PrimExpr {
          return var == from_->data.get() ? PrimExpr(to_->data) : PrimExpr(var);
        });
  }

 private:
  std::vector<PrimExpr> new_indices(const std::vector<PrimExpr>& indices) const {
    return indices_ ? indices_(indices) : indices;
  }
  bool may_use(const BlockNode* block) const {
    const NodeId* id = state_.func_of(near_).index.find(block);  // blocks of inits have none
    return !id || !state_.regions_are_complete || touches(block->reads) || touches(block->writes) ||
           state_.uses_addresses(*id);
  }
  bool touches(const std::vector<BufferRegion>& regions) const {
    return std::any_of(regions.begin(), regions.end(),
                       [&](const BufferRegion& region) { return may_alias(region->buffer, from_); });
  }
  bool uses(const std::vector<BufferRegion>& regions) const {
    return std::any_of(regions.begin(), regions.end(),
                       [&](const BufferRegion& region) { return region->buffer == to_; });
  }
  const State& state_;
  NodeId near_;
  Buffer from_, to_;
  const IndexChange& indices_;
};

}  // namespace

void replace_allocated_buffer(State& state, const WrittenBuffer& target, const Buffer& changed,
                              const IndexChange& indices) {
  const NodeId owner = target.owner == kNoNode ? target.root : target.owner;
  BufferReplacer replacer(state, owner, target.buffer, changed, indices);
  const BlockRealizeNode* realize = state.node(owner).realize();
  const std::span<const NodeId> users = state.users_of(target.buffer, owner);
  Stmt body = realize->block->body;
  // most of what is beside has nothing to do with the buffer
  const bool is_known =
      state.regions_are_complete && std::find(users.begin(), users.end(), owner) == users.end();
  if (is_known) {
    std::vector<NodeId> places;
    for (NodeId user : users) {
      const NodeId place = state.is_inside(user, owner) ? child_towards(state, owner, user) : kNoNode;
      if (place != kNoNode && std::find(places.begin(), places.end(), place) == places.end())
        places.push_back(place);
    }
    for (NodeId place : places)
      body = replace_scope_stmt(body, state.node(place).stmt, replacer.run(state.node(place).stmt));
  } else {
    body = replacer.run(body);
  }
  const Block block = with(realize->block, [&](BlockNode& n) {
    n.body = body;
    std::replace(n.alloc_buffers.begin(), n.alloc_buffers.end(), target.buffer, changed);
  });
  replacer.forwarded[realize->block.get()] = block;
  const Stmt by = with(realize, [&](BlockRealizeNode& n) { n.block = block; });
  if (target.owner != kNoNode) return state.replace(owner, by, replacer.forwarded);
  const PrimFunc func = with(state.func_of(owner).func, [&](PrimFuncNode& n) {
    n.body = by;
    std::replace(n.buffers.begin(), n.buffers.end(), target.buffer, changed);
  });
  state.replace_func(owner, func, replacer.forwarded);
}

}  // namespace tilewright::schedule
