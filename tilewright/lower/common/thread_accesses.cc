#include "tilewright/lower/common/thread_accesses.h"

#include <algorithm>

#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_parse.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/lower/common/thread_digits.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/pointer_use.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

class Collector {
 public:
  Collector(const arith::IterRanges& loops, const PrimExpr& condition, const Substitution& lets)
      : loops_(loops), condition_(condition), lets_(lets) {}

  void visit(const Object* node) {
    if (!node) return;
    const ObjectRef ref(node);
    if (const auto* loop = ref.as<ForNode>()) return visit_loop(loop);
    if (const auto* branch = ref.as<IfThenElseNode>()) return visit_branch(branch);
    if (const auto* let = ref.as<LetStmtNode>()) return visit_let(let);
    if (const auto* call = ref.as<CallNode>(); call && is_choice(call)) return visit_choice(call);
    if (const auto* call = ref.as<CallNode>()) return visit_call(call);
    visit_children(node);
    if (const auto* load = ref.as<BufferLoadNode>()) add(load->buffer, load->indices, false);
    if (const auto* store = ref.as<BufferStoreNode>()) add(store->buffer, store->indices, true);
  }

  std::vector<ThreadAccess> found;

 private:
  void visit_children(const Object* node) {
    for_each_child(node, this, [](void* self, const Object* child, bool is_leaf_use) {
      if (!is_leaf_use) static_cast<Collector*>(self)->visit(child);
    });
  }

  void visit_loop(const ForNode* loop) {
    visit(loop->min.get());
    visit(loop->extent.get());
    loops_.emplace_back(loop->loop_var, make_range(loop->min, loop->extent));
    visit(loop->body.get());
    loops_.pop_back();
  }

  void visit_branch(const IfThenElseNode* branch) {
    visit(branch->condition.get());
    under(branch->condition, branch->then_case.get());
    if (branch->else_case) under(logical_not(branch->condition), branch->else_case.get());
  }

  void visit_let(const LetStmtNode* let) {
    visit(let->value.get());
    lets_[let->var.get()] = let->value;
    visit(let->body.get());
  }

  // if_then_else(condition, a, b): only one of both is evaluated
  static bool is_choice(const CallNode* call) { return is_call_of(call, "tir.if_then_else"); }
  void visit_choice(const CallNode* call) {
    visit(call->args[0].get());
    under(call->args[0], call->args[1].get());
    under(logical_not(call->args[0]), call->args[2].get());
  }

  // A call that takes the address of an element may touch anything behind it; that of a vector, its elements.
  void visit_call(const CallNode* call) {
    for (size_t n = 0; n < call->args.size(); ++n) {
      const BufferLoadNode* load = pointed_to(call->args[n]);
      if (!load) {
        visit(call->args[n].get());
        continue;
      }
      for (const PrimExpr& index : load->indices) visit(index.get());
      const PointerUse use = pointer_use(call, n);
      const bool is_known = !load->dtype.is_scalar() || copies_one_element(call, load);
      const std::vector<PrimExpr> indices = is_known ? load->indices : std::vector<PrimExpr>();
      const size_t known = found.size();
      if (use.reads) add(load->buffer, indices, false);
      if (use.writes) add(load->buffer, indices, true);
      for (size_t last = known; last < found.size(); ++last) {
        found[last].is_async = found[last].is_write && is_call_of(call, "tir.ptx_cp_async");
        found[last].is_of_warp = use.of_warp;
      }
    }
  }
  static bool copies_one_element(const CallNode* call, const BufferLoadNode* load) {
    return is_call_of(call, "tir.ptx_cp_async") && is_const_int(call->args.at(4), load->dtype.num_bytes());
  }

  void under(const PrimExpr& condition, const Object* node) {
    const PrimExpr outside = condition_;
    condition_ = condition_ ? logical_and(condition_, condition) : condition;
    visit(node);
    condition_ = outside;
  }

  void add(const Buffer& buffer, const std::vector<PrimExpr>& indices, bool is_write) {
    if (buffer->scope() == "local") return;
    PrimExpr index = indices.size() == 1 ? indices[0] : PrimExpr();
    for (size_t depth = 0; index && depth <= lets_.size(); ++depth) {
      const PrimExpr replaced = substitute(index, lets_);
      if (replaced == index) break;
      index = replaced;
    }
    found.push_back({buffer, index, is_write, loops_, condition_});
  }

  arith::IterRanges loops_;
  PrimExpr condition_;
  Substitution lets_;
};

// The first and last element of a vector are those of its ramp.
PrimExpr first_of(const PrimExpr& index) {
  const auto* ramp = index.as<RampNode>();
  return ramp ? ramp->base : index;
}
int64_t lanes_of(const PrimExpr& index) {
  const auto* ramp = index.as<RampNode>();
  return ramp && is_one(ramp->stride) ? ramp->lanes : index->dtype.is_scalar() ? 1 : 0;
}

// The range that conditions leave of a variable of `axes`.
arith::IterRanges narrowed(const arith::IterRanges& axes, const PrimExpr& condition) {
  if (!condition) return axes;
  arith::Analyzer analyzer;
  for (const auto& [var, range] : axes) analyzer.bind(var, range);
  learn_condition(condition, analyzer);
  arith::IterRanges result;
  for (const auto& [var, range] : axes) {
    const arith::ConstBounds bounds = analyzer.const_bounds(var);
    const bool is_known =
        bounds.min != arith::kNegInf && bounds.max != arith::kPosInf && bounds.min <= bounds.max;
    result.emplace_back(
        var, is_known ? make_range(imm(bounds.min, var->dtype), imm(bounds.max - bounds.min + 1, var->dtype))
                      : range);
  }
  return result;
}

// The access, with the loops around it renamed as those of `other` where both have as many of equal extents.
std::optional<Substitution> renaming(const ThreadAccess& from, const ThreadAccess& to) {
  if (from.loops.size() != to.loops.size()) return std::nullopt;
  Substitution names;
  for (size_t n = 0; n < from.loops.size(); ++n) {
    const auto& [a, a_range] = from.loops[n];
    const auto& [b, b_range] = to.loops[n];
    if (a == b) continue;
    if (a->dtype != b->dtype || !structural_equal(a_range->min, b_range->min) ||
        !structural_equal(a_range->extent, b_range->extent))
      return std::nullopt;
    names[a.get()] = b;
  }
  return names;
}

// True if only one thread can do both.
bool is_of_one_thread(const ThreadAccess& a, const ThreadAccess& b, const Threads& threads) {
  const arith::IterRanges first = narrowed(threads.axes, a.condition),
                          second = narrowed(threads.axes, b.condition);
  for (size_t n = 0; n < first.size(); ++n) {
    const Range &left = first[n].second, &right = second[n].second;
    if (!is_one(left->extent) || !is_one(right->extent) || !structural_equal(left->min, right->min))
      return false;
  }
  return true;
}

// What holds for both: the parts of `a` that `b`, its variables renamed, has too; null: nothing.
PrimExpr common_condition(const PrimExpr& a, const PrimExpr& b, const Substitution& names) {
  PrimExpr common;
  if (!a || !b) return common;
  const std::vector<PrimExpr> others = arith::conjuncts(substitute(b, names));
  for (const PrimExpr& part : arith::conjuncts(a)) {
    const auto is_same = [&](const PrimExpr& other) { return structural_equal(part, other); };
    if (std::ranges::any_of(others, is_same)) common = common ? logical_and(common, part) : part;
  }
  return common;
}

// sum / divisor if each of its terms is a multiple of it; nothing otherwise.
PrimExpr quotient(const PrimExpr& sum, const PrimExpr& divisor) {
  if (is_zero(sum)) return sum;
  if (structural_equal(sum, divisor)) return make_const_int(sum->dtype, 1);
  int64_t value = 0, part = 0;
  if (as_const_int(sum, &value) && as_const_int(divisor, &part))
    return part != 0 && value % part == 0 ? make_const_int(sum->dtype, value / part) : PrimExpr();
  if (const auto* add = sum.as<AddNode>()) {
    const PrimExpr a = quotient(add->a, divisor), b = quotient(add->b, divisor);
    return a && b ? a + b : PrimExpr();
  }
  if (const auto* mul = sum.as<MulNode>()) {
    if (const PrimExpr a = quotient(mul->a, divisor)) return a * mul->b;
    if (const PrimExpr b = quotient(mul->b, divisor)) return mul->a * b;
  }
  return PrimExpr();
}

// An index as row and column where a condition says that columns end with the row: i * n + j with 0 <= j < n has both
// i and j of its own.  The same for rows that are such an index.
std::vector<PrimExpr> separated(PrimExpr index, const PrimExpr& condition, const arith::IterRanges& loops,
                                const Threads& threads) {
  arith::Analyzer analyzer;
  for (const arith::IterRanges* ranges : {&threads.axes, &threads.blocks, &loops}) {
    for (const auto& [var, range] : *ranges) analyzer.bind(var, range);
  }
  const auto varies = [&](const PrimExpr& expr) {
    const auto is_used = [&](const auto& axis) { return uses(expr, axis.first.get()); };
    return std::ranges::any_of(threads.axes, is_used) || std::ranges::any_of(loops, is_used);
  };
  std::vector<PrimExpr> parts;
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const PrimExpr& part : arith::conjuncts(condition)) {
      const auto* less = part.as<LTNode>();
      if (!less || less->a->dtype != index->dtype || is_one(less->b) || varies(less->b)) continue;
      const PrimExpr row = quotient(analyzer.simplify(index - less->a), less->b);
      if (!row || is_zero(row) || !analyzer.can_prove(less->a >= make_const_int(index->dtype, 0))) continue;
      parts.push_back(less->a);
      index = analyzer.simplify(row);
      is_changed = true;
    }
  }
  parts.push_back(index);
  return parts;
}

void add_terms(const PrimExpr& sum, std::vector<PrimExpr>& terms) {
  const auto* add = sum.as<AddNode>();
  if (!add) return terms.push_back(sum);
  add_terms(add->a, terms);
  add_terms(add->b, terms);
}

// `index` without terms of which the variables of `fixed` are all.
PrimExpr without_fixed(const PrimExpr& index, const arith::IterRanges& fixed) {
  if (fixed.empty()) return index;
  std::vector<PrimExpr> terms;
  add_terms(arith::simplify(index), terms);
  PrimExpr rest = make_const_int(index->dtype, 0);
  for (const PrimExpr& term : terms) {
    bool is_fixed = true;
    ir::walk(
        term,
        [&](const VarNode* var) {
          is_fixed &= std::ranges::any_of(fixed, [&](const auto& loop) { return loop.first.get() == var; });
        },
        [&](const BufferLoadNode*) { is_fixed = false; }, [&](const CallNode*) { is_fixed = false; });
    if (!is_fixed) rest = rest + term;
  }
  return rest;
}

// True if both touch the same elements, and each element belongs to one thread.
bool is_private(const ThreadAccess& a, const ThreadAccess& b, const Threads& threads) {
  const std::optional<Substitution> names = renaming(b, a);
  if (!names || lanes_of(a.index) == 0 || lanes_of(a.index) != lanes_of(b.index)) return false;
  if (!structural_equal(a.index, substitute(b.index, *names))) return false;
  arith::IterRanges ranges = threads.axes, all_loops = a.loops;
  for (const auto& loop : a.loops) {
    if (uses(a.index, loop.first.get())) ranges.push_back(loop);
  }
  std::vector<PrimExpr> index = {first_of(a.index)};
  if (const int64_t lanes = lanes_of(a.index); lanes > 1) {
    const Var lane = make_var("lane", index[0]->dtype);
    const Range all_lanes = make_range(imm(0, lane->dtype), imm(lanes, lane->dtype));
    ranges.emplace_back(lane, all_lanes);
    all_loops.emplace_back(lane, all_lanes);
    index[0] = index[0] + lane;
  }
  arith::Analyzer analyzer;
  const auto is_injective = [&](const std::vector<PrimExpr>& parts, const PrimExpr& predicate) {
    return static_cast<bool>(
        detect_iter_map(parts, ranges, predicate, arith::IterMapLevel::kInjective, analyzer));
  };
  if (is_injective(index, PrimExpr())) return true;
  // conditions that both have leave out what other threads would touch
  const PrimExpr condition = common_condition(a.condition, b.condition, *names);
  if (tells_threads(index[0], condition, threads.axes, all_loops)) return true;
  if (!condition) return false;
  if (is_injective(index, condition)) return true;
  const std::vector<PrimExpr> parts = separated(index[0], condition, a.loops, threads);
  for (const auto& loop : a.loops) {
    const auto is_used = [&](const PrimExpr& part) { return uses(part, loop.first.get()); };
    if (!uses(a.index, loop.first.get()) && std::ranges::any_of(parts, is_used)) return false;
  }
  return parts.size() > 1 && is_injective(parts, PrimExpr());
}

// True if both have the same index, and it tells the thread but for what loops add to it that are in the same iteration for
// both.
bool is_private_now(ThreadAccess a, ThreadAccess b, const Threads& threads, const Distance& distance) {
  const std::optional<Substitution> names = renaming(b, a);
  if (distance.num_equal == 0 || !names || lanes_of(a.index) == 0) return false;
  if (!structural_equal(a.index, substitute(b.index, *names))) return false;
  const arith::IterRanges fixed(a.loops.begin(), a.loops.begin() + static_cast<long>(distance.num_equal));
  for (ThreadAccess* access : {&a, &b}) {
    const auto* ramp = access->index.as<RampNode>();
    const PrimExpr rest = without_fixed(first_of(access->index), fixed);
    access->index = ramp ? RampNode::make(rest, ramp->stride, ramp->lanes) : rest;
    access->condition = PrimExpr();
  }
  return is_private(a, b, threads);
}

// The elements from `begin` on, up to `end`, that an access can touch, as far as constants bound them.
struct Span {
  int64_t begin = arith::kNegInf, end = arith::kPosInf;
};
Span span_of(const ThreadAccess& access, const Threads& threads) {
  const int64_t lanes = lanes_of(access.index);
  if (lanes == 0) return {};
  arith::Analyzer analyzer;
  for (const auto& [var, range] : threads.axes) analyzer.bind(var, range);
  for (const auto& [var, range] : access.loops) analyzer.bind(var, range);
  if (access.condition) learn_condition(access.condition, analyzer);
  const arith::ConstBounds bounds = analyzer.const_bounds(first_of(access.index));
  const bool is_open = bounds.max >= arith::kPosInf - lanes;
  return {bounds.min, is_open ? arith::kPosInf : bounds.max + lanes};
}

bool are_apart(const ThreadAccess& a, const ThreadAccess& b, const Threads& threads) {
  const Span first = span_of(a, threads), second = span_of(b, threads);
  return first.end <= second.begin || second.end <= first.begin;
}

// ---- versions of memory: iteration % count * size + rest, with 0 <= rest < size

struct Version {
  PrimExpr iteration;
  int64_t count = 0, size = 0;
};

// The factor and the constant of a term.
std::pair<PrimExpr, int64_t> factors_of(const PrimExpr& term) {
  int64_t constant = 1;
  const auto* product = term.as<MulNode>();
  const bool is_scaled = product && as_const_int(product->b, &constant);
  return {is_scaled ? product->a : term, constant};
}

// The version that an access touches; nothing if it is not of that form.  `other`: a version of the same memory, if one is
// known; iteration % count may then have become iteration, which is less.
std::optional<Version> version_of(const ThreadAccess& access, const Threads& threads,
                                  const std::optional<Version>& other = {}) {
  const int64_t lanes = lanes_of(access.index);
  if (lanes == 0) return std::nullopt;
  arith::Analyzer analyzer;
  for (const auto& [var, range] : threads.axes) analyzer.bind(var, range);
  for (const auto& [var, range] : threads.blocks) analyzer.bind(var, range);
  for (const auto& [var, range] : access.loops) analyzer.bind(var, range);
  if (access.condition) learn_condition(access.condition, analyzer);
  const PrimExpr index = analyzer.simplify(first_of(access.index));
  std::vector<PrimExpr> terms;
  add_terms(index, terms);
  for (const PrimExpr& term : terms) {
    const auto [factor, size] = factors_of(term);
    Version version{factor, 0, size};
    if (const auto* remainder = factor.as<FloorModNode>()) {
      version.iteration = remainder->a;
      if (!as_const_int(remainder->b, &version.count)) continue;
    } else {
      const arith::ConstBounds bounds = analyzer.const_bounds(factor);
      if (!other || size != other->size || bounds.min < 0 || bounds.max >= other->count) continue;
      version.count = other->count;
    }
    const auto is_of_loop = [&](const VarNode* var) {
      return std::ranges::any_of(access.loops, [&](const auto& loop) { return loop.first.get() == var; });
    };
    const auto is_other = [&](const VarNode* var) { return !is_of_loop(var); };
    if (!uses_any(version.iteration, is_of_loop) || uses_any(version.iteration, is_other)) continue;
    const arith::ConstBounds rest = analyzer.const_bounds(analyzer.simplify(index - term));
    if (rest.min >= 0 && rest.max <= version.size - lanes) return version;
  }
  return std::nullopt;
}

// True if both touch different versions.
bool are_of_other_versions(const ThreadAccess& a, const ThreadAccess& b, const Threads& threads,
                           const Distance& distance) {
  const std::optional<Version> alone = version_of(a, threads);
  const std::optional<Version> second = version_of(b, threads, alone);
  const std::optional<Version> first = alone ? alone : version_of(a, threads, second);
  if (!first || !second || first->count != second->count || first->size != second->size) return false;
  const size_t known = distance.num_equal + (distance.iterations >= 0 ? 1 : 0);
  for (const auto& [access, version] : {std::pair(&a, &*first), {&b, &*second}}) {
    for (size_t n = known; n < access->loops.size(); ++n) {
      if (uses(version->iteration, access->loops[n].first.get())) return false;
    }
  }
  Substitution before;
  if (distance.iterations >= 0) {
    const Var& var = b.loops[distance.num_equal].first;
    before[var.get()] = var - distance.iterations;
  }
  int64_t apart;
  const PrimExpr difference = arith::simplify(second->iteration - substitute(first->iteration, before));
  return as_const_int(difference, &apart) && apart % first->count != 0;
}

}  // namespace

std::vector<ThreadAccess> thread_accesses(const Stmt& stmt, const arith::IterRanges& loops,
                                          const PrimExpr& condition, const Substitution& lets) {
  Collector collector(loops, condition, lets);
  collector.visit(stmt.get());
  return std::move(collector.found);
}

std::vector<ThreadAccess> thread_accesses(const PrimExpr& expr, const arith::IterRanges& loops,
                                          const PrimExpr& condition, const Substitution& lets) {
  Collector collector(loops, condition, lets);
  collector.visit(expr.get());
  return std::move(collector.found);
}

bool may_meet(const ThreadAccess& a, const ThreadAccess& b, const Threads& threads,
              const Distance& distance) {
  if (a.buffer->data != b.buffer->data || !(a.is_write || b.is_write)) return false;
  const bool is_of_threads = !a.is_of_warp && !b.is_of_warp;
  if (is_of_threads && is_of_one_thread(a, b, threads)) return false;
  if (!a.index || !b.index || a.buffer->dtype != b.buffer->dtype) return true;
  if (is_of_threads && (is_private(a, b, threads) || is_private_now(a, b, threads, distance))) return false;
  return !are_apart(a, b, threads) && !are_of_other_versions(a, b, threads, distance);
}

}  // namespace tilewright::lower
