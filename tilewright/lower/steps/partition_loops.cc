// Splits a loop at the first iteration where guards inside it are needed.
//   for i in range(16): for j in unroll(8): if i * 8 + j < 127: f(i, j)
//   ->  for i in range(15): for j in unroll(8): f(i, j)
//       for j in unroll(8): if j < 7: f(15, j)
// Guards are conjuncts of `if` conditions that bound the loop variable from above by a constant, for all
// values of the loops inside.  A parallel loop stays one loop with a branch inside.  So does a loop whose
// guards bound a remainder or quotient of its variable, as guards of fused loops do:
//   for f in range(32): for j in unroll(8): if f % 16 * 8 + j < 127: g(f, j)
//   ->  for f in range(32): q = f % 16; if q < 15: ... else: ...
// Loops over tiles of rows whose number is open are split by common/open_rows.h; where it does not know how rows
// are read, a branch inside tells whole tiles from others (common/whole_tiles.h), which are made of smaller ones
// where rows have other conditions, as of padding (common/smaller_tiles.h).
#include <algorithm>
#include <unordered_set>

#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/free_vars.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/common/num_nodes.h"
#include "tilewright/lower/common/open_rows.h"
#include "tilewright/lower/common/whole_tiles.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"

namespace tilewright::lower {
namespace {

// Finds how many leading values of a variable, from [min, min + extent), satisfy all guards that hold for any
// value.
class GuardFinder {
 public:
  GuardFinder(const Var& var, int64_t min, int64_t extent, arith::Analyzer& analyzer)
      : var_(var), min_(min), extent_(extent), analyzer_(analyzer) {}

  // Returns nullopt if there are no guards.
  std::optional<int64_t> num_unguarded(const Stmt& body) {
    visit(body.get());
    return found_;
  }

 private:
  void visit(const Object* node) {
    const ObjectRef ref(node);
    if (const auto* inner = ref.as<ForNode>()) {
      domains_[inner->loop_var.get()] = {inner->min, inner->min + inner->extent - 1};
      visit(inner->body.get());
      domains_.erase(inner->loop_var.get());
      return;
    }
    if (const auto* branch = ref.as<IfThenElseNode>()) {
      for (const PrimExpr& condition : arith::conjuncts(branch->condition)) guard(condition);
    }
    for_each_child(node, this, [](void* self, const Object* child, bool is_leaf_use) {
      if (!is_leaf_use) static_cast<GuardFinder*>(self)->visit(child);
    });
  }

  void guard(const PrimExpr& condition) {
    bool is_ours = false, is_closed = true;
    walk(condition, [&](const VarNode* var) {
      if (var == var_.get())
        is_ours = true;
      else
        is_closed &= domains_.contains(var);
    });
    if (!is_ours || !is_closed) return;
    const auto holds = arith::deduce_bound(var_, condition, domains_, analyzer_);
    if (!holds || !holds->max) return;
    int64_t last, first = min_;
    if (!as_const_int(analyzer_.simplify(holds->max), &last)) return;
    if (holds->min && (!as_const_int(analyzer_.simplify(holds->min), &first) || first > min_)) return;
    const int64_t count = last + 1 - min_;
    if (count > 0 && count < extent_) found_ = std::min(found_.value_or(extent_), count);
  }

  const Var var_;
  const int64_t min_, extent_;
  arith::Analyzer& analyzer_;
  arith::Domains domains_;
  std::optional<int64_t> found_;
};

// A branch between `body` for values of `var` below `boundary` and `body` for the rest: a single value or any
// number.
Stmt choose_inside(const Var& var, const PrimExpr& boundary, bool is_one_more, const Stmt& body) {
  const Substitution last{{var.get(), boundary}};
  return IfThenElseNode::make(PrimExpr(var) < boundary, body,
                              fresh_copy(body, is_one_more ? last : Substitution()));
}

// The extent of `expr`, a quotient or remainder of `var` in [0, extent); nullopt for other expressions and
// for the variable itself.
std::optional<int64_t> extent_of_part(const PrimExpr& expr, const VarNode* var, int64_t extent) {
  const auto* mod = expr.as<FloorModNode>();
  const auto* div = expr.as<FloorDivNode>();
  int64_t divisor;
  if ((!mod && !div) || !as_const_int(mod ? mod->b : div->b, &divisor) || divisor <= 0) return std::nullopt;
  const PrimExpr& of = mod ? mod->a : div->a;
  const std::optional<int64_t> inner = of.get() == var ? extent : extent_of_part(of, var, extent);
  if (!inner) return std::nullopt;
  return mod ? std::min(*inner, divisor) : (*inner - 1) / divisor + 1;
}

using Parts = std::vector<std::pair<PrimExpr, int64_t>>;

// The distinct quotients and remainders of the loop's variable in conditions, with their extents.
Parts parts_in_guards(const For& loop, int64_t extent) {
  Parts found;
  const auto take = [&](const auto* division) {
    const PrimExpr expr(division);
    const std::optional<int64_t> own = extent_of_part(expr, loop->loop_var.get(), extent);
    if (!own) return true;
    const auto is_same = [&](const auto& other) { return structural_equal(other.first, expr); };
    if (std::none_of(found.begin(), found.end(), is_same)) found.emplace_back(expr, *own);
    return false;
  };
  walk(loop->body, [&](const IfThenElseNode* branch) {
    walk(
        branch->condition, [&](const FloorModNode* node) { return take(node); },
        [&](const FloorDivNode* node) { return take(node); });
  });
  return found;
}

// Partitions by guards on quotients and remainders of a fused loop's variable, with a branch inside the loop.
Stmt partition_by_parts(const For& loop, int64_t extent, arith::Analyzer& analyzer) {
  if (!is_zero(loop->min)) return loop;
  Stmt body = loop->body;
  for (const auto& [part, part_extent] : parts_in_guards(loop, extent)) {
    if (num_nodes(body) > kMostCopiedNodes) break;
    const Var var = make_var("q", part->dtype);
    const auto by_var = [&](auto& self, const auto* node) -> PrimExpr {
      return structural_equal(PrimExpr(node), part) ? PrimExpr(var) : PrimExpr(self.children(node));
    };
    const Stmt named = rewrite(
        body, [&](auto& self, const FloorModNode* node) -> PrimExpr { return by_var(self, node); },
        [&](auto& self, const FloorDivNode* node) -> PrimExpr { return by_var(self, node); });
    const std::optional<int64_t> count = GuardFinder(var, 0, part_extent, analyzer).num_unguarded(named);
    if (!count) continue;
    const Stmt chosen = choose_inside(var, imm(*count, var->dtype), part_extent - *count == 1, named);
    body = LetStmtNode::make(part, var, chosen);
  }
  return body == loop->body ? loop : For(with(loop, [&](ForNode& changed) { changed.body = body; }));
}

using Sizes = std::unordered_set<const VarNode*>;

// True if a condition in the loop depends on one of `sizes`.
bool has_open_guards(const For& loop, const Sizes& sizes) {
  if (sizes.empty()) return false;
  bool found = false;
  walk(loop->body, [&](const IfThenElseNode* branch) {
    walk(branch->condition, [&](const VarNode* var) { found |= sizes.contains(var); });
  });
  return found;
}

// sizes  of the program that are known only when it runs
Stmt partition(const For& loop, const Sizes& sizes) {
  int64_t extent, min;
  const bool is_candidate = loop->for_kind == ForKind::kSerial || loop->for_kind == ForKind::kParallel;
  if (!is_candidate || !as_const_int(loop->min, &min)) return loop;
  if (!as_const_int(loop->extent, &extent)) {
    const Stmt split = split_open_rows(loop);
    return split == loop ? branch_on_whole_tiles(loop) : split;
  }
  arith::Analyzer analyzer;
  const auto count = GuardFinder(loop->loop_var, min, extent, analyzer).num_unguarded(loop->body);
  if (!count) {
    const Stmt parts = partition_by_parts(loop, extent, analyzer);
    return parts == loop && has_open_guards(loop, sizes) ? branch_on_whole_tiles(loop) : parts;
  }
  if (num_nodes(loop->body) > kMostCopiedNodes) return loop;
  const DataType dtype = loop->loop_var->dtype;
  const PrimExpr boundary = imm(min + *count, dtype), rest = imm(extent - *count, dtype);
  const bool is_one_more = extent - *count == 1;
  if (loop->for_kind == ForKind::kParallel) {
    return with(loop, [&](ForNode& changed) {
      changed.body = choose_inside(loop->loop_var, boundary, is_one_more, loop->body);
    });
  }
  const Stmt unguarded = with(loop, [&](ForNode& changed) { changed.extent = imm(*count, dtype); });
  if (is_one_more) return seq({unguarded, fresh_copy(loop->body, {{loop->loop_var.get(), boundary}})});
  const Stmt guarded = with(loop, [&](ForNode& changed) { changed.min = boundary, changed.extent = rest; });
  return seq({unguarded, fresh_copy(guarded)});
}

PrimFunc partition_loops(const PrimFunc& func) {
  Sizes sizes;
  for (const Var& var : free_vars(func->body)) {
    if (var->dtype.is_integral()) sizes.insert(var.get());
  }
  return rewrite(func, join_sequences, [&](auto& self, const ForNode* node) -> Stmt {
    return partition(self.children(node), sizes);
  });
}

}  // namespace

extern constinit const StepInfo partition_loops_info = {
    .name = "partition_loops",
    .doc =
        "guards that only the last iterations need have left the others, also where they are "
        "of a remainder or quotient of a fused loop's variable; sums of an open number of rows have "
        "none, and small last tiles",
    .without = kBlocks,
    .run = without_options<partition_loops>,
};

}  // namespace tilewright::lower
