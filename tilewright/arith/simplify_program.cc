// Simplifies whole programs: every expression under its enclosing loops, axes, lets and conditions.
#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/expr_util.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::arith {
namespace {

class Simplifier {
 public:
  explicit Simplifier(Analyzer& analyzer) : analyzer_(analyzer) {}

  Stmt stmt(const Stmt& stmt) {
    return by_kind(
        stmt, [&](const ForNode* node) { return loop(For(node)); },
        [&](const IfThenElseNode* node) { return branch(IfThenElse(node)); },
        [&](const SeqStmtNode* node) { return sequence(SeqStmt(node)); },
        [&](const LetStmtNode* node) { return let(LetStmt(node)); },
        [&](const AttrStmtNode* node) { return attribute(AttrStmt(node)); },
        [&](const BlockRealizeNode* node) { return realize(BlockRealize(node)); },
        [&](const BlockNode* node) { return block(Block(node)); },
        [&](const auto*) {
          return with_parts(
              stmt, [&](const PrimExpr& expr) { return analyzer_.simplify(expr); },
              [&](const Stmt& inner) { return this->stmt(inner); });
        });
  }

 private:
  bool update(PrimExpr* expr) {
    if (!*expr) return false;
    PrimExpr simple = analyzer_.simplify(*expr);
    if (simple == *expr) return false;
    *expr = std::move(simple);
    return true;
  }
  bool update(std::vector<PrimExpr>* exprs) {
    bool is_changed = false;
    for (PrimExpr& expr : *exprs) is_changed |= update(&expr);
    return is_changed;
  }
  bool update(Range* range) {
    if (!*range) return false;
    PrimExpr min = (*range)->min, extent = (*range)->extent;
    const bool is_changed = static_cast<int>(update(&min)) | static_cast<int>(update(&extent));
    if (is_changed) *range = RangeNode::make(min, extent);
    return is_changed;
  }
  bool update(std::vector<BufferRegion>* regions) {
    bool is_changed = false;
    for (BufferRegion& region : *regions) {
      std::vector<Range> ranges = region->region;
      bool is_new = false;
      for (Range& range : ranges) is_new |= update(&range);
      if (is_new) region = BufferRegionNode::make(region->buffer, std::move(ranges));
      is_changed |= is_new;
    }
    return is_changed;
  }
  bool update(Stmt* child) {
    if (!*child) return false;
    Stmt now = stmt(*child);
    if (now == *child) return false;
    *child = std::move(now);
    return true;
  }

  // Assumes the conjuncts of a condition that stay true while statements run.
  void assume_stable(const PrimExpr& condition) {
    if (const auto* both = condition.as<AndNode>()) {
      assume_stable(both->a);
      return assume_stable(both->b);
    }
    if (!reads_memory(condition)) analyzer_.require(condition);
  }

  Stmt loop(const For& node) {
    PrimExpr min = node->min, extent = node->extent;
    bool is_changed = update(&min);
    is_changed |= update(&extent);
    const auto* count = extent.as<IntImmNode>();
    if (count && count->value <= 0) return EvaluateNode::make(imm(0));
    Stmt body = node->body;
    {
      auto scope = analyzer_.enter();
      if (!reads_memory(min) && !reads_memory(extent))
        analyzer_.bind(node->loop_var, make_range(min, extent));
      is_changed |= update(&body);
    }
    if (!is_changed) return node;
    return with(node, [&](ForNode& n) { n.min = min, n.extent = extent, n.body = body; });
  }

  Stmt branch(const IfThenElse& node) {
    PrimExpr condition = node->condition;
    bool is_changed = update(&condition);
    Stmt then_case = node->then_case, else_case = node->else_case;
    if (const auto* known = condition.as<IntImmNode>()) {
      if (known->value) return stmt(then_case);
      return else_case ? stmt(else_case) : Stmt(EvaluateNode::make(imm(0)));
    }
    {
      auto scope = analyzer_.enter();
      assume_stable(condition);
      is_changed |= update(&then_case);
    }
    if (else_case) {
      auto scope = analyzer_.enter();
      assume_stable(logical_not(condition));
      is_changed |= update(&else_case);
    }
    if (!is_changed) return node;
    return with(node, [&](IfThenElseNode& n) {
      n.condition = condition, n.then_case = then_case, n.else_case = else_case;
    });
  }

  // An assertion holds in the statements that follow it.
  Stmt sequence(const SeqStmt& node) {
    auto scope = analyzer_.enter();
    std::vector<Stmt> items = node->seq;
    bool is_changed = false;
    for (Stmt& item : items) {
      is_changed |= update(&item);
      if (const auto* assertion = item.as<AssertStmtNode>()) assume_stable(assertion->condition);
    }
    return is_changed ? seq(std::move(items)) : node;
  }

  Stmt let(const LetStmt& node) {
    PrimExpr value = node->value;
    bool is_changed = update(&value);
    if (is<IntImmNode>(value) || is<VarNode>(value))
      return stmt(substitute(node->body, {{node->var.get(), value}}));
    Stmt body = node->body;
    {
      auto scope = analyzer_.enter();
      if (value->dtype == node->var->dtype && !reads_memory(value) && value->dtype.is_int() &&
          value->dtype.is_scalar())
        analyzer_.require(equal(node->var, value));
      is_changed |= update(&body);
    }
    if (!is_changed) return node;
    return with(node, [&](LetStmtNode& n) { n.value = value, n.body = body; });
  }

  Stmt attribute(const AttrStmt& node) {
    PrimExpr value = node->value;
    bool is_changed = update(&value);
    Stmt body = node->body;
    auto scope = analyzer_.enter();
    const auto* axis = node->node.as<IterVarNode>();
    const bool is_range = node->attr_key == "thread_extent" || node->attr_key == "virtual_thread";
    if (axis && is_range && !reads_memory(value))
      analyzer_.bind(axis->var, make_range(make_const_int(value->dtype, 0), value));
    is_changed |= update(&body);
    if (!is_changed) return node;
    return with(node, [&](AttrStmtNode& n) { n.value = value, n.body = body; });
  }

  Stmt realize(const BlockRealize& node) {
    std::vector<PrimExpr> values = node->iter_values;
    bool is_changed = update(&values);
    PrimExpr predicate = node->predicate;
    is_changed |= update(&predicate);
    auto scope = analyzer_.enter();
    if (predicate) assume_stable(predicate);
    bind_axes(node->block);
    for (size_t n = 0; n < values.size(); ++n) {
      const IterVar& axis = node->block->iter_vars[n];
      if (is_unit(axis) || reads_memory(values[n]) || values[n]->dtype != axis->var->dtype) continue;
      if (!is<IntImmNode>(values[n])) analyzer_.require(equal(axis->var, values[n]));
    }
    Stmt inner = block_body(node->block);
    is_changed |= inner != node->block;
    if (!is_changed) return node;
    return with(node, [&](BlockRealizeNode& n) {
      n.iter_values = values, n.predicate = predicate, n.block = ref_as<BlockNode>(inner);
    });
  }

  // An axis of extent 1 keeps its name: schedules refer to it.
  static bool is_unit(const IterVar& axis) { return !axis->dom || is_one(axis->dom->extent); }
  void bind_axes(const Block& block) {
    for (const IterVar& axis : block->iter_vars) {
      if (!is_unit(axis)) analyzer_.bind(axis->var, axis->dom);
    }
  }

  Stmt block(const Block& node) {
    auto scope = analyzer_.enter();
    bind_axes(node);
    return block_body(node);
  }

  Stmt block_body(const Block& node) {
    std::vector<BufferRegion> reads = node->reads, writes = node->writes;
    bool is_changed = update(&reads);
    is_changed |= update(&writes);
    Stmt init = node->init, body = node->body;
    is_changed |= update(&init);
    is_changed |= update(&body);
    if (!is_changed) return node;
    return with(node,
                [&](BlockNode& n) { n.reads = reads, n.writes = writes, n.init = init, n.body = body; });
  }

  Analyzer& analyzer_;
};

}  // namespace

Stmt simplify(const Stmt& stmt, Analyzer& analyzer) {
  auto scope = analyzer.enter();
  return Simplifier(analyzer).stmt(stmt);
}

Stmt simplify(const Stmt& stmt) {
  Analyzer analyzer;
  return simplify(stmt, analyzer);
}

PrimFunc simplify(const PrimFunc& func) {
  Analyzer analyzer;
  for (const Buffer& buffer : func->buffers) {
    if (!buffer) continue;
    for (const PrimExpr& extent : buffer->shape) {
      if (!is<IntImmNode>(extent)) analyzer.require(extent >= 0);
    }
  }
  Stmt body = simplify(func->body, analyzer);
  return body == func->body ? func : with(func, [&](PrimFuncNode& n) { n.body = body; });
}

}  // namespace tilewright::arith
