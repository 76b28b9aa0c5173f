// Moves every buffer allocated in a block to the smallest statement that contains all its uses.  The
// allocation stays outside of a loop that carries the buffer's values from one iteration to the next: a
// reduce (or opaque) axis of a block that writes it depends on the loop (for k: Y[i] += ...), or an iteration
// may read elements that it has not surely written (for i: if i < 1: Y[j] = ...; B[i, j] = Y[j]).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/analysis/ordered_accesses.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

using Path = std::vector<const Object*>;  // statements, from the allocating block's body downwards

// The number of statements of the path that may be around the allocation.  Concurrent iterations carry
// nothing to each other: a buffer that they share has an element for each.
size_t length_without_carrying(const Path& path, const Buffer& buffer) {
  std::vector<const ForNode*> around;
  size_t length = 0;
  bool is_carried = false;
  for (size_t depth = 0; depth < path.size(); ++depth) {
    if (const auto* loop = ObjectRef(path[depth]).as<ForNode>()) {
      if (loop->for_kind == ForKind::kSerial || loop->for_kind == ForKind::kUnrolled)
        is_carried = is_carried || !analysis::iterations_are_independent(loop, buffer, around);
      else if (is_carried)
        is_carried = analysis::iterations_are_disjoint(loop, buffer, around);
      around.push_back(loop);
    }
    if (!is_carried) length = depth + 1;
  }
  return length;
}

// Finds the common path of the uses of each buffer of one block.
class UseFinder {
 public:
  explicit UseFinder(const BlockNode* owner) {
    for (const Buffer& buffer : owner->alloc_buffers) {
      mine_.insert(buffer.get());
      by_pointer_[buffer->data.get()] = buffer.get();
    }
    visit(owner->body.get());
    if (owner->init) visit(owner->init.get());
  }

  /// The statement around which `buffer` is allocated; null: the whole body of the block, or no use at all.
  const Object* place(const Buffer& buffer) const {
    auto found = paths_.find(buffer.get());
    if (found == paths_.end()) return nullptr;
    const size_t length = length_without_carrying(found->second, buffer);
    return length == 0 ? nullptr : found->second[length - 1];
  }

 private:
  void visit(const Object* node) {
    if (const auto* realize = ObjectRef(node).as<BlockRealizeNode>()) return visit_block(realize);
    const bool is_place = ObjectRef(node).as<ForNode>() || ObjectRef(node).as<IfThenElseNode>();
    if (const auto* load = ObjectRef(node).as<BufferLoadNode>()) use(load->buffer.get());
    if (const auto* store = ObjectRef(node).as<BufferStoreNode>()) use(store->buffer.get());
    if (const auto* var = ObjectRef(node).as<VarNode>()) {
      auto owner = by_pointer_.find(var);
      if (owner != by_pointer_.end()) use(owner->second);
    }
    if (is_place) stack_.push_back(node);
    for_each_child(node, this, [](void* self, const Object* child, bool) {
      static_cast<UseFinder*>(self)->visit(child);
    });
    if (is_place) stack_.pop_back();
  }

  void visit_block(const BlockRealizeNode* realize) {
    const size_t outer_blocks = blocks_;
    // loops that carry values this block writes end the path above them
    std::unordered_set<const VarNode*> carrying;
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      if (realize->block->iter_vars[n]->iter_type == IterType::kSpatial) continue;
      walk(realize->iter_values[n], [&](const VarNode* var) { carrying.insert(var); });
    }
    const BlockNode* block = realize->block.get();
    size_t depth = 0;
    while (depth < stack_.size() && !is_loop_over(stack_[depth], carrying)) ++depth;
    const size_t outer_carriers = carriers_.size();
    if (depth < stack_.size()) carriers_.push_back({depth, buffers_written_in(block)});
    stack_.push_back(realize);
    blocks_ = stack_.size();
    // T.reads and T.writes are not uses: the accesses themselves are inside
    for (const MatchBufferRegion& view : block->match_buffers) visit(view->source.get());
    if (block->init) visit(block->init.get());
    visit(block->body.get());
    stack_.pop_back();
    carriers_.resize(outer_carriers);
    blocks_ = outer_blocks;
  }

  static bool is_loop_over(const Object* stmt, const std::unordered_set<const VarNode*>& vars) {
    const auto* loop = ObjectRef(stmt).as<ForNode>();
    return loop && vars.count(loop->loop_var.get());
  }

  static std::unordered_set<const BufferNode*> buffers_written_in(const BlockNode* block) {
    std::unordered_set<const BufferNode*> written;
    for (const BufferRegion& region : block->writes) written.insert(region->buffer.get());
    for (const MatchBufferRegion& view : block->match_buffers) written.insert(view->source->buffer.get());
    walk(block->body, [&](const BufferStoreNode* store) { written.insert(store->buffer.get()); });
    return written;
  }

  // Outside of blocks it is unknown what loops carry, so the path is empty.
  void use(const BufferNode* buffer) {
    if (!mine_.count(buffer)) return;
    size_t length = blocks_;
    for (const Carrier& carrier : carriers_) {
      if (carrier.written.count(buffer)) length = std::min(length, carrier.depth);
    }
    const Path path(stack_.begin(), stack_.begin() + static_cast<long>(length));
    auto [found, is_new] = paths_.try_emplace(buffer, path);
    if (is_new) return;
    Path& common = found->second;
    size_t depth = 0;
    while (depth < common.size() && depth < path.size() && common[depth] == path[depth]) ++depth;
    common.resize(depth);
  }

  std::unordered_set<const BufferNode*> mine_;
  std::unordered_map<const VarNode*, const BufferNode*> by_pointer_;
  std::unordered_map<const BufferNode*, Path> paths_;
  Path stack_;
  /// An enclosing block: the number of entries of stack_ above the loops that carry values it writes.
  struct Carrier {
    size_t depth;
    std::unordered_set<const BufferNode*> written;
  };
  std::vector<Carrier> carriers_;
  size_t blocks_ = 0;  // number of entries of stack_ down to the innermost block
};

using Buffers = std::unordered_set<const BufferNode*>;

// Annotations of allocations that blocks request for the buffers they write.
using Wishes = std::unordered_map<const BufferNode*, AttrMap>;

// The buffer at position `index` of the block's writes, or null.
const BufferNode* written(const BlockNode* block, const ObjectRef& index) {
  int64_t place = 0;
  const bool is_place = index && as_const_int(ref_as<PrimExprNode>(index), &place) && place >= 0 &&
                        place < static_cast<int64_t>(block->writes.size());
  return is_place ? block->writes[static_cast<size_t>(place)]->buffer.get() : nullptr;
}

// The buffer of a storage_align entry.  Annotations may be written by hand.
const BufferNode* aligned_buffer(const BlockNode* block, const ObjectRef& item) {
  const auto* entry = item.as<ArrayNode>();
  const bool has_numbers = entry && entry->items.size() == 4 &&
                           std::all_of(entry->items.begin(), entry->items.end(),
                                       [](const ObjectRef& number) { return is<IntImmNode>(number); });
  const BufferNode* buffer = has_numbers ? written(block, entry->items[0]) : nullptr;
  const auto number = [&](size_t n) { return entry->items[n].as<IntImmNode>()->value; };
  if (!buffer || number(1) < 0 || number(1) >= static_cast<int64_t>(buffer->shape.size()) || number(2) < 1)
    throw UserError(block, "{} has an entry that is not [buffer, axis, factor, offset]", kStorageAlign)
        .help(
            "buffer is the number of one that the block writes, axis one of its dimensions, factor at least "
            "1");
  return buffer;
}

Wishes wishes_of(const PrimFunc& func) {
  Wishes wishes;
  walk(func, [&](const BlockNode* block) {
    if (const BufferNode* buffer = written(block, block->annotations.get(kDoubleBuffer)))
      wishes[buffer].set(std::string(kDoubleBuffer), bool_imm(true));
    const ObjectRef aligned = block->annotations.get(kStorageAlign);
    const auto* list = aligned.as<ArrayNode>();
    if (aligned && !list)
      throw UserError(block, "{} is not a list of [buffer, axis, factor, offset]", kStorageAlign);
    for (const ObjectRef& item : list ? list->items : std::vector<ObjectRef>()) {
      const BufferNode* buffer = aligned_buffer(block, item);
      const ObjectRef known = wishes[buffer].get(kStorageAlign);
      std::vector<ObjectRef> all = known ? known.as<ArrayNode>()->items : std::vector<ObjectRef>();
      all.push_back(item);
      wishes[buffer].set(std::string(kStorageAlign), ArrayNode::make(std::move(all)));
    }
  });
  return wishes;
}

Stmt allocate_around(Stmt stmt, const std::vector<Buffer>& buffers, const Wishes& wishes) {
  for (auto buffer = buffers.rbegin(); buffer != buffers.rend(); ++buffer) {
    const auto wish = wishes.find(buffer->get());
    stmt = AllocBufferNode::make(*buffer, wish == wishes.end() ? AttrMap() : wish->second, stmt);
  }
  return stmt;
}

// Allocates around the body of a loop, where its variable is fixed, or around a block.
Stmt rebuild(const Stmt& body, const std::unordered_map<const Object*, std::vector<Buffer>>& at,
             const Wishes& wishes) {
  auto found = [&](const Object* node) -> const std::vector<Buffer>* {
    auto entry = at.find(node);
    return entry == at.end() ? nullptr : &entry->second;
  };
  return rewrite(
      body,
      [&](auto& self, const ForNode* node) -> Stmt {
        For loop = self.children(node);
        const auto* buffers = found(node);
        return buffers ? with(loop,
                              [&](ForNode& changed) {
                                changed.body = allocate_around(changed.body, *buffers, wishes);
                              })
                       : loop;
      },
      [&](auto& self, const IfThenElseNode* node) -> Stmt {
        Stmt stmt = self.children(node);
        const auto* buffers = found(node);
        return buffers ? allocate_around(stmt, *buffers, wishes) : stmt;
      },
      [&](auto& self, const BlockRealizeNode* node) -> Stmt {
        Stmt stmt = self.children(node);
        const auto* buffers = found(node);
        return buffers ? allocate_around(stmt, *buffers, wishes) : stmt;
      });
}

// Removes buffers allocated inside a block from its T.reads and T.writes.
PrimFunc without_own_regions(const PrimFunc& func) {
  return rewrite(func, [&](auto& self, const BlockNode* node) -> Stmt {
    Block block = self.children(node);
    Buffers own;
    walk(block->body, [&](const AllocBufferNode* alloc) { own.insert(alloc->buffer.get()); });
    auto is_own = [&](const BufferRegion& region) { return own.count(region->buffer.get()) > 0; };
    auto has_own = [&](const auto& regions) { return std::any_of(regions.begin(), regions.end(), is_own); };
    if (!has_own(block->reads) && !has_own(block->writes)) return block;
    return with(block, [&](BlockNode& changed) {
      std::erase_if(changed.reads, is_own);
      std::erase_if(changed.writes, is_own);
    });
  });
}

PrimFunc place_allocations(const PrimFunc& func) {
  const Wishes wishes = wishes_of(func);
  return without_own_regions(rewrite(func, [&](auto& self, const BlockNode* node) -> Stmt {
    if (node->alloc_buffers.empty()) return self.children(node);
    std::unordered_map<const Object*, std::vector<Buffer>> at;
    std::vector<Buffer> whole_body;
    const UseFinder uses(node);
    for (const Buffer& buffer : node->alloc_buffers) {
      const Object* place = uses.place(buffer);
      if (place)
        at[place].push_back(buffer);
      else
        whole_body.push_back(buffer);
    }
    Stmt body = at.empty() ? node->body : rebuild(node->body, at, wishes);
    Block placed = with(node, [&](BlockNode& changed) {
      changed.body = allocate_around(body, whole_body, wishes);
      changed.alloc_buffers.clear();
    });
    return self.children(placed.get());
  }));
}

}  // namespace

extern constinit const StepInfo place_allocations_info = {
    .name = "place_allocations",
    .doc = "buffers are allocated around the smallest statement that holds their uses",
    .uses = kBlocks,
    .without = kViews,
    .ends = kBlockBuffers,
    .run = without_options<place_allocations>,
};

}  // namespace tilewright::lower
