// Turns dataflow blocks into plain blocks, and their variables into plain variables:
// the inverse of to_dataflow.
//   with R.dataflow(): lv = R.exp(x); gv = R.negative(lv); R.output(gv)
//   ->  lv = R.exp(x); gv = R.negative(lv)
// Successive plain blocks are joined.
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {

Function to_non_dataflow(const Function& func) {
  return rewrite(
      func,
      [&](auto& self, const SeqExprNode* node) -> SeqExpr {
        const SeqExpr seq = self.children(node);
        std::vector<BindingBlock> blocks;
        for (const BindingBlock& block : seq->blocks) {
          if (blocks.empty() || !is<PlainBlockNode>(blocks.back()) || !is<PlainBlockNode>(block)) {
            blocks.push_back(block);
            continue;
          }
          std::vector<Binding> joined = blocks.back()->bindings;
          joined.insert(joined.end(), block->bindings.begin(), block->bindings.end());
          blocks.back() = PlainBlockNode::make(std::move(joined));
        }
        if (blocks.size() == seq->blocks.size()) return seq;
        return with(seq, [&](SeqExprNode& changed) { changed.blocks = std::move(blocks); });
      },
      [&](auto& self, const DataflowBlockNode* block) -> BindingBlock {
        std::vector<Binding> bindings;
        for (const Binding& binding : block->bindings) {
          const auto* inner = binding->var.template as<DataflowVarNode>();
          if (inner)
            self.replace_uses(inner, Var(VarNode::make(inner->name_hint, self(inner->type), inner->span)));
          bindings.push_back(self(binding));
          if (!inner) continue;
          const AnyVar var = ref_as<VarBaseNode>(self(ObjectRef(binding->var)));
          if (const auto* cast = bindings.back().template as<MatchCastNode>())
            bindings.back() = with(cast, [&](MatchCastNode& node) { node.var = var; });
          else
            bindings.back() =
                with(ref_as<VarBindingNode>(bindings.back()), [&](VarBindingNode& node) { node.var = var; });
        }
        return PlainBlockNode::make(std::move(bindings));
      });
}

namespace {
Function run(const Function& func, const NoOptions&) { return to_non_dataflow(func); }
}  // namespace

extern constinit const PassInfo to_non_dataflow_info = function_pass<FunctionNode, run>(
    "to_non_dataflow", "Turns dataflow blocks into plain blocks, with plain variables.");

}  // namespace tilewright::relax
