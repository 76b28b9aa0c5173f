#include "tilewright/schedule/core/stage.h"

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

// `stmt` with the place `written` for each statement in it, up to blocks, that has none.
Stmt placed(const Stmt& stmt, const Span& written) {
  if (!stmt || !written) return stmt;
  auto place = [&](const auto& node) -> Stmt {
    if (node->span) return node;
    return with(node, [&](auto& changed) { changed.span = written; });
  };
  return rewrite(
      stmt, [](auto&, const BlockRealizeNode* realize) -> Stmt { return Stmt(realize); },
      [&](auto& self, const ForNode* loop) -> Stmt { return place(For(self.children(loop))); },
      [&](auto& self, const IfThenElseNode* branch) -> Stmt {
        return place(IfThenElse(self.children(branch)));
      },
      [&](auto&, const BufferStoreNode* store) -> Stmt { return place(BufferStore(store)); },
      [&](auto&, const EvaluateNode* evaluate) -> Stmt { return place(Evaluate(evaluate)); });
}

}  // namespace

Block new_block(std::string name, std::vector<IterVar> axes, Stmt init, Stmt body, const Span& written,
                AttrMap annotations) {
  const Block block =
      BlockNode::make(std::move(name), std::move(axes), std::vector<Buffer>{}, std::vector<BufferRegion>{},
                      std::vector<BufferRegion>{}, std::vector<MatchBufferRegion>{}, std::move(annotations),
                      placed(init, written), placed(body, written), written);
  const analysis::AccessRegions regions = analysis::access_regions(block);
  return with(block, [&](BlockNode& n) { n.reads = regions.reads, n.writes = regions.writes; });
}

Stmt new_loops(const std::vector<std::pair<Var, PrimExpr>>& loops, Stmt body, const Span& written) {
  for (size_t n = loops.size(); n-- > 0;)
    body = ForNode::make(imm(0, loops[n].first->dtype), loops[n].second, loops[n].first, ForKind::kSerial,
                         std::string(), AttrMap{}, body, written);
  return body;
}

Stage new_stage(Block block, std::vector<PrimExpr> values, PrimExpr predicate,
                const std::vector<std::pair<Var, PrimExpr>>& loops) {
  const Span& written = block->span;
  const Stmt at_its_place = BlockRealizeNode::make(std::move(values), std::move(predicate), block, written);
  return {block, new_loops(loops, at_its_place, written)};
}

}  // namespace tilewright::schedule
