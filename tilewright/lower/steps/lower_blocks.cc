// Lowers blocks to plain statements: axes are replaced by their values, predicates become ifs.
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

PrimFunc lower_blocks(const PrimFunc& func) {
  return rewrite(func, join_sequences, [](auto& self, const BlockRealizeNode* node) -> Stmt {
    const Block& block = node->block;
    TILEWRIGHT_CHECK(!block->init && block->alloc_buffers.empty() && block->match_buffers.empty(),
                     "block {} still has an init, allocations or views", block->name_hint);
    Substitution values;
    for (size_t n = 0; n < block->iter_vars.size(); ++n) {
      const Var& axis = block->iter_vars[n]->var;
      values[axis.get()] = cast(axis->dtype, node->iter_values[n]);
    }
    Stmt body = self(substitute(block->body, values));
    return is_one(node->predicate) ? body : IfThenElseNode::make(self(node->predicate), body);
  });
}

}  // namespace

extern constinit const StepInfo lower_blocks_info = {
    .name = "lower_blocks",
    .doc = "blocks are loops with guards",
    .without = kViews | kInits | kBlockBuffers,
    .ends = kBlocks,
    .run = without_options<lower_blocks>,
};

}  // namespace tilewright::lower
