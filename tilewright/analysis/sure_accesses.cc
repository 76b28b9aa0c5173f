#include "tilewright/analysis/sure_accesses.h"

#include "tilewright/arith/expr_util.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// True if `stmt` may end early; the statements after it, and the next iterations of loops around it, may then
// not be reached.
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

// Lane `n` of a vector; null if parts of it are not arithmetic on ramps, or if it is scalable.
PrimExpr lane_of(const PrimExpr& vector, const PrimExpr& n) {
  if (vector->dtype.is_scalar()) return vector;
  if (vector->dtype.lanes & DataType::kScalable) return nullptr;
  if (const auto* node = vector.as<BroadcastNode>()) return lane_of(node->value, n);
  if (const auto* node = vector.as<RampNode>())
    return node->base->dtype.is_scalar() ? node->base + node->stride * tir::cast(node->stride->dtype, n)
                                         : PrimExpr();
  if (const auto* node = vector.as<CastNode>()) {
    const PrimExpr value = lane_of(node->value, n);
    return value ? tir::cast(node->dtype.element(), value) : value;
  }
  const auto* op = vector.as<BinaryOpNode>();
  const PrimExpr a = op ? lane_of(op->a, n) : nullptr, b = a ? lane_of(op->b, n) : nullptr;
  return b ? binary(op->kind, a, b) : b;
}

class Walk {
 public:
  explicit Walk(const SureVisitor& visitor) : visitor_(visitor) {}
  void stmt(const Stmt& stmt);

 private:
  void loop(const Var& var, const PrimExpr& min, const PrimExpr& extent, const Stmt& body);
  void block(const BlockRealizeNode* realize);
  void init(const BlockRealizeNode* realize);
  void expr(const PrimExpr& expr);
  void access(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Span& where);
  bool count_elements(const std::vector<PrimExpr>& indices, SureAccess* access) const;
  void address(const BufferLoadNode* load);
  void region(const MatchBufferRegion& view, const Span& where);
  void memory(const Buffer& buffer, const Span& where);
  void divisions(const PrimExpr& index, const Span& where);
  PrimExpr in_loops(const PrimExpr& expr) const { return values_.empty() ? expr : substitute(expr, values_); }

  const SureVisitor& visitor_;
  std::vector<RangedVar> loops_;  // enclosing loops, outermost first
  Substitution values_;           // of axes and let variables, in terms of loop variables
  PrimExpr assumption_;           // the predicates of the enclosing blocks; null: none
};

void Walk::loop(const Var& var, const PrimExpr& min, const PrimExpr& extent, const Stmt& body) {
  expr(min);
  expr(extent);
  divisions(min, min->span);
  divisions(extent, extent->span);
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
  for (const Buffer& buffer : block->alloc_buffers) memory(buffer, block->span);
  for (const MatchBufferRegion& view : block->match_buffers) region(view, block->span);
  stmt(block->body);
  if (block->init) init(realize);
  for (const IterVar& axis : block->iter_vars) values_.erase(axis->var.get());
  assumption_ = outside;
}

// The init runs once per value of the spatial axes, also if the reduction is empty.
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
  by_kind(
      stmt,
      [&](const SeqStmtNode* list) {
        for (const Stmt& item : list->seq) {
          this->stmt(item);
          if (may_stop(item)) return;
        }
      },
      [&](const ForNode* node) { loop(node->loop_var, node->min, node->extent, node->body); },
      [&](const BlockRealizeNode* node) { block(node); },
      [&](const BufferStoreNode* node) {
        expr(node->value);
        for (const PrimExpr& index : node->indices) expr(index);
        if (!node->predicate) access(node->buffer, node->indices, stmt->span);
      },
      [&](const LetStmtNode* node) {
        expr(node->value);
        values_[node->var.get()] = in_loops(node->value);
        this->stmt(node->body);
        values_.erase(node->var.get());
      },
      [&](const AttrStmtNode* node) {
        const auto* axis = node->node.as<IterVarNode>();
        if (axis && (node->attr_key == "thread_extent" || node->attr_key == "virtual_thread"))
          return loop(axis->var, make_const_int(axis->var->dtype, 0), node->value, node->body);
        this->stmt(node->body);
      },
      [&](const AllocBufferNode* node) {
        memory(node->buffer, stmt->span);
        this->stmt(node->body);
      },
      [&](const DeclBufferNode* node) {
        memory(node->buffer, stmt->span);
        this->stmt(node->body);
      },
      [](const AssertStmtNode*) {},  // what its condition reads is looked at where the assertion runs
      [&](const auto*) {
        const bool runs_all = runs_inner(stmt) == Runs::kOnce;
        for_each_part(
            stmt, [&](const PrimExpr& part) { expr(part); },
            [&](const Stmt& inner) {
              if (runs_all) this->stmt(inner);
            });
      });
}

// Visits the loads that are executed whenever `expr` is; an address_of may point behind the end.
void Walk::expr(const PrimExpr& expr) {
  walk(
      expr, [&](const AndNode* node) { return this->expr(node->a), false; },
      [&](const OrNode* node) { return this->expr(node->a), false; },
      [&](const SelectNode* node) { return this->expr(node->condition), false; },
      [&](const LetNode* node) { return this->expr(node->value), false; },
      [&](const CallNode* call) {
        if (is_if_then_else(call)) this->expr(call->args[0]);
        if (is_call_of(call, "tir.address_of")) address(call->args[0].as<BufferLoadNode>());
        return !is_if_then_else(call) && !is_call_of(call, "tir.address_of");
      },
      [&](const BufferLoadNode* load) {
        if (!load->predicate) access(load->buffer, load->indices, load->span);
        return true;
      },
      [&](const BufferNode*) { return false; });
}

void Walk::address(const BufferLoadNode* load) {
  if (!load) return;
  for (const PrimExpr& index : load->indices) expr(index), divisions(index, load->span);
}

void Walk::access(const Buffer& buffer, const std::vector<PrimExpr>& indices, const Span& where) {
  const Var lane = make_var("lane", kInt32);
  std::vector<PrimExpr> in_lane;
  in_lane.reserve(indices.size());
  for (const PrimExpr& index : indices) in_lane.push_back(lane_of(index, lane));
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const int lanes = indices[dim]->dtype.lanes;
    if (!in_lane[dim]) continue;
    if (lanes > 1) loops_.emplace_back(lane, make_range(imm(0), imm(lanes)));
    divisions(in_lane[dim], where);
    SureAccess access{{loops_, assumption_},        buffer, dim,     indices[dim], in_loops(in_lane[dim]),
                      in_loops(buffer->shape[dim]), where,  nullptr, nullptr};
    if (lanes == 1 || indices.size() == 1 || count_elements(in_lane, &access)) visitor_.access(access);
    if (lanes > 1) loops_.pop_back();
  }
}

// Sets the element counts; returns false if they are unknown.
bool Walk::count_elements(const std::vector<PrimExpr>& indices, SureAccess* access) const {
  if (!access->buffer->strides.empty()) return false;
  access->element = access->num_elements = imm(0, kInt64);
  PrimExpr row = imm(1, kInt64);
  for (size_t dim = indices.size(); dim-- > 0; row = access->num_elements) {
    if (!indices[dim]) return false;
    access->element = access->element + in_loops(indices[dim]) * row;
    access->num_elements = row * in_loops(access->buffer->shape[dim]);
  }
  return true;
}

void Walk::region(const MatchBufferRegion& view, const Span& where) {
  const std::vector<Range>& ranges = view->source->region;
  const size_t num_leading = ranges.size() - view->buffer->shape.size();
  for (size_t dim = 0; dim < ranges.size(); ++dim) {
    const PrimExpr min = in_loops(ranges[dim]->min), size = in_loops(ranges[dim]->extent);
    divisions(min, where);
    divisions(size, where);
    if (visitor_.region)
      visitor_.region({{loops_, assumption_},
                       view->source,
                       dim,
                       min,
                       size,
                       in_loops(view->source->buffer->shape[dim]),
                       where});
    const auto* var = dim < num_leading ? nullptr : view->buffer->shape[dim - num_leading].as<VarNode>();
    if (var) values_.emplace(var, size);
  }
}

void Walk::memory(const Buffer& buffer, const Span& where) {
  for (const PrimExpr& extent : buffer->shape) divisions(extent, where);
  for (const PrimExpr& stride : buffer->strides) divisions(stride, where);
  if (buffer->elem_offset) divisions(buffer->elem_offset, where);
}

void Walk::divisions(const PrimExpr& index, const Span& where) {
  if (!visitor_.division) return;
  const PrimExpr by_loops = in_loops(index);
  for (const BinaryOpNode* division : arith::sure_divisions(by_loops))
    visitor_.division({{loops_, assumption_}, division, division->span ? division->span : where});
}

}  // namespace

Span SureAccess::place() const {
  // a variable only has the span of its definition
  return written->span && !is<VarNode>(written) ? written->span : where;
}

void each_sure_access(const Stmt& stmt, const SureVisitor& visitor) { Walk(visitor).stmt(stmt); }

}  // namespace tilewright::analysis
