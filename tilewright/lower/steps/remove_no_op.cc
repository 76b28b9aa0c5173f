// Removes statements without effect: loops that do not run or have an empty body, branches that are never
// taken, unused definitions, stores of an element to its own place.  Blocks stay, because schedules refer to
// them.
#include <unordered_map>

#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

Stmt nothing() { return seq({}); }

// True if removing `expr` changes nothing; T.assume has a meaning although it is pure.
bool is_pure(const PrimExpr& expr) {
  bool found = true;
  walk(expr, [&](const CallNode* call) { found = found && tir::is_pure(call->op); });
  return found;
}

// Collects variables that are read and buffers that are accessed; definitions alone do not count.
class Uses {
 public:
  explicit Uses(const Stmt& body) {
    walk(
        body, [&](const VarNode* var) { ++count_[var]; },
        [&](const LetStmtNode* let) { --count_[let->var.get()]; },
        [&](const BufferLoadNode* load) { meet(load->buffer); },
        [&](const BufferStoreNode* store) { meet(store->buffer); },
        [&](const BufferRegionNode* region) { meet(region->buffer); },
        [&](const DeclBufferNode* view) { ++count_[view->buffer->data.get()]; });
  }
  bool contain(const Object* defined) const {
    const auto found = count_.find(defined);
    return found != count_.end() && found->second > 0;
  }

 private:
  void meet(const Buffer& buffer) {
    ++count_[buffer.get()];
    ++count_[buffer->data.get()];
  }
  std::unordered_map<const Object*, int> count_;
};

// A[i] = A[i]
bool stores_what_is_there(const BufferStoreNode* store) {
  const auto* load = store->value.as<BufferLoadNode>();
  if (!load || load->buffer != store->buffer || load->predicate || store->predicate) return false;
  for (size_t n = 0; n < store->indices.size(); ++n) {
    if (!structural_equal(load->indices[n], store->indices[n]) || !is_pure(store->indices[n])) return false;
  }
  return true;
}

// for i in range(0): body  =>  nothing;   for i in range(n): nothing  =>  nothing
Stmt without_empty(const For& loop) {
  int64_t extent;
  const bool never_runs = as_const_int(loop->extent, &extent) && extent <= 0;
  const bool does_nothing = is_no_op(loop->body) && is_pure(loop->extent) && is_pure(loop->min);
  return never_runs || does_nothing ? nothing() : Stmt(loop);
}

// if c: nothing  =>  nothing;   if c: nothing; else: body  =>  if not c: body
Stmt without_empty(const IfThenElse& branch) {
  int64_t holds;
  if (as_const_int(branch->condition, &holds))
    return holds ? branch->then_case : branch->else_case ? branch->else_case : nothing();
  const bool has_else = branch->else_case && !is_no_op(branch->else_case);
  if (!is_no_op(branch->then_case)) {
    if (has_else || !branch->else_case) return branch;
    return with(branch, [](IfThenElseNode& n) { n.else_case = nullptr; });
  }
  if (!has_else) return is_pure(branch->condition) ? nothing() : Stmt(EvaluateNode::make(branch->condition));
  return with(branch, [](IfThenElseNode& n) {
    n.condition = logical_not(n.condition);
    n.then_case = std::move(n.else_case);
    n.else_case = nullptr;
  });
}

PrimFunc without_empty(const PrimFunc& func) {
  return rewrite(
      func, join_sequences,
      [](auto& self, const ForNode* loop) -> Stmt { return without_empty(For(self.children(loop))); },
      [](auto& self, const IfThenElseNode* branch) -> Stmt {
        return without_empty(IfThenElse(self.children(branch)));
      },
      [](auto& self, const AllocBufferNode* allocation) -> Stmt {
        const AllocBuffer inner = self.children(allocation);
        return is_no_op(inner->body) ? nothing() : Stmt(inner);
      },
      [](auto& self, const AttrStmtNode* attr) -> Stmt {
        const AttrStmt inner = self.children(attr);
        return is_no_op(inner->body) ? nothing() : Stmt(inner);
      },
      [](auto&, const BufferStoreNode* store) -> Stmt {
        return stores_what_is_there(store) ? nothing() : Stmt(store);
      },
      [](auto&, const EvaluateNode* evaluate) -> Stmt {
        return is_pure(evaluate->value) && !is_no_op(Stmt(evaluate)) ? nothing() : Stmt(evaluate);
      });
}

// x = value; body  =>  body, if x is unused;   removes views that are never accessed, too
PrimFunc without_unused(const PrimFunc& func) {
  const Uses uses(func->body);
  return rewrite(
      func, join_sequences,
      [&](auto& self, const LetStmtNode* let) -> Stmt {
        const LetStmt inner = self.children(let);
        return is_pure(inner->value) && !uses.contain(inner->var.get()) ? inner->body : Stmt(inner);
      },
      [&](auto& self, const DeclBufferNode* view) -> Stmt {
        const DeclBuffer inner = self.children(view);
        return uses.contain(inner->buffer.get()) ? Stmt(inner) : inner->body;
      });
}

PrimFunc remove_no_op(const PrimFunc& func) { return without_unused(without_empty(func)); }

}  // namespace

extern constinit const StepInfo remove_no_op_info = {
    .name = "remove_no_op",
    .doc = "loops, branches, definitions and stores that compute nothing are gone",
    .run = without_options<remove_no_op>,
};

}  // namespace tilewright::lower
