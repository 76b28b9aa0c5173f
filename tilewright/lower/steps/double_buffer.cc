// Double buffering: memory that is filled and then used in each iteration of a loop gets two halves, so that one is filled
// for the next iteration while the other is used.  The loop becomes a pipeline, which the step software_pipeline makes of
// its annotation:
//   for i in range(8):                      for i in range(8):  # software_pipeline_stage [0, 1]
//       A = alloc((16,))           ->           A = alloc((16,))
//       fill A for i                            fill A for i
//       use A                                   use A
// Requested by sch.annotate(block, "double_buffer_scope", n) for the n-th buffer that the block writes;
// place_allocations moves the annotation to the allocation.  A loop where filling early could change values
// that are read is left unchanged, and one that is annotated as a pipeline.
#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"

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

using Memory = std::unordered_set<const VarNode*>;

// True if `stmt` only fills some of `memory`, and reads none of it.
bool fills(const Stmt& stmt, const Memory& memory) {
  const Accesses filling(stmt);
  const auto is_ours = [&](const VarNode* data) { return memory.count(data) > 0; };
  return !filling.is_opaque && !filling.stores.empty() && std::ranges::all_of(filling.stores, is_ours) &&
         std::ranges::none_of(filling.loads, is_ours);
}

// True if iteration i + 1 of `fill` may run before iteration i of `use`.
bool may_run_early(const Stmt& fill, const Stmt& use, const Memory& memory) {
  const Accesses filling(fill), using_it(use);
  const auto is_changed = [&](const VarNode* data) { return using_it.stores.count(data) > 0; };
  return !using_it.is_opaque && std::ranges::none_of(filling.loads, is_changed) &&
         std::ranges::none_of(memory, is_changed);
}

// The loop as a pipeline; null if it must stay as it is.
Stmt doubled(const ForNode* loop) {
  if (loop->for_kind != ForKind::kSerial || loop->annotations.get(kPipelineStage)) return nullptr;
  Memory memory;
  Stmt body = loop->body;
  for (const AllocBufferNode* alloc; (alloc = body.as<AllocBufferNode>()); body = Stmt(alloc->body)) {
    if (!is_wanted(alloc)) continue;
    memory.insert(alloc->buffer->data.get());
    for (const PrimExpr& extent : alloc->buffer->shape) {
      if (!is<IntImmNode>(extent)) return nullptr;
    }
  }
  const auto* sequence = body.as<SeqStmtNode>();
  if (memory.empty() || !sequence) return nullptr;
  const auto first_use =
      std::ranges::find_if_not(sequence->seq, [&](const Stmt& stmt) { return fills(stmt, memory); });
  const Stmt fill = seq(std::vector<Stmt>(sequence->seq.begin(), first_use)),
             use = seq(std::vector<Stmt>(first_use, sequence->seq.end()));
  if (is_no_op(fill) || is_no_op(use) || !may_run_early(fill, use, memory)) return nullptr;
  std::vector<int64_t> stages;
  for (auto stmt = sequence->seq.begin(); stmt != sequence->seq.end(); ++stmt)
    stages.push_back(stmt < first_use ? 0 : 1);
  return with(loop, [&](ForNode& changed) {
    changed.annotations.set(std::string(kPipelineStage), ir::attr(stages));
  });
}

PrimFunc double_buffer(const PrimFunc& func) {
  return rewrite(
      func,
      [](auto& self, const ForNode* node) -> Stmt {
        const Stmt changed = doubled(node);
        return self.children(changed ? changed.as<ForNode>() : node);
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
    .doc = "loops that fill and use memory annotated `double_buffer_scope` are annotated as pipelines",
    .without = kBlocks,
    .run = without_options<double_buffer>,
};

}  // namespace tilewright::lower
