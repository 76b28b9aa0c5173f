// Drops bindings of dataflow blocks whose variables are not used, and functions that
// no public function reaches.
#include <algorithm>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

struct Options {
  std::vector<std::string> entry_functions;
  static constexpr auto fields() {
    return std::tuple{field<&Options::entry_functions>(
        "entry_functions",
        "kept, with all functions that they reach; none: every function with a global_symbol, and main")};
  }
};

using Used = std::unordered_set<const Object*>;

void mark(const Object* root, Used* used) {
  walk(
      root, [&](const VarNode* var) { used->insert(var); },
      [&](const DataflowVarNode* var) { used->insert(var); });
}

bool has_effect(const Expr& value) {
  bool effect = false;
  walk(value, [&](const CallNode* call) {
    const OpInfo* info = op_of(call);
    // a loop program writes into its arguments
    effect |=
        info ? !info->is_pure || info->name == kRequire : !is<GlobalVarNode>(call->op) || is_void(call->type);
  });
  return effect;
}

bool is_removable(const BindingBlock& block, const Binding& binding) {
  return is<DataflowBlockNode>(block) && is<VarBindingNode>(binding) && !has_effect(binding->value);
}

// Visits the blocks in reverse, so that all uses of a variable are known at its binding.
SeqExpr clean(const SeqExpr& seq, Removable removable) {
  Used used;
  mark(seq->body.get(), &used);
  std::vector<BindingBlock> blocks;
  bool changed = false;
  for (size_t n = seq->blocks.size(); n-- > 0;) {
    const BindingBlock& block = seq->blocks[n];
    std::vector<Binding> kept;
    for (size_t b = block->bindings.size(); b-- > 0;) {
      const Binding& binding = block->bindings[b];
      if (!used.count(binding->var.get()) && removable(block, binding)) continue;
      mark(binding->value.get(), &used);
      kept.push_back(binding);
    }
    std::reverse(kept.begin(), kept.end());
    const bool same = kept.size() == block->bindings.size();
    changed |= !same;
    if (kept.empty()) continue;
    if (same)
      blocks.push_back(block);
    else if (is<DataflowBlockNode>(block))
      blocks.push_back(DataflowBlockNode::make(std::move(kept)));
    else
      blocks.push_back(PlainBlockNode::make(std::move(kept)));
  }
  if (!changed) return seq;
  std::reverse(blocks.begin(), blocks.end());
  return with(seq, [&](SeqExprNode& node) { node.blocks = std::move(blocks); });
}

bool is_entry(const IRModule& module, size_t n, const Options& options) {
  const std::string& name = module->global_vars[n]->name_hint;
  const auto& entries = options.entry_functions;
  if (!entries.empty()) return std::find(entries.begin(), entries.end(), name) != entries.end();
  return name == "main" || module->functions[n]->attrs.contains("global_symbol");
}

IRModule without_unreachable(const IRModule& module, const Options& options) {
  std::unordered_set<std::string> reached;
  std::vector<std::string> pending;
  auto reach = [&](const std::string& name) {
    if (reached.insert(name).second) pending.push_back(name);
  };
  for (const std::string& name : options.entry_functions) module->lookup(name);  // raises where there is none
  for (size_t n = 0; n < module->functions.size(); ++n) {
    if (is_entry(module, n, options)) reach(module->global_vars[n]->name_hint);
  }
  while (!pending.empty()) {
    const BaseFunc func = module->find(pending.back());
    pending.pop_back();
    walk(func, [&](const GlobalVarNode* var) { reach(var->name_hint); });
  }
  IRModule result = module;
  for (const GlobalVar& var : module->global_vars) {
    if (!reached.count(var->name_hint)) result = without_function(result, var->name_hint);
  }
  return result;
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  return without_unreachable(map_functions<FunctionNode>(module, &remove_unused), options);
}

}  // namespace

Expr without_unused(const Expr& expr, Removable removable) {
  // branches first: a value used only by dead bindings of a branch is dead outside of it, too
  return rewrite(expr, [&](auto& self, const SeqExprNode* node) -> SeqExpr {
    return clean(self.children(node), removable);
  });
}

Function remove_unused(const Function& func) {
  return ref_as<FunctionNode>(without_unused(func, &is_removable));
}

extern constinit const PassInfo dead_code_elimination_info =
    module_pass<run, Options>("dead_code_elimination", "Drops bindings and functions that nothing uses.", 1);

}  // namespace tilewright::relax
