#include "tilewright/analysis/empty_reductions.h"

#include <algorithm>
#include <unordered_set>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

using namespace tir;
using Vars = std::unordered_set<const VarNode*>;

void add_vars(const PrimExpr& expr, Vars* vars) {
  walk(expr, [&](const VarNode* var) { vars->insert(var); });
}

// A condition that is true if some reduce axis of `block` has no values; null if none can be empty.
PrimExpr is_empty(const BlockNode* block) {
  arith::Analyzer analyzer;
  PrimExpr condition;
  for (const IterVar& axis : block->iter_vars) {
    if (axis->iter_type != IterType::kReduce || !axis->dom) continue;
    const PrimExpr& extent = axis->dom->extent;
    if (analyzer.can_prove(extent > 0)) continue;
    const PrimExpr none = extent <= 0;
    condition = condition ? logical_or(condition, none) : none;
  }
  return condition;
}

/// The loops around one block, and which of them iterate over spatial and reduce axes.
class Nest {
 public:
  // loops: the loops inside the scope of the block, outermost first
  Nest(const BlockRealizeNode* realize, const std::vector<const ForNode*>& loops) : realize_(realize) {
    Vars reduced;
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      const bool is_spatial = realize->block->iter_vars[n]->iter_type != IterType::kReduce;
      add_vars(realize->iter_values[n], is_spatial ? &kept_ : &reduced);
    }
    auto outermost = std::find_if(loops.begin(), loops.end(), [&](const ForNode* loop) {
      return reduced.contains(loop->loop_var.get());
    });
    loops_.assign(outermost, loops.end());
    // bounds of loops that stay may use other loops, which then stay too
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      const VarNode* var = (*loop)->loop_var.get();
      if (!kept_.contains(var)) {
        dropped_.insert(var);
        continue;
      }
      add_vars((*loop)->min, &kept_);
      add_vars((*loop)->extent, &kept_);
    }
  }

  /// The loop before which the init of an empty reduction is placed; null: before the block itself.
  const ForNode* place() const { return loops_.empty() ? nullptr : loops_[0]; }

  Stmt init(const PrimExpr& condition) const {
    const BlockNode* block = realize_->block.get();
    Substitution values;
    for (size_t n = 0; n < block->iter_vars.size(); ++n) {
      if (block->iter_vars[n]->iter_type != IterType::kReduce)
        values[block->iter_vars[n]->var.get()] = realize_->iter_values[n];
    }
    Stmt body = substitute(block->init, values);
    const PrimExpr guard = predicate();
    if (!is_one(guard)) body = IfThenElseNode::make(guard, body);
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (kept_.contains((*loop)->loop_var.get()))
        body = ForNode::make((*loop)->min, (*loop)->extent, (*loop)->loop_var, ForKind::kSerial,
                             std::string(), AttrMap{}, body);
    }
    return IfThenElseNode::make(condition, fresh_copy(body));
  }

 private:
  // The part of the block's predicate that does not involve the reduction.
  PrimExpr predicate() const {
    PrimExpr kept = bool_imm(true);
    std::vector<PrimExpr> terms{realize_->predicate};
    while (!terms.empty()) {
      const PrimExpr term = terms.back();
      terms.pop_back();
      if (const auto* both = term.as<AndNode>()) {
        terms.push_back(both->b);
        terms.push_back(both->a);
      } else if (!uses_any(term, [&](const VarNode* var) { return dropped_.contains(var); })) {
        kept = logical_and(kept, term);
      }
    }
    return kept;
  }

  const BlockRealizeNode* realize_;
  std::vector<const ForNode*> loops_;
  Vars kept_, dropped_;
};

}  // namespace

PrimFunc init_empty_reductions(const PrimFunc& func) {
  std::vector<const ForNode*> loops;                          // the loops of the current scope
  std::vector<std::pair<const ForNode*, Stmt>> before_loops;  // found inside, to be placed before the loop
  return rewrite(
      func,
      [&](auto& self, const SeqStmtNode* node) -> Stmt {
        const std::vector<Stmt> parts = self(node->seq);
        // in one sequence with the statements placed before
        return parts == node->seq ? Stmt(node) : seq(parts);
      },
      [&](auto& self, const ForNode* node) -> Stmt {
        loops.push_back(node);
        Stmt changed = self.children(node);
        loops.pop_back();
        std::vector<Stmt> parts;
        std::erase_if(before_loops, [&](auto& entry) {
          if (entry.first != node) return false;
          parts.push_back(std::move(entry.second));
          return true;
        });
        if (parts.empty()) return changed;
        parts.push_back(std::move(changed));
        return seq(std::move(parts));
      },
      [&](auto& self, const BlockRealizeNode* node) -> Stmt {
        // a view only exists inside its block
        const bool has_init = node->block->init && node->block->match_buffers.empty();
        const PrimExpr condition = has_init ? is_empty(node->block.get()) : PrimExpr();
        Stmt here;
        if (condition) {
          const Nest nest(node, loops);
          if (nest.place())
            before_loops.emplace_back(nest.place(), nest.init(condition));
          else
            here = nest.init(condition);
        }
        std::vector<const ForNode*> inner;
        std::swap(loops, inner);
        Stmt changed = self.children(node);
        std::swap(loops, inner);
        return here ? seq({here, changed}) : changed;
      });
}

}  // namespace tilewright::analysis
