// Double buffering: memory that is filled and then used in each iteration of a loop gets two halves, so that
// one is filled for the next iteration while the other is used.
//   for i in range(8):                      A = alloc((2, 16)); fill A[0] for i = 0
//       A = alloc((16,))           ->       for i in range(8):
//       fill A for i                            if i + 1 < 8: fill A[(i + 1) % 2] for i + 1
//       use A                                   use A[i % 2]
// Requested by sch.annotate(block, "double_buffer_scope", n) for the n-th buffer that the block writes;
// place_allocations moves the annotation to the allocation.  A loop where filling early could change values
// that are read is left unchanged.
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/common/leading_index.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/fresh.h"

namespace tilewright::lower {
namespace {

bool is_wanted(const AllocBufferNode* alloc) {
  const ObjectRef wish = alloc->annotations.get(kDoubleBuffer);
  return wish && is_one(ref_as<PrimExprNode>(wish));
}

struct Accesses {
  std::unordered_set<const VarNode*> loads, stores;  // keyed by pointer
  bool is_opaque = false;                            // pointers are used in other ways

  explicit Accesses(const Stmt& stmt) {
    walk(
        stmt, [&](const BufferLoadNode* load) { loads.insert(load->buffer->data.get()); },
        [&](const BufferStoreNode* store) { stores.insert(store->buffer->data.get()); },
        [&](const VarNode* var) { is_opaque |= var->dtype.is_handle(); },
        [&](const DeclBufferNode*) { is_opaque = true; }, [&](const AllocBufferNode*) { is_opaque = true; },
        [&](const ForNode* loop) { is_opaque |= loop->for_kind == ForKind::kThreadBinding; });
  }
};

// True if iteration i + 1 of `fill` may run before iteration i of `use`.
bool may_run_early(const Stmt& fill, const Stmt& use, const VarNode* memory) {
  const Accesses filling(fill), using_it(use);
  if (filling.is_opaque || using_it.is_opaque) return false;
  if (filling.stores.size() != 1 || !filling.stores.count(memory) || filling.loads.count(memory))
    return false;
  if (using_it.stores.count(memory)) return false;
  for (const VarNode* read : filling.loads) {
    if (using_it.stores.count(read)) return false;
  }
  return true;
}

// The loop with its memory outside; null if it must stay unchanged.
Stmt doubled(const ForNode* loop) {
  const auto* alloc = loop->body.as<AllocBufferNode>();
  if (!alloc || !is_wanted(alloc) || loop->for_kind != ForKind::kSerial || !alloc->buffer->strides.empty())
    return nullptr;
  const auto* sequence = alloc->body.as<SeqStmtNode>();
  if (!sequence) return nullptr;
  const Buffer& buffer = alloc->buffer;
  const Stmt& fill = sequence->seq[0];
  const Stmt use = seq(std::vector<Stmt>(sequence->seq.begin() + 1, sequence->seq.end()));
  if (!may_run_early(fill, use, buffer->data.get())) return nullptr;
  for (const PrimExpr& extent : buffer->shape) {
    if (!is<IntImmNode>(extent)) return nullptr;
  }

  const Buffer halves = with(buffer, [&](BufferNode& changed) {
    changed.shape.insert(changed.shape.begin(),
                         imm(2, buffer->shape.empty() ? kInt32 : buffer->shape[0]->dtype));
  });
  const Var& i = loop->loop_var;
  auto half = [&](const PrimExpr& iteration) { return floormod(iteration - loop->min, 2); };
  Stmt first = fresh_copy(with_leading_index(fill, buffer, halves, imm(0, i->dtype)), {{i.get(), loop->min}});
  if (!is<IntImmNode>(loop->extent) || is_zero(loop->extent))
    first = IfThenElseNode::make(loop->extent > 0, first);
  const PrimExpr next = i + 1;
  Stmt early = fresh_copy(with_leading_index(fill, buffer, halves, half(i)), {{i.get(), next}});
  early = IfThenElseNode::make(next < loop->min + loop->extent, early);
  For rest = with(loop, [&](ForNode& changed) {
    changed.body = seq({early, with_leading_index(use, buffer, halves, half(i))});
  });
  return AllocBufferNode::make(halves, AttrMap(), seq({first, rest}));
}

PrimFunc double_buffer(const PrimFunc& func) {
  return rewrite(
      func,
      [](auto& self, const ForNode* node) -> Stmt {
        const Stmt changed = doubled(node);
        return changed ? self(changed) : Stmt(self.children(node));
      },
      [](auto& self, const AllocBufferNode* node) -> Stmt {
        AllocBuffer alloc = self.children(node);
        if (!is_wanted(node)) return alloc;
        return with(alloc, [](AllocBufferNode& changed) { changed.annotations.erase(kDoubleBuffer); });
      });
}

}  // namespace

extern constinit const StepInfo double_buffer_info = {
    .name = "double_buffer",
    .doc = "memory annotated `double_buffer_scope` has two halves, one filled an iteration ahead",
    .without = kBlocks,
    .run = without_options<double_buffer>,
};

}  // namespace tilewright::lower
