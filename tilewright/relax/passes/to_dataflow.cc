// Moves bindings without effects into dataflow blocks, where later passes may move, join and drop them.
//   lv = R.exp(x); R.call_packed("log", lv); gv = R.add(lv, x); gv1 = R.exp(gv)
//   ->  with R.dataflow(): lv = R.exp(x)
//       R.call_packed("log", lv)
//       with R.dataflow(): gv = R.add(lv, x); gv1 = R.exp(gv)
// Successive blocks are joined.  Variables keep their kind; branches and casts stay outside.
#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/infer/purity.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

bool is_pure_binding(const Binding& binding, const IRModule& module) {
  const auto* bound = binding.as<VarBindingNode>();
  if (!bound || is<IfNode>(bound->value) || is<FunctionNode>(bound->value)) return false;
  const auto* call = bound->value.as<CallNode>();
  return !call || is_pure_call(call, module.get());
}

// The bindings of `blocks` in order, in as few blocks as possible.
std::vector<BindingBlock> regrouped(const std::vector<BindingBlock>& blocks, const IRModule& module) {
  std::vector<BindingBlock> result;
  std::vector<Binding> open;
  bool is_dataflow = false;
  auto close = [&] {
    if (open.empty()) return;
    if (is_dataflow)
      result.push_back(DataflowBlockNode::make(std::move(open)));
    else
      result.push_back(PlainBlockNode::make(std::move(open)));
    open.clear();
  };
  for (const BindingBlock& block : blocks) {
    const bool was_dataflow = is<DataflowBlockNode>(block);
    for (const Binding& binding : block->bindings) {
      const bool belongs = was_dataflow || is_pure_binding(binding, module);
      if (belongs != is_dataflow) close();
      is_dataflow = belongs;
      open.push_back(binding);
    }
  }
  close();
  return result;
}

bool is_same(const std::vector<BindingBlock>& a, const std::vector<BindingBlock>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const BindingBlock& x, const BindingBlock& y) {
    return x->kind == y->kind && x->bindings == y->bindings;
  });
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    return rewrite(func, [&](auto& self, const SeqExprNode* node) -> SeqExpr {
      const SeqExpr seq = self.children(node);
      std::vector<BindingBlock> blocks = regrouped(seq->blocks, module);
      if (is_same(blocks, seq->blocks)) return seq;
      return with(seq, [&](SeqExprNode& changed) { changed.blocks = std::move(blocks); });
    });
  });
}

}  // namespace

extern constinit const PassInfo to_dataflow_info =
    module_pass<run>("to_dataflow", "Moves bindings without effects into dataflow blocks.", 1);

}  // namespace tilewright::relax
