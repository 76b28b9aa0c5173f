// Common subexpressions: values that a statement computes several times are computed once.
//   A[x * 8 + y] = B[x * 8 + y]  ->  cse_var_1 = x * 8 + y; A[cse_var_1] = B[cse_var_1]
// Handles arithmetic on scalar variables and constants, without loads and calls, in functions without blocks.
// A value is computed before the smallest statement around all its uses, if that statement surely executes
// one of them.
#include <array>
#include <cstring>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/analysis/trip_count.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::lower {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// All equal expressions: one value of a function.
struct Value {
  PrimExpr expr;
  std::vector<size_t> operands;
  size_t num_uses = 0;              // in the program text
  std::vector<const Object*> path;  // from the body of the function to the smallest statement around all uses
  size_t sure_from = kNone;         // once this many statements of the path are reached, a use surely runs
  Var name;                         // set if it is computed once

  bool has_place() const { return !operands.empty() && sure_from < path.size(); }
};

class Values {
 public:
  explicit Values(const Stmt& body) {
    visit(body, 0);
    choose();
  }

  /// True if the same statement object occurs twice: a value named in one place would then also be named in
  /// the other.
  bool has_shared_statements = false;

  Var name_of(const PrimExprNode* expr) const {
    const auto known = ids_.find(expr);
    return known == ids_.end() ? Var() : values_[known->second].name;
  }
  /// The values that are computed before `stmt`; a value comes before the values that contain it.
  std::vector<const Value*> computed_before(const Object* stmt) const {
    std::vector<const Value*> found;
    for (const Value& value : values_) {
      if (value.name && value.path.back() == stmt) found.push_back(&value);
    }
    return found;
  }
  bool has_names() const { return has_names_; }

 private:
  // The number of the value, or kNone if it is not arithmetic.  Operands have smaller numbers.
  size_t number(const PrimExprNode* expr) {
    if (const auto known = ids_.find(expr); known != ids_.end()) return known->second;
    const DataType dtype = expr->dtype;
    if (dtype.lanes != 1 || dtype.is_handle()) return kNone;
    std::array<int64_t, 5> key{static_cast<int64_t>(expr->kind), dtype.code * 256 + dtype.bits, 0, 0, 0};
    std::vector<size_t> operands;
    if (const auto* constant = PrimExpr(expr).as<IntImmNode>()) {
      key[2] = constant->value;
    } else if (const auto* real = PrimExpr(expr).as<FloatImmNode>()) {
      std::memcpy(&key[2], &real->value, sizeof(double));
    } else if (PrimExpr(expr).as<VarNode>()) {
      key[2] = static_cast<int64_t>(values_.size());
    } else {
      operands = operands_of(expr);
      if (operands.empty()) return kNone;
      for (size_t n = 0; n < operands.size(); ++n) key[n + 2] = static_cast<int64_t>(operands[n]);
      key[4] = 1;
    }
    const auto [known, is_new] = by_key_.try_emplace(key, values_.size());
    if (is_new) values_.push_back({PrimExpr(expr), std::move(operands), 0, {}, kNone, {}});
    return ids_[expr] = known->second;
  }

  // Empty if the node is not arithmetic, or may fail because a divisor may be zero.
  std::vector<size_t> operands_of(const PrimExprNode* expr) {
    std::vector<const PrimExprNode*> parts;
    if (const auto* cast = PrimExpr(expr).as<CastNode>()) {
      parts = {cast->value.get()};
    } else if (BinaryOpNode::classof(*expr) && expr->kind != Kind::kAnd && expr->kind != Kind::kOr) {
      const auto* op = static_cast<const BinaryOpNode*>(expr);
      const bool divides = op->kind == Kind::kDiv || op->kind == Kind::kMod || op->kind == Kind::kFloorDiv ||
                           op->kind == Kind::kFloorMod;
      const bool is_sure = !op->b->dtype.is_integral() || (is<IntImmNode>(op->b) && !is_zero(op->b));
      if (divides && !is_sure) return {};
      parts = {op->a.get(), op->b.get()};
    }
    std::vector<size_t> operands;
    for (const PrimExprNode* part : parts) {
      operands.push_back(number(part));
      if (operands.back() == kNone) return {};
    }
    return operands;
  }

  void use(size_t id, size_t sure_from) {
    Value& value = values_[id];
    if (value.operands.empty()) return;
    if (value.num_uses++ == 0) {
      value.path = path_;
    } else {
      const auto end = std::mismatch(value.path.begin(), value.path.end(), path_.begin(), path_.end()).first;
      value.path.erase(end, value.path.end());
    }
    value.sure_from = std::min(value.sure_from, sure_from);
    for (const size_t operand : std::vector<size_t>(value.operands)) use(operand, sure_from);
  }

  // Counts the uses in `root`.  sure_from: the number of statements of the path that must be reached for this
  // one to run.
  void meet(const PrimExpr& root, size_t sure_from) {
    walk(
        root,
        [&](const CallNode* call) {
          for (const auto& arg : call->args) {
            if (is<PrimExprNode>(arg)) meet(ref_as<PrimExprNode>(arg), path_.size());
          }
          return false;
        },
        [&](const SelectNode* select) {
          for (const PrimExpr& part : {select->condition, select->true_value, select->false_value})
            meet(part, path_.size());
          return false;
        },
        // the body is computed with the let's variable, which does not exist outside
        [&](const LetNode* let) { return meet(let->value, sure_from), false; },
        [&](const AndNode* both) { return meet(both->a, sure_from), meet(both->b, path_.size()), false; },
        [&](const OrNode* any) { return meet(any->a, sure_from), meet(any->b, path_.size()), false; },
        [&](const PrimExprNode* expr) {
          const size_t id = number(expr);
          if (id == kNone) return true;
          roots_.push_back(id);
          use(id, sure_from);
          return false;
        });
  }

  void visit(const Stmt& stmt, size_t sure_from) {
    has_shared_statements |= !seen_.insert(stmt.get()).second;
    path_.push_back(stmt.get());
    visit_inside(stmt, sure_from);
    path_.pop_back();
  }
  void visit_inside(const Stmt& stmt, size_t sure_from) {
    if (const auto* store = stmt.as<BufferStoreNode>()) {
      for (const PrimExpr& index : store->indices) meet(index, sure_from);
      return meet(store->value, sure_from);
    }
    const auto* loop = stmt.as<ForNode>();
    const bool is_sure = loop ? analysis::surely_runs(loop->extent) : runs_inner(stmt) == Runs::kOnce;
    const size_t inner_from = is_sure ? sure_from : path_.size();
    const bool keeps_values = is<AttrStmtNode>(stmt);
    for_each_part(
        stmt,
        [&](const PrimExpr& part) {
          if (!keeps_values) meet(part, sure_from);
        },
        [&](const Stmt& inner) { visit(inner, inner_from); });
  }

  // A named value counts as one use of the values inside it, however often it is used itself; some of those
  // then do not need a name any more.
  void choose() {
    std::vector<bool> is_named(values_.size());
    for (size_t n = 0; n < values_.size(); ++n)
      is_named[n] = values_[n].num_uses > 1 && values_[n].has_place();
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<size_t> uses(values_.size(), 0);
      for (const size_t root : roots_) count(root, is_named, &uses);
      for (size_t n = 0; n < values_.size(); ++n) {
        if (!is_named[n] || uses[n] > 1) continue;
        is_named[n] = false;
        changed = true;
      }
    }
    int last = 0;
    for (size_t n = 0; n < values_.size(); ++n) {
      if (is_named[n]) values_[n].name = make_var(fmt::format("cse_var_{}", ++last), values_[n].expr->dtype);
    }
    has_names_ = last > 0;
  }
  void count(size_t id, const std::vector<bool>& is_named, std::vector<size_t>* uses) const {
    if (++(*uses)[id] > 1 && is_named[id]) return;
    for (const size_t operand : values_[id].operands) count(operand, is_named, uses);
  }

  std::vector<Value> values_;
  std::unordered_map<const Object*, size_t> ids_;
  std::map<std::array<int64_t, 5>, size_t> by_key_;
  std::vector<size_t> roots_;  // expressions of statements
  std::vector<const Object*> path_;
  std::unordered_set<const Object*> seen_;
  bool has_names_ = false;
};

bool has_blocks(const PrimFunc& func) {
  bool found = false;
  walk(func->body, [&](const BlockRealizeNode*) { return found = true, false; });
  return found;
}

PrimFunc common_subexpr_elim(const PrimFunc& func) {
  if (has_blocks(func)) return func;
  const Values values(func->body);
  if (!values.has_names() || values.has_shared_statements) return func;
  const auto finish = [&](auto& self, const StmtNode* before, Stmt stmt) {
    const std::vector<const Value*> computed = values.computed_before(before);
    for (auto value = computed.rbegin(); value != computed.rend(); ++value)
      stmt = LetStmtNode::make(PrimExpr(self.children((*value)->expr.get())), (*value)->name, stmt);
    return stmt;
  };
  return with(func, [&](PrimFuncNode& n) {
    n.body = rewrite(
        func->body,
        [&](auto& self, const AttrStmtNode* attr) -> Stmt {
          return finish(self, attr, with_inner(Stmt(attr), self));
        },
        // shapes of buffers are no parts: they stay
        [&](auto& self, const StmtNode* stmt) -> Stmt {
          return finish(self, stmt, with_parts(Stmt(stmt), self, self));
        },
        [&](auto& self, const PrimExprNode* expr) -> PrimExpr {
          const Var name = values.name_of(expr);
          return name ? PrimExpr(name) : PrimExpr(self.children(expr));
        });
  });
}

}  // namespace

extern constinit const StepInfo common_subexpr_elim_info = {
    .name = "common_subexpr_elim",
    .doc = "arithmetic that a statement does several times is done once, as `cse_var_1`, ...",
    .without = kBlocks,
    .run = without_options<common_subexpr_elim>,
};

}  // namespace tilewright::lower
