// Interleaves virtual threads statement by statement.
//   for v in T.thread_binding(2, thread="vthread.x"):        A = T.alloc_buffer((2, 16))
//       A = T.alloc_buffer((16,))                            for i in range(16):
//       for i in range(16):                          ->          A[0, i] = f(0, i)
//           A[i] = f(v, i)                                       A[1, i] = f(1, i)
//       ...                                                  ...
// The loop over the threads moves inwards through sequences, and through loops and branches that are the same
// for all threads; there it is unrolled.  Each thread has its own copy of memory that is allocated inside,
// along a new first dimension.  Threads are independent (bind checks it), so any order gives the same result.
#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/common/leading_index.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

bool depends_on(const Object* node, const VarNode* var) {
  bool found = false;
  walk(node, [&](const VarNode* used) { found |= used == var; });
  return found;
}

class Interleaver {
 public:
  explicit Interleaver(For threads) : threads_(std::move(threads)) {}

  Stmt inside(const Stmt& stmt) {
    if (const auto* sequence = stmt.as<SeqStmtNode>()) {
      std::vector<Stmt> stmts;
      for (const Stmt& one : sequence->seq) stmts.push_back(inside(one));
      return seq(std::move(stmts));
    }
    if (const auto* loop = stmt.as<ForNode>(); loop && is_common(loop))
      return with(loop, [&](ForNode& changed) { changed.body = inside(loop->body); });
    if (const auto* branch = stmt.as<IfThenElseNode>(); branch && !depends_on(branch->condition.get(), var()))
      return with(branch, [&](IfThenElseNode& changed) {
        changed.then_case = inside(branch->then_case);
        if (branch->else_case) changed.else_case = inside(branch->else_case);
      });
    if (const auto* alloc = stmt.as<AllocBufferNode>(); alloc && can_copy(alloc)) return copied(alloc);
    return loop_of_threads(stmt);
  }

 private:
  const VarNode* var() const { return threads_->loop_var.get(); }

  bool is_common(const ForNode* loop) const {
    return loop->for_kind != ForKind::kVectorized && !depends_on(loop->min.get(), var()) &&
           !depends_on(loop->extent.get(), var());
  }

  // A copy per thread requires the same shape for all threads, and only accesses of elements.
  bool can_copy(const AllocBufferNode* alloc) const {
    const Buffer& buffer = alloc->buffer;
    bool is_plain = buffer->strides.empty();
    for (const PrimExpr& extent : buffer->shape) is_plain &= !depends_on(extent.get(), var());
    walk(
        alloc->body, [&](const VarNode* used) { is_plain &= used != buffer->data.get(); },
        [&](const DeclBufferNode* view) { is_plain &= view->buffer->data != buffer->data; });
    return is_plain;
  }

  Stmt copied(const AllocBufferNode* alloc) {
    const Buffer& buffer = alloc->buffer;
    const Buffer copies = with(
        buffer, [&](BufferNode& changed) { changed.shape.insert(changed.shape.begin(), threads_->extent); });
    Stmt body = with_leading_index(alloc->body, buffer, copies, threads_->loop_var);
    return AllocBufferNode::make(copies, alloc->annotations, inside(body));
  }

  // The thread loop around `stmt`; names defined inside are renamed in each copy.
  Stmt loop_of_threads(const Stmt& stmt) {
    if (!depends_on(stmt.get(), var())) return stmt_for_all(stmt);
    const Var thread = make_var(var()->name_hint, var()->dtype);
    return loop(thread, threads_->extent, substitute(stmt, {{var(), thread}}), ForKind::kUnrolled,
                threads_->annotations);
  }

  // True if all threads store the same: nothing in `stmt` depends on the thread.
  Stmt stmt_for_all(const Stmt& stmt) const {
    return is_idempotent(stmt) ? stmt
                               : loop(make_var(var()->name_hint, var()->dtype), threads_->extent, stmt,
                                      ForKind::kUnrolled, threads_->annotations);
  }

  // True for stores of values that do not read the stored buffer; calls may do anything.
  static bool is_idempotent(const Stmt& stmt) {
    const auto* store = stmt.as<BufferStoreNode>();
    if (!store) return false;
    bool is_plain = true;
    walk(
        store->value,
        [&](const BufferLoadNode* load) { is_plain &= load->buffer->data != store->buffer->data; },
        [&](const CallNode*) { is_plain = false; });
    return is_plain;
  }

  For threads_;
};

PrimFunc interleave_virtual_threads(const PrimFunc& func) {
  return rewrite(func, join_sequences, [](auto& self, const ForNode* node) -> Stmt {
    For loop = self.children(node);
    if (loop->for_kind != ForKind::kThreadBinding || !loop->thread_tag.starts_with("vthread")) return loop;
    return Interleaver(loop).inside(loop->body);
  });
}

}  // namespace

extern constinit const StepInfo interleave_virtual_threads_info = {
    .name = "interleave_virtual_threads",
    .doc =
        "loops bound to `vthread` are unrolled, as far inside as they go; each thread has its "
        "own memory",
    .without = kBlocks,
    .ends = kVirtualThreads,
    .run = without_options<interleave_virtual_threads>,
};

}  // namespace tilewright::lower
