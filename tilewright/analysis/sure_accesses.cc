#include "tilewright/analysis/sure_accesses.h"

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// What follows such a statement, or the next iteration of a loop around it, may never be reached.
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

class Walk {
 public:
  explicit Walk(const SureAccessVisitor& visit) : visit_(visit) {}
  void stmt(const Stmt& stmt);

 private:
  void loop(const Var& var, const PrimExpr& min, const PrimExpr& extent, const Stmt& body);
  void block(const BlockRealizeNode* realize);
  void init(const BlockRealizeNode* realize);
  void expr(const PrimExpr& expr);
  void access(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Span& where);
  PrimExpr in_loops(const PrimExpr& expr) const { return values_.empty() ? expr : substitute(expr, values_); }

  const SureAccessVisitor& visit_;
  std::vector<RangedVar> loops_;  // around, outermost first
  Substitution values_;           // of axes and let variables, by the loops
  PrimExpr assumption_;           // the predicates of the blocks around; null: none
};

void Walk::loop(const Var& var, const PrimExpr& min, const PrimExpr& extent, const Stmt& body) {
  expr(min);
  expr(extent);
  if (may_stop(body)) return;
  loops_.emplace_back(var, make_range(in_loops(min), in_loops(extent)));
  stmt(body);
  loops_.pop_back();
}

void Walk::block(const BlockRealizeNode* realize) {
  const BlockNode* block = realize->block.get();
  for (const PrimExpr& value : realize->iter_values) expr(value);
  expr(realize->predicate);
  const PrimExpr outside = assumption_, predicate = in_loops(realize->predicate);
  if (!is_one(predicate)) assumption_ = outside ? logical_and(outside, predicate) : predicate;
  for (size_t n = 0; n < block->iter_vars.size(); ++n)
    values_[block->iter_vars[n]->var.get()] = in_loops(realize->iter_values[n]);
  stmt(block->body);
  if (block->init) init(realize);
  for (const IterVar& axis : block->iter_vars) values_.erase(axis->var.get());
  assumption_ = outside;
}

// It runs once for the spatial axes, also if there is nothing to reduce.
void Walk::init(const BlockRealizeNode* realize) {
  const std::vector<IterVar>& axes = realize->block->iter_vars;
  const auto is_used_by = [&](const RangedVar& loop, bool is_spatial) {
    for (size_t n = 0; n < axes.size(); ++n) {
      if ((axes[n]->iter_type == IterType::kSpatial) == is_spatial &&
          uses(in_loops(realize->iter_values[n]), loop.first.get()))
        return true;
    }
    return false;
  };
  const std::vector<RangedVar> all = loops_;
  std::erase_if(loops_,
                [&](const RangedVar& loop) { return is_used_by(loop, false) && !is_used_by(loop, true); });
  stmt(realize->block->init);
  loops_ = all;
}

void Walk::stmt(const Stmt& stmt) {
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
    if (!node->predicate) access(node->buffer, node->indices, stmt->span);
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
void Walk::expr(const PrimExpr& expr) {
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
        if (!load->predicate) access(load->buffer, load->indices, load->span);
        return true;
      },
      [&](const BufferNode*) { return false; });
}

void Walk::access(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Span& where) {
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (!indices[dim]->dtype.is_scalar()) continue;
    visit_({buffer, dim, indices[dim], in_loops(indices[dim]), in_loops(buffer->shape[dim]), where, loops_,
            assumption_});
  }
}

}  // namespace

Span SureAccess::place() const {
  // a variable knows only where it was defined
  return written->span && !is<VarNode>(written) ? written->span : where;
}

void each_sure_access(const Stmt& stmt, const SureAccessVisitor& visit) { Walk(visit).stmt(stmt); }

}  // namespace tilewright::analysis
