#include "tilewright/analysis/ordered_accesses.h"

#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/uses.h"

namespace tilewright::analysis {
namespace {

// The interval base, base + 1, ... of an index that takes all values in between.
arith::Interval dense_interval(const arith::IterSum& sum, arith::Analyzer& analyzer) {
  PrimExpr last = sum.base;
  for (const arith::IterSplit& split : sum.args) last = last + (split.extent - 1) * split.scale;
  return {analyzer.simplify(sum.base), analyzer.simplify(last)};
}

std::optional<arith::IntervalRegion> written_box(const SureStore& store, const PrimExpr& predicate,
                                                 arith::Analyzer& analyzer) {
  const arith::IterMap map = arith::detect_iter_map(store.indices, store.loops, predicate,
                                                    arith::IterMapLevel::kSurjective, analyzer);
  if (!map) return std::nullopt;
  arith::IntervalRegion box;
  for (const arith::IterSum& sum : map.indices) box.push_back(dense_interval(sum, analyzer));
  return box;
}

void conjuncts_of(const PrimExpr& condition, std::vector<PrimExpr>* parts) {
  const auto* call = condition.as<CallNode>();
  const auto* op = call ? call->op.as<OpNode>() : nullptr;
  if (const auto* both = condition.as<AndNode>()) {
    conjuncts_of(both->a, parts);
    conjuncts_of(both->b, parts);
  } else if (op && op->name == "tir.likely") {
    conjuncts_of(call->args[0], parts);
  } else if (!is_one(condition)) {
    parts->push_back(condition);
  }
}

// True if the guard `part`, which bounds one of the indices from above, holds for every element of `needed`.
bool keeps(const PrimExpr& part, const SureStore& store, const arith::IntervalRegion& needed,
           arith::Analyzer& analyzer) {
  const auto* less = part.as<LTNode>();
  if (!less) return false;
  for (size_t n = 0; n < store.indices.size(); ++n) {
    if (!needed[n].max) continue;
    const PrimExpr shift = analyzer.simplify(less->a - store.indices[n]);
    if (is<IntImmNode>(shift) && analyzer.can_prove(needed[n].max + shift < less->b)) return true;
  }
  return false;
}

// The loops and the outermost loop variable of one query.
struct Query {
  const ForNode* loop;
  const std::vector<const ForNode*>& around;

  void bind(arith::Analyzer& analyzer) const {
    for (const ForNode* outer : around) analyzer.bind(outer->loop_var, make_range(outer->min, outer->extent));
    analyzer.bind(loop->loop_var, make_range(loop->min, loop->extent));
  }
};

bool is_same(const Step& a, const Step& b) {
  return a.stmt == b.stmt && a.part == b.part && a.var == b.var && a.condition == b.condition;
}

// The first step at which the paths differ, if it is a step of parts in order and the write's part is the
// earlier one.
std::optional<size_t> where_before(const PlacedAccess& write, const PlacedAccess& read) {
  size_t depth = 0;
  while (depth < write.path.size() && depth < read.path.size() &&
         is_same(write.path[depth], read.path[depth]))
    ++depth;
  if (depth == write.path.size() || depth == read.path.size()) return std::nullopt;
  const Step &earlier = write.path[depth], &later = read.path[depth];
  const bool are_parts = !earlier.var && !earlier.condition && earlier.stmt == later.stmt;
  return are_parts && earlier.part < later.part ? std::optional(depth) : std::nullopt;
}

// For a write guarded by "all reduce axes are at their first value", in an iteration where they need not be:
// true if the write happened in the first iteration of those loops, for the same element.
bool has_run_at_start(const PrimExpr& start, const PlacedAccess& write, size_t depth,
                      arith::Analyzer& analyzer) {
  Substitution first;
  std::vector<Var> loops;  // enclosing both, and used by `start`
  std::vector<PrimExpr> guards;
  for (size_t n = 0; n < depth; ++n) {
    const Step& step = write.path[n];
    // a loop whose range changes may not have had this iteration when the reduce axes were at their first
    // value
    if (step.var && (uses_any(step.range->min, loops) || uses_any(step.range->extent, loops))) return false;
    if (step.var && uses(start, step.var.get())) {
      first[step.var.get()] = step.range->min;
      loops.push_back(step.var);
    }
    if (step.condition) guards.push_back(step.condition);
  }
  // each variable belongs to a loop inside the iteration, so the first value is not in another iteration
  bool starts_inside = true;
  walk(start, [&](const VarNode* var) { starts_inside &= first.contains(var); });
  if (!starts_inside || !analyzer.can_prove(substitute(start, first))) return false;
  for (const PrimExpr& index : write.indices) {
    if (uses_any(index, loops)) return false;
  }
  return std::all_of(guards.begin(), guards.end(), [&](const PrimExpr& guard) {
    return !uses_any(guard, loops) || analyzer.can_prove(substitute(guard, first));
  });
}

std::optional<SureStore> store_below(const PlacedAccess& write, size_t depth, const Query& query,
                                     arith::Analyzer& analyzer) {
  SureStore store{write.indices, {}, bool_imm(true)};
  std::vector<Var> inner = {query.loop->loop_var};
  for (size_t n = 0; n < write.path.size(); ++n) {
    const Step& step = write.path[n];
    if (step.var && n > depth) {
      // a loop that may have no iterations in some outer iterations
      if (!analyzer.can_prove(step.range->extent > 0) && uses_any(step.range->extent, inner)) return {};
      store.loops.emplace_back(step.var, step.range);
    } else if (step.condition && n > depth) {
      if (!step.is_start)
        store.predicate = logical_and(store.predicate, step.condition);
      else if (!has_run_at_start(step.condition, write, depth, analyzer))
        return {};
    }
    if (step.var) inner.push_back(step.var);
  }
  return store;
}

// The elements that the read may touch while the loops of its path deeper than `depth` run.
arith::IntervalRegion touched(const PlacedAccess& access, size_t depth, arith::Analyzer& analyzer) {
  arith::Domains domains;
  PrimExpr condition = bool_imm(true);
  for (size_t n = depth; n < access.path.size(); ++n) {
    const Step& step = access.path[n];
    if (step.var) {
      analyzer.bind(step.var, step.range);
      domains[step.var.get()] = arith::Interval::of(step.range);
    }
    if (step.condition) condition = logical_and(condition, step.condition);
  }
  const arith::Analyzer::Scope scope = analyzer.assume(condition);
  arith::IntervalRegion region;
  for (const PrimExpr& index : access.indices)
    region.push_back(index ? arith::eval_interval(index, domains, analyzer) : arith::Interval::everything());
  return region;
}

arith::IntervalRegion whole_of(const Buffer& buffer) {
  arith::IntervalRegion region;
  for (const PrimExpr& extent : buffer->shape)
    region.push_back(arith::Interval::of(make_range(imm(0, extent->dtype), extent)));
  return region;
}

bool is_covered(const PlacedAccess& read, const PlacedAccess& write, const Buffer& buffer,
                const Query& query) {
  const std::optional<size_t> depth = where_before(write, read);
  if (!depth || !write.has_known_indices()) return false;
  arith::Analyzer analyzer;
  query.bind(analyzer);
  for (size_t n = 0; n < *depth; ++n) {
    const Step& step = read.path[n];
    if (step.var) analyzer.bind(step.var, step.range);
  }
  const std::optional<SureStore> store = store_below(write, *depth, query, analyzer);
  if (!store) return false;
  // conditions that enclose both accesses hold; they are assumed only now, because store_below also asks
  // about the first iteration, in which they may not hold
  std::vector<Var> inner;
  for (size_t n = 0; n < read.path.size(); ++n) {
    const Step& step = read.path[n];
    if (step.condition && !uses_any(step.condition, inner)) analyzer.require(step.condition);
    if (step.var && n > *depth) inner.push_back(step.var);
  }
  arith::IntervalRegion needed = touched(read, *depth, analyzer);
  needed = arith::intersect(needed, whole_of(buffer), analyzer);
  return writes_all(*store, needed, analyzer);
}

bool are_disjoint(const std::vector<PlacedAccess>& accesses, size_t dimension, const Query& query) {
  arith::Analyzer analyzer;
  query.bind(analyzer);
  std::optional<arith::Interval> all;
  for (const PlacedAccess& access : accesses) {
    PlacedAccess one = access;
    one.indices = {access.indices[dimension]};
    const arith::Interval here = touched(one, 0, analyzer)[0];
    if (!here.is_bounded()) return false;
    all = all ? arith::hull(*all, here, analyzer) : here;
  }
  if (!all || !all->is_bounded()) return false;
  const Var& var = query.loop->loop_var;
  const Var later = make_var("later", var->dtype);
  analyzer.require(later > 0);
  auto in_later_iteration = [&](const PrimExpr& expr) {
    return substitute(expr, {{var.get(), var + later}});
  };
  return analyzer.can_prove(all->max < in_later_iteration(all->min)) ||
         analyzer.can_prove(in_later_iteration(all->max) < all->min);
}

bool are_disjoint(const std::vector<PlacedAccess>& accesses, const Query& query) {
  for (size_t n = 0; !accesses.empty() && n < accesses[0].indices.size(); ++n) {
    if (are_disjoint(accesses, n, query)) return true;
  }
  return false;
}

}  // namespace

bool writes_all(const SureStore& store, const arith::IntervalRegion& needed, arith::Analyzer& analyzer) {
  std::vector<Var> loops;
  for (const auto& [var, range] : store.loops) {
    analyzer.bind(var, range);
    loops.push_back(var);
  }
  std::vector<PrimExpr> parts;
  conjuncts_of(analyzer.simplify(store.predicate), &parts);
  if (store.indices.empty()) return parts.empty();
  // a condition on outer values lets all iterations of the loops run, or none
  std::vector<PrimExpr> on_loops;
  for (const PrimExpr& part : parts) {
    if (uses_any(part, loops))
      on_loops.push_back(part);
    else if (!keeps(part, store, needed, analyzer))
      return false;
  }
  PrimExpr predicate = bool_imm(true);
  for (const PrimExpr& part : on_loops) predicate = logical_and(predicate, part);
  if (const auto box = written_box(store, predicate, analyzer); box && arith::covers(*box, needed, analyzer))
    return true;
  const auto box = written_box(store, bool_imm(true), analyzer);
  return box && arith::covers(*box, needed, analyzer) &&
         std::all_of(on_loops.begin(), on_loops.end(),
                     [&](const PrimExpr& part) { return keeps(part, store, needed, analyzer); });
}

bool iterations_are_disjoint(const ForNode* loop, const Buffer& buffer,
                             const std::vector<const ForNode*>& around) {
  return are_disjoint(accesses_in_order(loop->body, buffer), Query{loop, around});
}

bool iterations_are_independent(const ForNode* loop, const Buffer& buffer,
                                const std::vector<const ForNode*>& around) {
  const Query query{loop, around};
  const std::vector<PlacedAccess> accesses = accesses_in_order(loop->body, buffer);
  if (are_disjoint(accesses, query)) return true;
  for (const PlacedAccess& read : accesses) {
    if (read.is_write) continue;
    const bool is_surely_written = std::any_of(accesses.begin(), accesses.end(), [&](const auto& write) {
      return write.is_write && is_covered(read, write, buffer, query);
    });
    if (!is_surely_written) return false;
  }
  return true;
}

}  // namespace tilewright::analysis
