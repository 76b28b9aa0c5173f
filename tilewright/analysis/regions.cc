#include "tilewright/analysis/regions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tilewright/analysis/index_range.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/pointer_use.h"

namespace tilewright::analysis {
namespace {

using Box = std::vector<IndexRange>;  // one range per dimension

IndexRange whole_dimension(const Buffer& buffer, size_t dim) {
  const PrimExpr& extent = buffer->shape[dim];
  return {make_const_int(extent->dtype, 0), extent - 1};
}

Box whole_buffer(const Buffer& buffer) {
  Box box;
  for (size_t dim = 0; dim < buffer->shape.size(); ++dim) box.push_back(whole_dimension(buffer, dim));
  return box;
}

// The box touched so far in each buffer.
struct Touched {
  std::vector<std::pair<Buffer, Box>> boxes;

  void add(const Buffer& buffer, Box box) {
    for (auto& [seen, united] : boxes) {
      if (seen != buffer) continue;
      for (size_t dim = 0; dim < box.size(); ++dim) united[dim] = hull(united[dim], box[dim]);
      return;
    }
    boxes.emplace_back(buffer, std::move(box));
  }

  std::vector<BufferRegion> regions() const {
    std::vector<BufferRegion> result;
    for (const auto& [buffer, box] : boxes) {
      std::vector<Range> region;
      for (const IndexRange& range : box) region.push_back(make_range(range.min, range.width + 1));
      result.push_back(BufferRegionNode::make(buffer, std::move(region)));
    }
    return result;
  }
};

class Collector {
 public:
  Collector(const Stmt& root, std::span<const Buffer> known) {
    for (const Buffer& buffer : known) by_data_.emplace(buffer->data.get(), buffer);
    survey(root);
  }

  AccessRegions collect(const Stmt& root) {
    const auto* block = root.as<BlockNode>();
    if (!block) {
      visit(root);
      return {reads_.regions(), writes_.regions()};
    }
    if (block->init) visit(block->init);
    for (const auto& [buffer, box] : writes_.boxes) initialised_.insert(buffer.get());
    walk(block->body, [&](const BufferStoreNode* store) {
      if (initialised_.contains(store->buffer.get())) sums_[store->buffer.get()].push_back(store);
    });
    visit(block->body);
    std::erase_if(reads_.boxes, [&](auto& entry) {
      return initialised_.contains(entry.first.get()) && !read_elsewhere_.contains(entry.first.get());
    });
    return {reads_.regions(), writes_.regions()};
  }

 private:
  // Collects the allocations, views and writes inside, before anything is bounded.
  void survey(const Stmt& root) {
    auto appears = [&](const Buffer& buffer) { by_data_.try_emplace(buffer->data.get(), buffer); };
    auto allocated = [&](const Buffer& buffer) {
      inner_.insert(buffer.get());
      scope_.unstable.insert(buffer.get());
      by_data_[buffer->data.get()] = buffer;
    };
    auto block = [&](const BlockNode* block) {
      for (const Buffer& buffer : block->alloc_buffers) allocated(buffer);
      for (const MatchBufferRegion& match : block->match_buffers) {
        views_[match->buffer.get()] = match->source;
        by_data_[match->buffer->data.get()] = match->buffer;
        scope_.unstable.insert(match->buffer.get());
      }
      for (const BufferRegion& write : block->writes) scope_.unstable.insert(write->buffer.get());
    };
    walk(
        root, [&](const BlockNode* node) { block(node); },
        [&](const AllocBufferNode* node) { allocated(node->buffer); },
        [&](const DeclBufferNode* node) {
          declared_.insert(node->buffer.get());
          scope_.unstable.insert(node->buffer.get());
        },
        [&](const BufferLoadNode* node) {
          if (!declared_.contains(node->buffer.get()) && !views_.contains(node->buffer.get()))
            appears(node->buffer);
        },
        [&](const BufferStoreNode* node) {
          scope_.unstable.insert(node->buffer.get());
          if (!declared_.contains(node->buffer.get()) && !views_.contains(node->buffer.get()))
            appears(node->buffer);
        },
        [&](const BufferRegionNode* node) {
          if (!declared_.contains(node->buffer.get()) && !views_.contains(node->buffer.get()))
            appears(node->buffer);
        });
  }

  void visit(const ObjectRef& root) { visit(root.get()); }
  void visit(const Object* root) {
    walk(
        root,
        [&](const ForNode* loop) {
          scope_.add_loop(loop->loop_var.get(), loop->min, loop->extent);
          return true;
        },
        [&](const AttrStmtNode* attr) { return visit_attr(attr); },
        [&](const IfThenElseNode* branch) {
          visit(branch->condition);
          visit_guarded(branch->then_case);
          if (branch->else_case) visit_guarded(branch->else_case);
          return false;
        },
        [&](const LetStmtNode* let) { return bind(let->var, let->value); },
        [&](const LetNode* let) { return bind(let->var, let->value); },
        [&](const BlockRealizeNode* realize) { return visit_realize(realize); },
        [&](const BufferLoadNode* load) {
          if (continues_sum(load)) return true;
          touch(&reads_, load->buffer, box_of(load->buffer, load->indices));
          return true;
        },
        [&](const BufferStoreNode* store) {
          visit(store->value);
          for (const PrimExpr& index : store->indices) visit(index);
          if (store->predicate) visit(store->predicate);
          touch(&writes_, store->buffer, box_of(store->buffer, store->indices));
          return false;
        },
        [&](const AllocBufferNode* alloc) { return visit(alloc->body), false; },
        [&](const DeclBufferNode* decl) { return visit(decl->body), false; },
        [&](const tir::CallNode* call) { return visit_call(call); },
        [&](const tir::VarNode* var) {
          touch_all(var, true, true);
          return false;
        });
  }

  // True for Y[i] in Y[i] = Y[i] + x of a block whose init stores to Y; P[t - 1, k] in P[t, i] = P[t, i] + P[t - 1, k] is
  // what another instance has computed.
  bool continues_sum(const BufferLoadNode* load) {
    const auto found = sums_.find(load->buffer.get());
    if (found == sums_.end()) return false;
    arith::Analyzer analyzer;
    const auto is_place_of = [&](const BufferStoreNode* store) {
      return std::ranges::equal(load->indices, store->indices, [&](const PrimExpr& a, const PrimExpr& b) {
        return structural_equal(a, b) ||
               (a->dtype == b->dtype && a->dtype.is_scalar() && analyzer.can_prove_equal(a, b));
      });
    };
    if (std::ranges::any_of(found->second, is_place_of)) return true;
    read_elsewhere_.insert(load->buffer.get());
    return false;
  }

  bool visit_attr(const AttrStmtNode* attr) {
    if (const auto* thread = attr->node.as<IterVarNode>(); thread && attr->attr_key == "thread_extent")
      scope_.add_loop(thread->var.get(), make_const_int(attr->value->dtype, 0), attr->value);
    visit(attr->value);
    visit(attr->body);
    return false;
  }

  // Visits expressions that are evaluated only under a condition.
  void visit_guarded(const ObjectRef& root) {
    ++num_guards_;
    visit(root);
    --num_guards_;
  }

  bool bind(const tir::Var& var, const PrimExpr& value) {
    scope_.domains[var.get()] = value->dtype.is_integral() ? index_range(value, scope_) : std::nullopt;
    return true;
  }

  bool visit_realize(const BlockRealizeNode* realize) {
    for (const PrimExpr& value : realize->iter_values) visit(value);
    if (realize->predicate) visit(realize->predicate);
    const BlockNode* block = realize->block.get();
    for (size_t n = 0; n < block->iter_vars.size(); ++n)
      scope_.domains[block->iter_vars[n]->var.get()] = index_range(realize->iter_values[n], scope_);
    const bool is_guarded = realize->predicate && !is_one(realize->predicate);
    num_guards_ += is_guarded;
    for (const BufferRegion& region : block->reads) {
      const bool continues = std::ranges::any_of(
          block->writes, [&](const BufferRegion& write) { return structural_equal(region, write); });
      if (initialised_.contains(region->buffer.get()) && !continues)
        read_elsewhere_.insert(region->buffer.get());
      touch(&reads_, region->buffer, box_of(region));
    }
    for (const BufferRegion& region : block->writes) touch(&writes_, region->buffer, box_of(region));
    num_guards_ -= is_guarded;
    return false;
  }

  bool visit_call(const tir::CallNode* call) {
    const auto* op = call->op.as<OpNode>();
    if (!op) return true;
    if (op->name == "tir.prefetch") return false;  // a hint, which reads nothing
    if (op->name == "tir.if_then_else") {
      visit(call->args[0]);
      visit_guarded(call->args[1]);
      visit_guarded(call->args[2]);
      return false;
    }
    if (op->name == "tir.address_of") {
      if (const auto* load = call->args[0].as<BufferLoadNode>()) {
        touch(&reads_, load->buffer, whole_buffer(load->buffer));
        touch(&writes_, load->buffer, whole_buffer(load->buffer));
        for (const PrimExpr& index : load->indices) visit(index);
      }
      return false;
    }
    if (std::ranges::any_of(call->args, is_vector_address)) return visit_pointers(call);
    if (op->name != "tir.tvm_access_ptr" || call->args.size() != 5) return true;
    int64_t mask = 3;
    as_const_int(call->args[4], &mask);
    if (const auto* data = call->args[1].as<tir::VarNode>()) touch_all(data, mask & 1, mask & 2);
    visit(call->args[2]);
    visit(call->args[3]);
    return false;
  }

  static bool is_vector_address(const PrimExpr& arg) {
    const BufferLoadNode* load = tir::pointed_to(arg);
    return load && !load->dtype.is_scalar();
  }

  // An instruction of devices touches the vectors whose addresses it gets.
  bool visit_pointers(const tir::CallNode* call) {
    for (size_t n = 0; n < call->args.size(); ++n) {
      if (!is_vector_address(call->args[n])) {
        visit(call->args[n]);
        continue;
      }
      const BufferLoadNode* load = tir::pointed_to(call->args[n]);
      const tir::PointerUse use = tir::pointer_use(call, n);
      if (use.reads) touch(&reads_, load->buffer, box_of(load->buffer, load->indices));
      if (use.writes) touch(&writes_, load->buffer, box_of(load->buffer, load->indices));
      for (const PrimExpr& index : load->indices) visit(index);
    }
    return false;
  }

  // Marks everything behind a pointer as touched, because it is passed on.
  void touch_all(const tir::VarNode* data, bool is_read, bool is_written) {
    auto found = by_data_.find(data);
    if (found == by_data_.end()) return;
    if (is_read) touch(&reads_, found->second, whole_buffer(found->second));
    if (is_written) touch(&writes_, found->second, whole_buffer(found->second));
  }

  // Touches the buffer itself, or the buffer that it is a view of; buffers allocated inside do not count.
  void touch(Touched* touched, const Buffer& buffer, Box box) {
    if (inner_.contains(buffer.get())) return;
    if (declared_.contains(buffer.get())) {
      auto found = by_data_.find(buffer->data.get());
      if (found != by_data_.end()) touch(touched, found->second, whole_buffer(found->second));
      return;
    }
    auto view = views_.find(buffer.get());
    if (view == views_.end()) return touched->add(buffer, std::move(box));
    touch(touched, view->second->buffer, through_view(buffer, view->second, box));
  }

  // Translates a box of a view: element [i, j] of a view is element [min + i, min + j] of the region's last
  // dimensions if the extents agree.
  Box through_view(const Buffer& view, const BufferRegion& source, const Box& box) {
    Box region = box_of(source);
    if (view->shape.size() > region.size()) return region;
    const size_t leading = region.size() - view->shape.size();
    for (size_t dim = 0; dim < region.size(); ++dim) {
      const PrimExpr expected =
          dim < leading ? make_const_int(source->region[dim]->extent->dtype, 1) : view->shape[dim - leading];
      if (const_difference(expected, source->region[dim]->extent) != 0) return region;
    }
    for (size_t dim = 0; dim < box.size(); ++dim) {
      if (!starts_at_point(source->region[leading + dim])) continue;
      IndexRange& outer = region[leading + dim];
      outer = {outer.min + box[dim].min, box[dim].width};
    }
    return region;
  }
  bool starts_at_point(const Range& range) {
    const std::optional<IndexRange> min = index_range(range->min, scope_);
    return min && min->is_point();
  }

  // The range of `index` if it is also valid outside of the enclosing conditions: under a false condition,
  // elements of buffers may not exist.
  std::optional<IndexRange> place_of(const PrimExpr& index) {
    bool has_load = false;
    if (num_guards_ > 0) walk(index, [&](const BufferLoadNode*) { has_load = true; });
    return has_load ? std::nullopt : index_range(index, scope_);
  }
  Box box_of(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    Box box;
    for (size_t dim = 0; dim < indices.size(); ++dim)
      box.push_back(place_of(indices[dim]).value_or(whole_dimension(buffer, dim)));
    return box;
  }
  Box box_of(const BufferRegion& region) {
    Box box;
    for (size_t dim = 0; dim < region->region.size(); ++dim) {
      const Range& range = region->region[dim];
      const auto min = place_of(range->min), extent = place_of(range->extent);
      if (min && extent)
        box.push_back({min->min, min->width + (extent->max() - 1)});
      else
        box.push_back(whole_dimension(region->buffer, dim));
    }
    return box;
  }

  IndexScope scope_;
  std::unordered_map<const BufferNode*, std::vector<const BufferStoreNode*>> sums_;  // that init begins
  std::unordered_set<const BufferNode*> initialised_;          // by the init of the block
  std::unordered_set<const BufferNode*> read_elsewhere_;       // than where they are stored
  int num_guards_ = 0;                                         // number of enclosing conditions
  std::unordered_set<const BufferNode*> inner_, declared_;     // allocated, declared inside
  std::unordered_map<const BufferNode*, BufferRegion> views_;  // match_buffers inside
  std::unordered_map<const tir::VarNode*, Buffer> by_data_;    // the buffer that each pointer belongs to
  Touched reads_, writes_;
};

}  // namespace

AccessRegions access_regions(const Stmt& stmt, std::span<const Buffer> known) {
  return Collector(stmt, known).collect(stmt);
}

bool region_covers(const BufferRegion& outer, const BufferRegion& inner) {
  for (size_t dim = 0; dim < inner->region.size(); ++dim) {
    const Range &a = outer->region[dim], &b = inner->region[dim];
    const bool is_whole = is_zero(a->min) && const_difference(a->extent, outer->buffer->shape[dim]) == 0;
    if (is_whole) continue;
    const auto start = const_difference(a->min, b->min);
    const auto end = const_difference(b->min + b->extent, a->min + a->extent);
    if (!start || !end || *start < 0 || *end < 0) return false;
  }
  return true;
}

}  // namespace tilewright::analysis
