#include "tilewright/lower/common/open_rows.h"

#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/lower/common/num_nodes.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

// Tiles of fewer rows than this are written out, unless their nodes together are more.
constexpr int64_t kMostRows = 16;
constexpr int64_t kMaxNodes = 4000;

// loop_var * rows + row < bound, for all rows of a tile.
struct Guards {
  int64_t rows = 0;
  PrimExpr bound;
  std::vector<std::pair<PrimExpr, PrimExpr>> found;  // the condition, its row
  bool are_copies = true;                            // rows are iterations of unrolled loops
  bool is_known = true;                              // all are of one form
};

class GuardFinder {
 public:
  GuardFinder(const For& loop, arith::Analyzer& analyzer) : loop_(loop), analyzer_(analyzer) {}
  Guards run() {
    visit(loop_->body.get());
    return std::move(guards_);
  }

 private:
  void visit(const Object* node) {
    const ObjectRef ref(node);
    const auto* inner = ref.as<ForNode>();
    if (inner) {
      domains_[inner->loop_var.get()] = {inner->min, analyzer_.simplify(inner->min + inner->extent - 1)};
      if (inner->for_kind != ForKind::kUnrolled) others_.push_back(inner->loop_var);
    }
    if (const auto* branch = ref.as<IfThenElseNode>()) {
      for (const PrimExpr& condition : arith::conjuncts(branch->condition)) take(condition);
    }
    for_each_child(node, this, [](void* self, const Object* child, bool is_leaf_use) {
      if (!is_leaf_use) static_cast<GuardFinder*>(self)->visit(child);
    });
    if (!inner) return;
    domains_.erase(inner->loop_var.get());
    if (inner->for_kind != ForKind::kUnrolled) others_.pop_back();
  }

  void take(const PrimExpr& condition) {
    const auto* less = condition.as<LTNode>();
    const VarNode* tile = loop_->loop_var.get();
    const auto changes = [&](const VarNode* var) { return var == tile || domains_.contains(var); };
    if (!less || !uses(less->a, tile) || uses_any(less->b, changes)) return;
    const PrimExpr row = analyzer_.simplify(substitute(less->a, {{tile, imm(0, loop_->loop_var->dtype)}})),
                   first = analyzer_.simplify(less->a - row);
    int64_t rows = 0, least = 0, most = 0;
    if (!as_const_int(analyzer_.simplify(substitute(first, {{tile, imm(1, loop_->loop_var->dtype)}})),
                      &rows) ||
        rows < 2 || !analyzer_.can_prove_equal(first, loop_->loop_var * rows))
      return;
    const arith::Interval range = arith::eval_interval(row, domains_, analyzer_);
    if (!range.is_bounded() || !as_const_int(range.min, &least) || !as_const_int(range.max, &most) ||
        least != 0 || most != rows - 1)
      return;
    if (guards_.found.empty()) guards_.rows = rows, guards_.bound = less->b;
    guards_.is_known &= guards_.rows == rows && structural_equal(guards_.bound, less->b);
    guards_.are_copies &= !uses_any(row, others_);
    guards_.found.emplace_back(condition, row);
  }

  const For& loop_;
  arith::Analyzer& analyzer_;
  arith::Domains domains_;
  std::vector<Var> others_;  // of loops inside that are not unrolled
  Guards guards_;
};

// `body` with row < num_rows in the place of each guard; without them if there is no number.
Stmt with_rows(const Stmt& body, const Guards& guards, const PrimExpr& num_rows) {
  const auto row_of = [&](const PrimExpr& condition) -> const PrimExpr* {
    for (const auto& [guard, row] : guards.found) {
      if (guard == condition) return &row;
    }
    return nullptr;
  };
  return ir::rewrite(body, [&](auto& self, const IfThenElseNode* node) -> Stmt {
    PrimExpr all;
    bool is_changed = false;
    for (const PrimExpr& condition : arith::conjuncts(node->condition)) {
      const PrimExpr* row = row_of(condition);
      is_changed |= row != nullptr;
      if (row && !num_rows) continue;
      const PrimExpr kept = row ? *row < cast((*row)->dtype, num_rows) : condition;
      all = all ? logical_and(all, kept) : kept;
    }
    if (!is_changed) return self.children(node);
    if (!all) return self(node->then_case);
    return IfThenElseNode::make(all, self(node->then_case), node->else_case ? self(node->else_case) : Stmt());
  });
}

}  // namespace

Stmt split_open_rows(const For& loop) {
  arith::Analyzer analyzer;
  if (!is_zero(loop->min)) return loop;
  const Guards guards = GuardFinder(loop, analyzer).run();
  const DataType dtype = loop->loop_var->dtype;
  if (guards.found.empty() || !guards.is_known || num_nodes(loop->body) > kMaxNodes ||
      !analyzer.can_prove_equal(loop->extent, floordiv(guards.bound + (guards.rows - 1), guards.rows)))
    return loop;
  const PrimExpr num_whole = cast(dtype, analyzer.simplify(floordiv(guards.bound, guards.rows)));
  const Var rest = make_var("rest", dtype);
  const auto last = [&](const PrimExpr& num_rows) {
    return fresh_copy(with_rows(loop->body, guards, num_rows), {{loop->loop_var.get(), num_whole}});
  };
  Stmt tail;
  if (guards.are_copies && guards.rows <= kMostRows &&
      num_nodes(loop->body) * (guards.rows - 1) <= kMaxNodes) {
    for (int64_t rows = guards.rows - 1; rows > 0; --rows)
      tail = IfThenElseNode::make(equal(rest, imm(rows, dtype)), last(imm(rows, dtype)), tail);
  } else {
    tail = IfThenElseNode::make(PrimExpr(rest) > 0, last(rest), Stmt());
  }
  const PrimExpr num_rest = cast(dtype, analyzer.simplify(floormod(guards.bound, guards.rows)));
  tail = LetStmtNode::make(num_rest, rest, tail);
  const Stmt whole = with_rows(loop->body, guards, nullptr);
  if (loop->for_kind == ForKind::kParallel)
    return with(loop, [&](ForNode& changed) {
      changed.body = IfThenElseNode::make(PrimExpr(loop->loop_var) < num_whole, whole, tail);
    });
  return seq({with(loop, [&](ForNode& changed) { changed.body = whole, changed.extent = num_whole; }), tail});
}

}  // namespace tilewright::lower
