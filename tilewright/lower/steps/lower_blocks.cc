// Lowers blocks to plain statements: axes are replaced by their values, predicates become ifs.  Statements of a loop that is
// to be pipelined are counted by its annotations: each stays one statement, in an AttrStmt.
#include "tilewright/ir/rewrite.h"
#include "tilewright/lower/annotations.h"
#include "tilewright/lower/common/join_sequences.h"
#include "tilewright/lower/step.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::lower {
namespace {

// `body` with its statements in an AttrStmt each; they may stand in allocations, definitions and one block.
Stmt with_marked_statements(const Stmt& body) {
  const auto inside = [](const auto* node) {
    return with(node, [&](auto& changed) { changed.body = with_marked_statements(node->body); });
  };
  if (const auto* alloc = body.as<AllocBufferNode>()) return inside(alloc);
  if (const auto* let = body.as<LetStmtNode>()) return inside(let);
  if (const auto* view = body.as<DeclBufferNode>()) return inside(view);
  if (const auto* realize = body.as<BlockRealizeNode>(); realize && realize->block->iter_vars.empty())
    return with(realize, [&](BlockRealizeNode& changed) {
      changed.block = with(realize->block, [&](BlockNode& block) {
        block.body = with_marked_statements(realize->block->body);
      });
    });
  const auto* sequence = body.as<SeqStmtNode>();
  std::vector<Stmt> marked;
  for (const Stmt& stmt : sequence ? sequence->seq : std::vector<Stmt>{body})
    marked.push_back(
        AttrStmtNode::make(ObjectRef(), std::string(kPipelineStatement), imm(0), stmt, stmt->span));
  return seq(std::move(marked));
}

PrimFunc lower_blocks(const PrimFunc& func) {
  return rewrite(
      func, join_sequences,
      [](auto& self, const ForNode* loop) -> Stmt {
        if (!loop->annotations.get(kPipelineStage)) return self.children(loop);
        const For marked =
            with(loop, [&](ForNode& changed) { changed.body = with_marked_statements(loop->body); });
        return self.children(marked.get());
      },
      [](auto& self, const BlockRealizeNode* node) -> Stmt {
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
