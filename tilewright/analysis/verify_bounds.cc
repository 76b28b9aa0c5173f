// Accesses that certainly leave their buffer: an element is shown that the program reaches and the buffer
// lacks, for every size where extents are open. What stands under a condition, in a branch or after an assert
// is trusted, and so is what cannot be evaluated.
#include "tilewright/analysis/open_corner.h"
#include "tilewright/analysis/trip_count.h"
#include "tilewright/analysis/verifier.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/index_text.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// What follows such a statement, or the next turn of a loop around it, may never be reached.
bool may_stop(const Stmt& stmt) {
  bool found = false;
  walk(
      stmt, [&](const AssertStmtNode*) { found = true; },
      [&](const CallNode* call) {
        for (std::string_view name : {"tir.ret", "tir.break_loop", "tir.continue_loop", "tir.raise_error"})
          found = found || is_call_of(call, name);
      });
  return found;
}

class BoundsCheck {
 public:
  void stmt(const Stmt& stmt);

 private:
  void loop(const Var& var, const PrimExpr& min, const PrimExpr& extent, const Stmt& body);
  void block(const BlockRealizeNode* realize);
  void expr(const PrimExpr& expr);
  void access(const Buffer& buffer, const std::vector<PrimExpr>& indices, const ObjectRef& where);
  std::optional<std::string> outside(const PrimExpr& index, const PrimExpr& extent) const;
  std::vector<RangedVar> loops_that_matter(const PrimExpr& condition) const;
  PrimExpr in_loops(const PrimExpr& expr) const { return values_.empty() ? expr : substitute(expr, values_); }

  std::vector<RangedVar> loops_;  // around, outermost first
  Substitution values_;           // of axes and let variables, by the loops
  PrimExpr assumption_;           // the predicates of the blocks around; null: none
};

void BoundsCheck::loop(const Var& var, const PrimExpr& min, const PrimExpr& extent, const Stmt& body) {
  expr(min);
  expr(extent);
  if (may_stop(body)) return;
  loops_.emplace_back(var, make_range(in_loops(min), in_loops(extent)));
  stmt(body);
  loops_.pop_back();
}

void BoundsCheck::block(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  for (const PrimExpr& value : realize->iter_values) expr(value);
  expr(realize->predicate);
  const PrimExpr outside = assumption_, predicate = in_loops(realize->predicate);
  if (!is_one(predicate)) assumption_ = outside ? logical_and(outside, predicate) : predicate;
  for (size_t n = 0; n < block->iter_vars.size(); ++n)
    values_[block->iter_vars[n]->var.get()] = in_loops(realize->iter_values[n]);
  stmt(block->body);
  for (const IterVar& axis : block->iter_vars) values_.erase(axis->var.get());
  assumption_ = outside;
}

void BoundsCheck::stmt(const Stmt& stmt) {
  if (const auto* list = stmt.as<SeqStmtNode>()) {
    for (const Stmt& item : list->seq) {
      this->stmt(item);
      if (may_stop(item)) return;
    }
  } else if (const auto* node = stmt.as<ForNode>()) {
    loop(node->loop_var, node->min, node->extent, node->body);
  } else if (const auto* node = stmt.as<BlockRealizeNode>()) {
    block(node);
  } else if (const auto* node = stmt.as<BufferStoreNode>()) {
    expr(node->value);
    for (const PrimExpr& index : node->indices) expr(index);
    if (!node->predicate) access(node->buffer, node->indices, stmt);
  } else if (const auto* node = stmt.as<IfThenElseNode>()) {
    expr(node->condition);
  } else if (const auto* node = stmt.as<WhileNode>()) {
    expr(node->condition);
  } else if (const auto* node = stmt.as<EvaluateNode>()) {
    expr(node->value);
  } else if (const auto* node = stmt.as<LetStmtNode>()) {
    expr(node->value);
    values_[node->var.get()] = in_loops(node->value);
    this->stmt(node->body);
    values_.erase(node->var.get());
  } else if (const auto* node = stmt.as<AttrStmtNode>()) {
    const auto* axis = node->node.as<IterVarNode>();
    if (axis && (node->attr_key == "thread_extent" || node->attr_key == "virtual_thread"))
      return loop(axis->var, make_const_int(axis->var->dtype, 0), node->value, node->body);
    this->stmt(node->body);
  } else if (const auto* node = stmt.as<AllocBufferNode>()) {
    this->stmt(node->body);
  } else if (const auto* node = stmt.as<DeclBufferNode>()) {
    this->stmt(node->body);
  }
}

// Loads that are read whenever `expr` is; an address may lie behind the end.
void BoundsCheck::expr(const PrimExpr& expr) {
  walk(
      expr, [&](const AndNode* node) { return this->expr(node->a), false; },
      [&](const OrNode* node) { return this->expr(node->a), false; },
      [&](const SelectNode* node) { return this->expr(node->condition), false; },
      [&](const LetNode* node) { return this->expr(node->value), false; },
      [&](const CallNode* call) {
        if (is_if_then_else(call)) this->expr(call->args[0]);
        return !is_if_then_else(call) && !is_call_of(call, "tir.address_of");
      },
      [&](const BufferLoadNode* load) {
        if (!load->predicate) access(load->buffer, load->indices, ObjectRef(load));
        return true;
      },
      [&](const BufferNode*) { return false; });
}

// Of the others only is known that they turn at least once.
std::vector<RangedVar> BoundsCheck::loops_that_matter(const PrimExpr& condition) const {
  std::vector<RangedVar> result;
  for (size_t n = 0; n < loops_.size(); ++n) {
    const auto& [var, range] = loops_[n];
    bool matters =
        !turns_at_least_once(range->extent) || uses(condition, var.get()) || uses(assumption_, var.get());
    for (size_t inner = n + 1; inner < loops_.size() && !matters; ++inner)
      matters = uses(loops_[inner].second->min, var.get()) || uses(loops_[inner].second->extent, var.get());
    if (matters) result.push_back(loops_[n]);
  }
  return result;
}

std::string value_at(const std::string& value, const std::string& where) {
  return where.empty() ? value : value + " at " + where;
}

// "15 at i = 15": an index that is outside of its extent; nothing if none is known.
std::optional<std::string> BoundsCheck::outside(const PrimExpr& index, const PrimExpr& extent) const {
  const bool is_open =
      !is<IntImmNode>(extent) || std::any_of(loops_.begin(), loops_.end(), [](const auto& loop) {
        return !is<IntImmNode>(loop.second->extent) || !is<IntImmNode>(loop.second->min);
      });
  if (const auto* count = extent.as<IntImmNode>()) {
    const PrimExpr end = make_const_int(index->dtype, count->value);
    const PrimExpr inside = logical_and(index >= make_const_int(index->dtype, 0), index < end);
    if (is_one(inside)) return std::nullopt;
    if (const auto corner = corner_against(inside, assumption_, loops_that_matter(inside)))
      return value_at(std::to_string(*evaluate_at(index, *corner)), values_text(*corner));
  }
  const auto corner =
      is_open ? open_corner_outside(index, extent, assumption_, loops_) : std::optional<OpenCorner>();
  if (!corner) return std::nullopt;
  return value_at(index_text(corner->index), corner->values);
}

void BoundsCheck::access(const Buffer& buffer, const std::vector<PrimExpr>& indices, const ObjectRef& where) {
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const PrimExpr& extent = buffer->shape[dim];
    if (!indices[dim]->dtype.is_scalar()) continue;
    const PrimExpr index = in_loops(indices[dim]);
    const std::optional<std::string> value = outside(index, in_loops(extent));
    if (!value) continue;
    const std::string shown = index_text(indices[dim]);
    const bool is_constant = is<IntImmNode>(indices[dim]);
    // a variable knows only where it was defined
    const bool has_place = indices[dim]->span && !is<VarNode>(indices[dim]);
    const ObjectRef place = has_place ? ObjectRef(indices[dim]) : where;
    UserError error =
        is_constant ? UserError(place, "dimension {} of buffer {} has extent {}, but its index is {}", dim,
                                buffer->name, index_text(extent), shown)
                    : UserError(place, "dimension {} of buffer {} has extent {}, but its index {} is {}", dim,
                                buffer->name, index_text(extent), shown, *value);
    const std::string last = index_text(arith::simplify(extent - 1));
    if (!is_zero(extent))
      error.help("indices are 0 to {}; guard the access with a condition, or shorten the loop", last);
    throw error;
  }
}

}  // namespace

void verify_bounds(const PrimFunc& func) { BoundsCheck().stmt(func->body); }

}  // namespace tilewright::analysis
