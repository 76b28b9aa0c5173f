#include "tilewright/schedule/core/access.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/reduction.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

bool may_alias(const Buffer& a, const Buffer& b) { return a == b || a->data == b->data; }

bool loads_from(const PrimExpr& expr, const Buffer& buffer) {
  if (is<VarNode>(expr) || is<IntImmNode>(expr)) return false;  // most of what is asked about
  bool found = false;
  walk(expr, [&](const BufferLoadNode* load) {
    found |= may_alias(load->buffer, buffer);
    return true;
  });
  return found;
}

BufferRegion without_loads(const BufferRegion& region) {
  std::vector<Range> ranges = region->region;
  bool has_changed = false;
  for (size_t n = 0; n < ranges.size(); ++n) {
    bool is_chosen = false;
    walk(ranges[n], [&](const BufferLoadNode*) { is_chosen = true; });
    if (!is_chosen) continue;
    ranges[n] = full_region(region->buffer)->region[n];
    has_changed = true;
  }
  return has_changed ? with(region, [&](BufferRegionNode& n) { n.region = std::move(ranges); }) : region;
}

namespace {

bool is_declared_once(const BlockNode* block, const BufferRegion& region) {
  return std::ranges::count(block->reads, region->buffer, [](const auto& read) { return read->buffer; }) == 1;
}

// Regions of one buffer are united there: P[t, i] and P[t - 1, k] would become all that is between them.
analysis::AccessRegions regions_of(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  if (std::ranges::all_of(block->reads, [&](const auto& read) { return is_declared_once(block, read); }))
    return analysis::access_regions(Stmt(realize));
  const auto with_reads = [&](std::vector<BufferRegion> reads) {
    const Block changed = with(block, [&](BlockNode& n) { n.reads = std::move(reads); });
    return analysis::access_regions(Stmt(with(realize, [&](BlockRealizeNode& n) { n.block = changed; })));
  };
  std::vector<BufferRegion> others;
  std::ranges::copy_if(block->reads, std::back_inserter(others),
                       [&](const auto& read) { return is_declared_once(block, read); });
  analysis::AccessRegions found = with_reads(others);
  for (const BufferRegion& read : block->reads) {
    if (is_declared_once(block, read)) continue;
    for (const BufferRegion& region : with_reads({read}).reads) {
      if (region->buffer == read->buffer) found.reads.push_back(region);
    }
  }
  return found;
}

}  // namespace

std::vector<Access> accesses_of(const State& state, NodeId id) {
  const BlockNode* block = state.node(id).block();
  const analysis::AccessRegions regions = regions_of(state.node(id).realize());
  std::vector<Access> accesses;
  for (const BufferRegion& read : regions.reads) {
    if (is_own_sum(block, read, regions.writes)) continue;
    accesses.push_back({id, read->buffer, without_loads(read)->region, false, false});
  }
  for (const BufferRegion& write : regions.writes) {
    bool is_update = block->init != nullptr;
    for (const BufferRegion& read : regions.reads) is_update |= read->buffer == write->buffer;
    accesses.push_back({id, write->buffer, without_loads(write)->region, true, is_update});
  }
  return accesses;
}

namespace {

bool touches(const std::vector<BufferRegion>& regions, const Buffer& buffer) {
  for (const BufferRegion& region : regions) {
    if (may_alias(region->buffer, buffer)) return true;
  }
  return false;
}

}  // namespace

bool has_access(const State& state, NodeId id, const Buffer& buffer) {
  const BlockRealizeNode* realize = state.node(id).realize();
  return touches(realize->block->reads, buffer) || touches(realize->block->writes, buffer) ||
         loads_from(realize->predicate, buffer) ||
         std::any_of(realize->iter_values.begin(), realize->iter_values.end(),
                     [&](const PrimExpr& value) { return loads_from(value, buffer); });
}

std::vector<Access> accesses_below(const State& state, NodeId id) {
  if (!state.node(id).is_loop()) return accesses_of(state, id);
  std::vector<Access> accesses;
  for (NodeId block : state.blocks_below(id)) {
    for (Access& access : accesses_of(state, block)) accesses.push_back(std::move(access));
  }
  return accesses;
}

std::vector<NodeId> loops_between(const State& state, NodeId outer, NodeId block) {
  std::vector<NodeId> loops;
  for (NodeId id = state.node(block).parent; id != outer && id != kNoNode; id = state.node(id).parent) {
    if (state.node(id).is_loop()) loops.push_back(id);
  }
  return {loops.rbegin(), loops.rend()};
}

namespace {

// The loops are bound first: what is known of a variable is forgotten when it is bound again.
arith::IntervalRegion relaxed_where(const State& state, const Access& access, NodeId outer,
                                    const PrimExpr& predicate, arith::Analyzer& analyzer) {
  const arith::IterRanges ranges = ranges_of(state, loops_between(state, outer, access.block));
  for (const auto& [var, range] : ranges) analyzer.bind(var, range);
  const arith::Analyzer::Scope scope = analyzer.assume(predicate);
  return arith::eval_region(access.region, arith::domains_of(ranges), analyzer);
}

}  // namespace

arith::IntervalRegion relaxed_unguarded(const State& state, const Access& access, NodeId outer,
                                        arith::Analyzer& analyzer) {
  return relaxed_where(state, access, outer, bool_imm(true), analyzer);
}

arith::IntervalRegion relaxed(const State& state, const Access& access, NodeId outer,
                              arith::Analyzer& analyzer) {
  return relaxed_where(state, access, outer, state.node(access.block).realize()->predicate, analyzer);
}

namespace {

// How many loops and blocks are put in order one by one; for more the tree is walked.
constexpr size_t kFew = 16;

std::vector<NodeId> in_program_order(const State& state, std::vector<NodeId> ids) {
  std::sort(ids.begin(), ids.end(), [&](NodeId a, NodeId b) { return is_before(state, a, b); });
  return ids;
}

// The blocks of `scope` that use a buffer of `regions`.
std::vector<NodeId> users_in_scope(const State& state, NodeId scope,
                                   const std::vector<BufferRegion>& regions) {
  std::vector<NodeId> found;
  for (const BufferRegion& region : regions) {
    for (NodeId user : state.users_of(region->buffer, scope)) {
      const bool is_here = !state.node(user).is_loop() && state.scope_of(user) == scope;
      if (is_here && std::find(found.begin(), found.end(), user) == found.end()) found.push_back(user);
    }
    if (found.size() > kFew) return state.child_blocks(scope);
  }
  return in_program_order(state, std::move(found));
}

// Blocks of the scope of `id` on one side of it that use one of `regions` and for which `matches` holds.
template <class Matches>
std::vector<NodeId> neighbours(const State& state, NodeId id, bool before,
                               const std::vector<BufferRegion>& regions, Matches&& matches) {
  std::vector<NodeId> found;
  const NodeId scope = state.scope_of(id);
  if (scope == kNoNode) return found;
  for (NodeId other : users_in_scope(state, scope, regions)) {
    if (other == id || !matches(state.node(other).block())) continue;
    if (before ? is_before(state, other, id) : is_before(state, id, other)) found.push_back(other);
  }
  return found;
}

}  // namespace

std::vector<NodeId> producers_of(const State& state, NodeId id) {
  const BlockNode* block = state.node(id).block();
  return neighbours(state, id, true, block->reads, [&](const BlockNode* other) {
    for (const BufferRegion& read : block->reads) {
      if (touches(other->writes, read->buffer)) return true;
    }
    return false;
  });
}

std::vector<NodeId> consumers_of(const State& state, NodeId id) {
  const BlockNode* block = state.node(id).block();
  return neighbours(state, id, false, block->writes, [&](const BlockNode* other) {
    for (const BufferRegion& write : block->writes) {
      if (touches(other->reads, write->buffer)) return true;
    }
    return false;
  });
}

std::vector<NodeId> with_ways_to(const State& state, NodeId around, std::span<const NodeId> ids) {
  std::unordered_set<NodeId> marked;
  std::unordered_map<NodeId, std::vector<NodeId>> children;  // those that are marked
  for (NodeId id : ids) {
    if (!state.is_inside(id, around)) continue;
    for (; id != around && marked.insert(id).second; id = state.node(id).parent)
      children[state.node(id).parent].push_back(id);
  }
  std::vector<NodeId> found;
  const auto collect = [&](auto& self, NodeId id) -> void {
    const auto below = children.find(id);
    if (below == children.end()) return;
    std::vector<NodeId> next = std::move(below->second);
    if (next.size() > kFew) {
      next = state.node(id).children;
      std::erase_if(next, [&](NodeId child) { return !marked.contains(child); });
    } else {
      next = in_program_order(state, std::move(next));
    }
    for (NodeId child : next) {
      found.push_back(child);
      self(self, child);
    }
  };
  collect(collect, around);
  return found;
}

std::vector<NodeId> blocks_beside(const State& state, NodeId scope, NodeId id) {
  std::vector<NodeId> found;
  for (NodeId block : state.child_blocks(scope)) {
    if (block == id || id == kNoNode || !state.is_inside(id, block)) {
      found.push_back(block);
      continue;
    }
    for (NodeId inner : blocks_beside(state, block, id)) found.push_back(inner);
  }
  return found;
}

namespace {

// True if `block` is among blocks_beside(scope, id).
bool is_beside(const State& state, NodeId block, NodeId scope, NodeId id) {
  if (block != id && state.is_inside(id, block)) return false;
  NodeId around = state.scope_of(block);
  while (around != scope && around != kNoNode && around != id && state.is_inside(id, around))
    around = state.scope_of(around);
  return around == scope;
}

}  // namespace

std::vector<NodeId> users_beside(const State& state, NodeId scope, const Buffer& buffer, NodeId id) {
  const std::span<const NodeId> users = state.users_of(buffer, scope);
  std::vector<NodeId> found;
  if (users.size() > kFew || state.node(scope).is_loop()) {
    found = blocks_beside(state, scope, id);
    std::erase_if(found, [&](NodeId block) { return !has_access(state, block, buffer); });
    return found;
  }
  for (NodeId user : users) {
    if (!state.node(user).is_loop() && user != scope && is_beside(state, user, scope, id) &&
        has_access(state, user, buffer))
      found.push_back(user);
  }
  return in_program_order(state, std::move(found));
}

std::vector<NodeId> writers_of(const State& state, NodeId scope, const Buffer& buffer, NodeId id) {
  std::vector<NodeId> found = users_beside(state, scope, buffer, id);
  std::erase_if(found, [&](NodeId block) { return !touches(state.node(block).block()->writes, buffer); });
  return found;
}

std::vector<NodeId> readers_of(const State& state, NodeId scope, const Buffer& buffer, NodeId id) {
  std::vector<NodeId> found = users_beside(state, scope, buffer, id);
  std::erase_if(found, [&](NodeId block) { return !touches(state.node(block).block()->reads, buffer); });
  return found;
}

bool is_parameter_of(const State& state, NodeId near, const Buffer& buffer) {
  const std::vector<Buffer>& parameters = state.func_of(near).func->buffers;
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const Buffer& parameter) { return parameter && may_alias(parameter, buffer); });
}

std::string where_from(const State& state, NodeId near, const Buffer& buffer) {
  return is_parameter_of(state, near, buffer) ? "a parameter of the function"
                                              : "allocated by a statement, not by a block";
}

NodeId allocation_of(const State& state, const Buffer& buffer, NodeId from) {
  for (NodeId id = from; id != kNoNode; id = state.node(id).parent) {
    const BlockNode* block = state.node(id).block();
    if (!block) continue;
    for (const Buffer& allocated : block->alloc_buffers) {
      if (may_alias(allocated, buffer)) return id;
    }
  }
  return kNoNode;
}

}  // namespace tilewright::schedule
