#include "tilewright/lower/common/whole_tiles.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/free_vars.h"
#include "tilewright/lower/common/num_nodes.h"
#include "tilewright/lower/common/smaller_tiles.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

// A guard, and the condition under which it holds in all iterations of the loops inside.
struct Guard {
  PrimExpr condition, whole;
  const VarNode* row = nullptr;  // the variable of the only loop that it depends on, if that is unrolled
};

class GuardsOfTile {
 public:
  explicit GuardsOfTile(const For& loop) : loop_(loop) {
    for (const Var& var : free_vars(loop->body)) outside_.insert(var.get());
    walk(loop->body, [&](const ForNode* inner) { take(inner); });
    walk(loop->body, [&](const IfThenElseNode* branch) {
      for (const PrimExpr& condition : arith::conjuncts(branch->condition)) add(condition);
    });
  }
  const std::vector<Guard>& guards() const { return guards_; }

  /// The rows of the tile if all guards are of them.
  std::optional<TileRows> rows() const {
    TileRows rows;
    for (const Guard& guard : guards_) {
      int64_t count;
      if (!guard.row || !as_const_int(tile_.at(guard.row)->extent, &count)) return std::nullopt;
      if (!rows.row) rows.row = guard.row, rows.count = count, rows.condition = guard.condition;
      const PrimExpr renamed = ir::substitute(guard.condition, {{guard.row, Var(rows.row)}});
      if (count != rows.count || !ir::structural_equal(renamed, rows.condition)) return std::nullopt;
      rows.vars.push_back(guard.row);
    }
    return rows.row && rows.count > 1 && are_stores_guarded() ? std::optional(rows) : std::nullopt;
  }

 private:
  void take(const ForNode* inner) {
    int64_t min, extent;
    const bool is_written_out =
        inner->for_kind == ForKind::kUnrolled || inner->for_kind == ForKind::kVectorized;
    if (is_written_out && as_const_int(inner->min, &min) && as_const_int(inner->extent, &extent) &&
        extent > 0) {
      tile_.emplace(inner->loop_var.get(), make_range(inner->min, inner->extent));
      if (inner->for_kind == ForKind::kUnrolled && min == 0) unrolled_.insert(inner->loop_var.get());
    }
  }

  void add(const PrimExpr& condition) {
    std::vector<const VarNode*> tile;
    bool is_ours = false, is_free = true;
    walk(condition, [&](const VarNode* var) {
      is_ours |= var == loop_->loop_var.get();
      if (tile_.contains(var))
        tile.push_back(var);
      else
        is_free &= outside_.contains(var);
    });
    walk(condition, [&](const BufferLoadNode*) { is_free = false; });
    walk(
        condition, [&](const FloorDivNode* node) { is_free &= cannot_be_zero(node->b); },
        [&](const FloorModNode* node) { is_free &= cannot_be_zero(node->b); });
    if (!is_ours || !is_free || tile.empty() || is_known(condition)) return;
    const bool is_of_row = tile.size() == 1 && unrolled_.contains(tile[0]);
    if (const PrimExpr whole = whole_condition(condition, tile))
      guards_.push_back({condition, whole, is_of_row ? tile[0] : nullptr});
  }

  // True if nothing is stored for rows that are not there.
  bool are_stores_guarded() const {
    bool are_guarded = true;
    walk(
        loop_->body, [&](const BufferStoreNode*) { are_guarded = false; },
        [&](const IfThenElseNode* branch) {
          const std::vector<PrimExpr> conditions = arith::conjuncts(branch->condition);
          const bool is_guard = std::any_of(conditions.begin(), conditions.end(),
                                            [&](const PrimExpr& condition) { return is_known(condition); });
          return !is_guard || branch->else_case;
        });
    return are_guarded;
  }

  // True if `divisor` is a constant, or a product of factors of the loop's extent: no iteration runs if one is 0.
  bool cannot_be_zero(const PrimExpr& divisor) const {
    if (is<IntImmNode>(divisor)) return !is_zero(divisor);
    if (const auto* product = divisor.as<MulNode>())
      return cannot_be_zero(product->a) && cannot_be_zero(product->b);
    return is_factor(divisor, loop_->extent);
  }
  static bool is_factor(const PrimExpr& factor, const PrimExpr& of) {
    const auto* product = of.as<MulNode>();
    return ir::structural_equal(factor, of) ||
           (product && (is_factor(factor, product->a) || is_factor(factor, product->b)));
  }

  bool is_known(const PrimExpr& condition) const {
    return std::any_of(guards_.begin(), guards_.end(),
                       [&](const Guard& guard) { return ir::structural_equal(guard.condition, condition); });
  }

  // The condition in that corner of the tile where it is hardest; null if no corner is.
  PrimExpr whole_condition(const PrimExpr& condition, const std::vector<const VarNode*>& tile) const {
    PrimExpr whole = condition;
    for (const VarNode* var : tile) {
      if (!uses(whole, var)) continue;
      const Range range = tile_.at(var);
      PrimExpr found;
      for (const PrimExpr& corner : {PrimExpr(range->min + range->extent - 1), range->min}) {
        const PrimExpr there = arith::simplify(ir::substitute(whole, {{var, corner}}));
        arith::Analyzer analyzer;
        analyzer.bind(Var(var), range);
        analyzer.require(there);
        if (!analyzer.can_prove(whole)) continue;
        found = there;
        break;
      }
      if (!found) return nullptr;
      whole = found;
    }
    return whole;
  }

  const For& loop_;
  std::unordered_set<const VarNode*> outside_;      // variables that the body uses and does not define
  std::unordered_map<const VarNode*, Range> tile_;  // of loops that are written out or vectors
  std::unordered_set<const VarNode*> unrolled_;     // those of them that are written out from 0 on
  std::vector<Guard> guards_;
};

// `body` where `guards` hold.
Stmt without_guards(const Stmt& body, const std::vector<Guard>& guards) {
  const auto holds = [&](const PrimExpr& condition) {
    return std::any_of(guards.begin(), guards.end(),
                       [&](const Guard& guard) { return ir::structural_equal(guard.condition, condition); });
  };
  return rewrite(body, [&](auto& self, const IfThenElseNode* node) -> Stmt {
    const IfThenElse branch = self.children(node);
    PrimExpr left = bool_imm(true);
    for (const PrimExpr& condition : arith::conjuncts(branch->condition)) {
      if (!holds(condition)) left = logical_and(left, condition);
    }
    if (is_one(left)) return branch->then_case;
    return with(branch, [&](IfThenElseNode& changed) { changed.condition = left; });
  });
}

}  // namespace

For branch_on_whole_tiles(const For& loop) {
  const GuardsOfTile found(loop);
  if (found.guards().empty() || num_nodes(loop->body) > kMostCopiedNodes) return loop;
  PrimExpr is_whole = bool_imm(true);
  std::vector<PrimExpr> wholes;
  for (const Guard& guard : found.guards()) {
    const auto is_same = [&](const PrimExpr& other) { return ir::structural_equal(other, guard.whole); };
    if (std::any_of(wholes.begin(), wholes.end(), is_same)) continue;
    wholes.push_back(guard.whole);
    is_whole = logical_and(is_whole, guard.whole);
  }
  const Stmt whole = without_guards(loop->body, found.guards());
  const std::optional<TileRows> rows = found.rows();
  const std::optional<Stmt> smaller = rows ? in_smaller_tiles(whole, *rows) : std::nullopt;
  return with(loop, [&](ForNode& changed) {
    changed.body = IfThenElseNode::make(is_whole, whole, smaller ? *smaller : fresh_copy(loop->body));
  });
}

}  // namespace tilewright::lower
