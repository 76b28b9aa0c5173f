#include "tilewright/analysis/ordered_accesses.h"

#include <algorithm>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::analysis {
namespace {

bool has_view(const BlockNode* block, const Buffer& buffer) {
  return std::any_of(block->match_buffers.begin(), block->match_buffers.end(),
                     [&](const MatchBufferRegion& view) { return view->source->buffer == buffer; });
}

// True if the block itself, not one inside it, uses the buffer other than by loads and stores.
bool passes_pointer_on(const BlockNode* block, const Buffer& buffer) {
  bool found = has_view(block, buffer);
  walk(
      block->body, [&](const VarNode* var) { found |= var == buffer->data.get(); },
      [&](const CallNode* call) {
        const auto* op = call->op.as<OpNode>();
        if (!op || op->name != "tir.address_of" || call->args.empty()) return;
        const auto* load = call->args[0].as<BufferLoadNode>();
        found |= load && load->buffer == buffer;
      },
      [&](const BlockNode*) { return false; });
  return found;
}

class Collector {
 public:
  explicit Collector(const Buffer& buffer) : buffer_(buffer) {}
  std::vector<PlacedAccess> found;

  void visit(const Stmt& stmt) {
    if (!stmt) return;
    if (const auto* list = stmt.as<SeqStmtNode>()) {
      for (size_t n = 0; n < list->seq.size(); ++n) in(part(list, n), [&] { visit(list->seq[n]); });
    } else if (const auto* loop = stmt.as<ForNode>()) {
      visit_loop(loop, loop->loop_var, make_range(loop->min, loop->extent), loop->body);
    } else if (const auto* let = stmt.as<LetStmtNode>()) {
      in(part(let, 0), [&] { visit_expr(let->value); });
      define(let->var, let->value);
      in(part(let, 1), [&] { visit(let->body); });
    } else if (const auto* branch = stmt.as<IfThenElseNode>()) {
      visit_branch(branch);
    } else if (const auto* store = stmt.as<BufferStoreNode>()) {
      visit_store(store);
    } else if (const auto* realize = stmt.as<BlockRealizeNode>()) {
      visit_block(realize);
    } else {
      visit_other(stmt);
    }
  }

 private:
  template <class Inside>
  void in(Step step, Inside&& inside) {
    path_.push_back(std::move(step));
    inside();
    path_.pop_back();
  }
  static Step part(const Object* stmt, size_t n) { return {.stmt = stmt, .part = n}; }
  static Step guard(const Object* stmt, PrimExpr condition, bool is_start = false) {
    if (!can_be_followed(condition)) return perhaps(stmt);
    return {.stmt = stmt, .condition = std::move(condition), .is_start = is_start};
  }
  // A step with a condition about which nothing is known.
  static Step perhaps(const Object* stmt) {
    return {.stmt = stmt, .condition = make_var("perhaps", kBoolType)};
  }

  void define(const Var& var, const PrimExpr& value) { values_[var.get()] = substitute(value, values_); }

  void visit_loop(const Object* stmt, const Var& var, const Range& range, const Stmt& body) {
    in(part(stmt, 0), [&] {
      visit_expr(range->min);
      visit_expr(range->extent);
    });
    Range here = make_range(substitute(range->min, values_), substitute(range->extent, values_));
    const bool is_known = can_be_followed(here->min) && can_be_followed(here->extent);
    if (!is_known) here = make_range(make_var("first", var->dtype), make_var("count", var->dtype));
    in(part(stmt, 1), [&] {
      const Step iteration{.stmt = stmt, .var = var, .range = here};
      if (is_known) return in(iteration, [&] { visit(body); });
      in(perhaps(stmt), [&] { in(iteration, [&] { visit(body); }); });
    });
  }

  void visit_branch(const IfThenElseNode* branch) {
    in(part(branch, 0), [&] { visit_expr(branch->condition); });
    const PrimExpr condition = substitute(branch->condition, values_);
    in(part(branch, 1), [&] {
      in(guard(branch, condition, is_start(branch->condition)), [&] { visit(branch->then_case); });
      in(guard(branch, NotNode::make(condition)), [&] { visit(branch->else_case); });
    });
  }

  // True if `condition` is like vk == 0 and vl == 0, comparing enclosing reduce axes to their first values.
  bool is_start(const PrimExpr& condition) const {
    if (const auto* both = condition.as<AndNode>()) return is_start(both->a) && is_start(both->b);
    const auto* equal = condition.as<EQNode>();
    const auto* var = equal ? equal->a.as<VarNode>() : nullptr;
    const auto axis = reduce_axes_.find(var);
    return axis != reduce_axes_.end() && structural_equal(axis->second->dom->min, equal->b);
  }

  void visit_store(const BufferStoreNode* store) {
    in(part(store, 0), [&] {
      visit_expr(store->value);
      for (const PrimExpr& index : store->indices) visit_expr(index);
      visit_expr(store->predicate);
    });
    if (store->buffer != buffer_) return;
    in(part(store, 1), [&] {
      if (store->predicate)
        in(perhaps(store), [&] { access(true, store->indices); });
      else
        access(true, store->indices);
    });
  }

  void visit_block(const BlockRealizeNode* realize) {
    const BlockNode* block = realize->block.get();
    in(part(realize, 0), [&] {
      for (const PrimExpr& value : realize->iter_values) visit_expr(value);
      visit_expr(realize->predicate);
    });
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      const IterVar& axis = block->iter_vars[n];
      define(axis->var, realize->iter_values[n]);
      if (axis->iter_type == IterType::kReduce) reduce_axes_[axis->var.get()] = axis.get();
    }
    const PrimExpr predicate = substitute(realize->predicate, values_);
    in(part(realize, 1), [&] {
      in(guard(realize, predicate), [&] {
        if (!passes_pointer_on(block, buffer_)) return visit(block->body);
        in(part(block, 0), [&] { declared(block->reads, false); });
        in(part(block, 1), [&] { declared(block->writes, true); });
      });
    });
  }

  void declared(const std::vector<BufferRegion>& regions, bool is_write) {
    for (const BufferRegion& region : regions) {
      if (region->buffer != buffer_) continue;
      const size_t depth = path_.size();
      std::vector<PrimExpr> indices;
      for (const Range& range : region->region) {
        if (is_one(range->extent)) {
          indices.push_back(range->min);
          continue;
        }
        const Var place = make_var("place", range->min->dtype);
        path_.push_back({.stmt = region.get(),
                         .var = place,
                         .range = make_range(imm(0, place->dtype), substitute(range->extent, values_))});
        indices.push_back(range->min + place);
      }
      access(is_write, indices);
      path_.resize(depth);
    }
  }

  // Statements whose parts run in an order, or under conditions, that are not analysed.
  void visit_other(const Stmt& stmt) {
    if (const auto* attr = stmt.as<AttrStmtNode>(); attr && attr->attr_key == "thread_extent") {
      if (const auto* axis = attr->node.as<IterVarNode>())
        return visit_loop(attr, axis->var, make_range(imm(0, axis->var->dtype), attr->value), attr->body);
    }
    in(part(stmt.get(), 0), [&] {
      in(perhaps(stmt.get()), [&] {
        for_each_child(stmt.get(), this, [](void* self, const Object* child, bool) {
          static_cast<Collector*>(self)->visit_child(ObjectRef(child));
        });
      });
    });
  }
  void visit_child(const ObjectRef& child) {
    if (is<StmtNode>(child))
      visit(ref_as<StmtNode>(child));
    else
      visit_expr(child);
  }

  void visit_expr(const ObjectRef& expr) {
    walk(
        expr,
        [&](const BufferLoadNode* load) {
          if (load->buffer == buffer_) access(false, load->indices);
        },
        [&](const LetNode* let) { define(let->var, let->value); },
        [&](const VarNode* var) {
          if (var == buffer_->data.get()) access(false, std::vector<PrimExpr>(buffer_->shape.size()));
        });
  }

  void access(bool is_write, const std::vector<PrimExpr>& indices) {
    PlacedAccess here{is_write, {}, path_};
    for (const PrimExpr& index : indices) {
      const PrimExpr value = index ? PrimExpr(substitute(index, values_)) : PrimExpr();
      if (!value || !can_be_followed(value)) {
        here.indices.emplace_back();
      } else if (const auto* ramp = value.as<RampNode>()) {
        const Var lane = make_var("lane", ramp->base->dtype);
        here.path.push_back({.stmt = ramp,
                             .var = lane,
                             .range = make_range(imm(0, lane->dtype), imm(ramp->lanes, lane->dtype))});
        here.indices.push_back(ramp->base + lane * ramp->stride);
      } else {
        here.indices.push_back(value->dtype.is_scalar() ? value : PrimExpr());
      }
    }
    found.push_back(std::move(here));
  }

  Buffer buffer_;
  std::vector<Step> path_;
  Substitution values_;
  std::unordered_map<const VarNode*, const IterVarNode*> reduce_axes_;
};

}  // namespace

bool PlacedAccess::has_known_indices() const {
  return std::all_of(indices.begin(), indices.end(), [](const PrimExpr& index) { return bool(index); });
}

bool can_be_followed(const PrimExpr& expr) {
  bool can = true;
  walk(
      expr, [&](const BufferLoadNode*) { can = false; },
      [&](const CallNode* call) { can &= is_pure(call->op); }, [&](const LetNode*) { can = false; });
  return can;
}

std::vector<PlacedAccess> accesses_in_order(const Stmt& stmt, const Buffer& buffer) {
  Collector collector(buffer);
  collector.visit(stmt);
  return std::move(collector.found);
}

}  // namespace tilewright::analysis
