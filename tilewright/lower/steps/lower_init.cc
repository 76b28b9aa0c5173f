// Lowers inits of reductions: an `init` becomes a guarded statement at the beginning of the block's body.
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

PrimFunc lower_init(const PrimFunc& func) {
  return rewrite(func, [](auto& self, const BlockNode* node) -> Stmt {
    Block block = self.children(node);
    if (!block->init) return block;
    PrimExpr at_start = bool_imm(true);
    for (const IterVar& axis : block->iter_vars) {
      if (axis->iter_type == IterType::kReduce)
        at_start = logical_and(at_start, equal(axis->var, axis->dom->min));
    }
    // with T.init(): s; body  ->  if vk == 0: s; body
    Stmt init = block->init;
    if (!is_one(at_start)) init = IfThenElseNode::make(at_start, init);
    return with(block, [&](BlockNode& changed) {
      changed.body = seq({init, block->body});
      changed.init = nullptr;
    });
  });
}

}  // namespace

extern constinit const StepInfo lower_init_info = {
    .name = "lower_init",
    .doc = "inits of reductions run at their start",
    .uses = kBlocks,
    .ends = kInits,
    .run = without_options<lower_init>,
};

}  // namespace tilewright::lower
