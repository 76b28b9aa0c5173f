// Splits a loop where the guards inside of it begin to matter.
//   for i in range(16): for j in unroll(8): if i * 8 + j < 127: f(i, j)
//   ->  for i in range(15): for j in unroll(8): f(i, j)
//       for j in unroll(8): if j < 7: f(15, j)
// Guards are the conjuncts of `if` conditions that bound the loop variable from above by a constant, whatever
// the loops inside do.  A parallel loop stays one loop and chooses inside.
#include "tilewright/arith/int_set.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/passes/join_sequences.h"
#include "tilewright/lower/passes/num_nodes.h"
#include "tilewright/lower/passes/passes.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"

namespace tilewright::lower {
namespace {

// A body larger than this many nodes is not copied.
constexpr int64_t kMaxNodes = 4000;

// The number of first iterations of one loop for which all guards, that hold for any, hold.
class GuardFinder {
 public:
  GuardFinder(const ForNode* loop, int64_t extent, arith::Analyzer& analyzer)
      : loop_(loop), extent_(extent), analyzer_(analyzer) {}

  int64_t num_unguarded() {
    visit(loop_->body.get());
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
    if (const auto* branch = ref.as<IfThenElseNode>()) conjunct(branch->condition);
    for_each_child(node, this, [](void* self, const Object* child, bool is_leaf_use) {
      if (!is_leaf_use) static_cast<GuardFinder*>(self)->visit(child);
    });
  }

  void conjunct(const PrimExpr& condition) {
    if (const auto* both = condition.as<AndNode>()) {
      conjunct(both->a);
      conjunct(both->b);
      return;
    }
    bool is_ours = false, is_closed = true;
    walk(condition, [&](const VarNode* var) {
      if (var == loop_->loop_var.get())
        is_ours = true;
      else
        is_closed &= domains_.contains(var);
    });
    if (!is_ours || !is_closed) return;
    const auto holds = arith::deduce_bound(loop_->loop_var, condition, domains_, analyzer_);
    if (!holds || !holds->max) return;
    int64_t last, min;
    if (!as_const_int(analyzer_.simplify(holds->max), &last) || !as_const_int(loop_->min, &min)) return;
    int64_t first = min;
    if (holds->min && (!as_const_int(analyzer_.simplify(holds->min), &first) || first > min)) return;
    const int64_t count = last + 1 - min;
    if (count > 0 && count < extent_) found_ = std::min(found_ == 0 ? extent_ : found_, count);
  }

  const ForNode* loop_;
  int64_t extent_;
  arith::Analyzer& analyzer_;
  arith::Domains domains_;
  int64_t found_ = 0;  // 0: no guard
};

Stmt partition(const For& loop) {
  int64_t extent, min;
  const bool is_candidate = loop->for_kind == ForKind::kSerial || loop->for_kind == ForKind::kParallel;
  if (!is_candidate || !as_const_int(loop->extent, &extent) || !as_const_int(loop->min, &min)) return loop;
  arith::Analyzer analyzer;
  const int64_t first = GuardFinder(loop.get(), extent, analyzer).num_unguarded();
  if (first == 0 || num_nodes(loop->body) > kMaxNodes) return loop;
  const DataType dtype = loop->loop_var->dtype;
  const PrimExpr boundary = imm(min + first, dtype), rest = imm(extent - first, dtype);
  const bool is_one_more = extent - first == 1;
  if (loop->for_kind == ForKind::kParallel) {
    const Substitution last{{loop->loop_var.get(), boundary}};
    return with(loop, [&](ForNode& changed) {
      changed.body = IfThenElseNode::make(PrimExpr(loop->loop_var) < boundary, loop->body,
                                          fresh_copy(loop->body, is_one_more ? last : Substitution()));
    });
  }
  const Stmt unguarded = with(loop, [&](ForNode& changed) { changed.extent = imm(first, dtype); });
  if (is_one_more) return seq({unguarded, fresh_copy(loop->body, {{loop->loop_var.get(), boundary}})});
  const Stmt guarded = with(loop, [&](ForNode& changed) { changed.min = boundary, changed.extent = rest; });
  return seq({unguarded, fresh_copy(guarded)});
}

}  // namespace

PrimFunc partition_loops(const PrimFunc& func) {
  return rewrite(func, join_sequences,
                 [](auto& self, const ForNode* node) -> Stmt { return partition(self.children(node)); });
}

}  // namespace tilewright::lower
