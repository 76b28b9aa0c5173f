#include "tilewright/lower/common/thread_accesses.h"

#include "tilewright/arith/int_set.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/surroundings.h"
#include "tilewright/lower/common/thread_axes.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/uses.h"

namespace tilewright::lower {
namespace {

class Collector {
 public:
  Collector(const arith::IterRanges& loops, const PrimExpr& condition)
      : loops_(loops), condition_(condition) {}

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

  // A call that takes an address may read and write anything behind it.
  void visit_call(const CallNode* call) {
    for (const PrimExpr& arg : call->args) {
      const auto* address = arg.as<CallNode>();
      const auto* load =
          address && is_call_of(address, "tir.address_of") ? address->args[0].as<BufferLoadNode>() : nullptr;
      if (!load) {
        visit(arg.get());
        continue;
      }
      for (const PrimExpr& index : load->indices) visit(index.get());
      add(load->buffer, {}, false);
      add(load->buffer, {}, true);
    }
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

// True if both touch the same elements, and each element belongs to one thread.
bool is_private(const ThreadAccess& a, const ThreadAccess& b, const Threads& threads) {
  const std::optional<Substitution> names = renaming(b, a);
  if (!names || lanes_of(a.index) == 0 || lanes_of(a.index) != lanes_of(b.index)) return false;
  if (!structural_equal(a.index, substitute(b.index, *names))) return false;
  arith::IterRanges ranges = threads.axes;
  for (const auto& loop : a.loops) {
    if (uses(a.index, loop.first.get())) ranges.push_back(loop);
  }
  std::vector<PrimExpr> index = {first_of(a.index)};
  if (const int64_t lanes = lanes_of(a.index); lanes > 1) {
    const Var lane = make_var("lane", index[0]->dtype);
    ranges.emplace_back(lane, make_range(imm(0, lane->dtype), imm(lanes, lane->dtype)));
    index[0] = index[0] + lane;
  }
  arith::Analyzer analyzer;
  const auto is_injective = [&](const PrimExpr& predicate) {
    return static_cast<bool>(
        detect_iter_map(index, ranges, predicate, arith::IterMapLevel::kInjective, analyzer));
  };
  // conditions that both have leave out what other threads would touch
  const bool has_same_condition =
      a.condition && b.condition && structural_equal(a.condition, substitute(b.condition, *names));
  return is_injective(PrimExpr()) || (has_same_condition && is_injective(a.condition));
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

}  // namespace

std::vector<ThreadAccess> thread_accesses(const Stmt& stmt, const arith::IterRanges& loops,
                                          const PrimExpr& condition) {
  Collector collector(loops, condition);
  collector.visit(stmt.get());
  return std::move(collector.found);
}

std::vector<ThreadAccess> thread_accesses(const PrimExpr& expr, const arith::IterRanges& loops,
                                          const PrimExpr& condition) {
  Collector collector(loops, condition);
  collector.visit(expr.get());
  return std::move(collector.found);
}

bool may_meet(const ThreadAccess& a, const ThreadAccess& b, const Threads& threads) {
  if (a.buffer->data != b.buffer->data || !(a.is_write || b.is_write)) return false;
  if (is_of_one_thread(a, b, threads)) return false;
  if (!a.index || !b.index || a.buffer->dtype != b.buffer->dtype) return true;
  return !is_private(a, b, threads) && !are_apart(a, b, threads);
}

}  // namespace tilewright::lower
