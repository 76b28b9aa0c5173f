#include "tilewright/schedule/buffers.h"

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/report.h"

namespace tilewright::schedule {

WrittenBuffer require_written_buffer(const State& state, NodeId id, int64_t index, bool is_read) {
  const BlockNode* block = state.node(id).block();
  const auto& regions = is_read ? block->reads : block->writes;
  if (index < 0 || index >= static_cast<int64_t>(regions.size()))
    throw refuse(state, id, "block {} {} {} buffer{}, there is no number {}", block->name_hint,
                 is_read ? "reads" : "writes", regions.size(), regions.size() == 1 ? "" : "s", index);
  const Buffer& buffer = regions[static_cast<size_t>(index)]->buffer;
  NodeId root = id;
  while (state.node(root).parent != kNoNode) root = state.node(root).parent;
  return {buffer, allocation_of(state, buffer, id), root};
}

namespace {

// Rewrites statements below the owner: accesses, regions, and the blocks whose regions have to be found
// again.
class BufferReplacer {
 public:
  BufferReplacer(const Buffer& from, const Buffer& to, const IndexChange& indices)
      : from_(from), to_(to), indices_(indices) {}
  BlockMap forwarded;

  Stmt run(const Stmt& stmt) {
    return rewrite(
        stmt,
        [&](auto& self, const BlockNode* block) -> Stmt {
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
          return BufferLoadNode::make(to_, new_indices(changed->indices), changed->predicate, changed->span);
        },
        [&](auto& self, const BufferStoreNode* store) -> Stmt {
          const BufferStore changed = self.children(store);
          if (store->buffer != from_) return changed;
          return BufferStoreNode::make(to_, changed->value, new_indices(changed->indices), changed->predicate,
                                       changed->span);
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
  bool uses(const std::vector<BufferRegion>& regions) const {
    return std::any_of(regions.begin(), regions.end(),
                       [&](const BufferRegion& region) { return region->buffer == to_; });
  }
  Buffer from_, to_;
  const IndexChange& indices_;
};

}  // namespace

void replace_allocated_buffer(State& state, const WrittenBuffer& target, const Buffer& changed,
                              const IndexChange& indices) {
  BufferReplacer replacer(target.buffer, changed, indices);
  const NodeId owner = target.owner == kNoNode ? target.root : target.owner;
  const BlockRealizeNode* realize = state.node(owner).realize();
  const Stmt body = replacer.run(realize->block->body);
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
