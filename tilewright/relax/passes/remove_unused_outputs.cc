// Removes fields of the results of private functions that no call uses.
//   def helper(a): return (R.exp(a), R.log(a))         private
//   t = cls.helper(x); gv = t[0]  ->  def helper(a): return R.exp(a);  t = cls.helper(x); gv = t
// If one field is left, it is the result itself.  dead_code_elimination drops the computation of the others,
// canonicalize_bindings the other name of the result.
#include <algorithm>
#include <map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/build/private_functions.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

// The fields that `func` returns; empty if its result is not written as a tuple.
std::vector<Expr> results_of(const Function& func) {
  const auto* seq = func->body.as<SeqExprNode>();
  if (!seq) return {};
  Expr body = seq->body;
  for (const BindingBlock& block : seq->blocks) {
    for (const Binding& binding : block->bindings) {
      if (Expr(binding->var) == seq->body && is<VarBindingNode>(binding)) body = binding->value;
    }
  }
  const auto* tuple = body.as<TupleNode>();
  if (!tuple) return {};
  for (const Expr& element : tuple->elements) {
    if (is<DataflowVarNode>(element)) return {};  // not visible where the function returns
  }
  return tuple->elements;
}

using Used = std::map<std::string, std::vector<bool>>;

// The fields of the results of the functions `names` that calls use; using a result
// as a whole uses all fields.
Used used_fields(const IRModule& module, const std::set<std::string>& names) {
  Used used;
  for (const std::string& name : names) {
    const std::vector<Expr> results = results_of(ref_as<FunctionNode>(module->find(name)));
    if (!results.empty()) used[name].resize(results.size());
  }
  for (const BaseFunc& func : module->functions) {
    std::map<const Object*, std::string> callee_of;
    walk(func, [&](const VarBindingNode* binding) {
      const std::string name = called_name(binding->value, names);
      if (used.contains(name)) callee_of[binding->var.get()] = name;
    });
    const auto use_all = [&](const Object* var) {
      const auto found = callee_of.find(var);
      if (found != callee_of.end()) used[found->second].assign(used[found->second].size(), true);
    };
    walk(
        func,
        [&](const VarBindingNode* binding) {
          const auto* item = binding->value.as<TupleGetItemNode>();
          const auto found = item ? callee_of.find(item->tuple.get()) : callee_of.end();
          if (found != callee_of.end()) {
            used[found->second].at(static_cast<size_t>(item->index)) = true;
          } else {
            walk(
                binding->value, [&](const VarNode* var) { use_all(var); },
                [&](const DataflowVarNode* var) { use_all(var); });
          }
        },
        [&](const SeqExprNode* seq) { walk(seq->body, [&](const VarNode* var) { use_all(var); }); },
        [&](const MatchCastNode* cast) { use_all(cast->value.get()); });
  }
  std::erase_if(used, [](const auto& entry) {
    const auto count = std::count(entry.second.begin(), entry.second.end(), true);
    return count == 0 || count == static_cast<int64_t>(entry.second.size());
  });
  return used;
}

Function shortened(const IRModule& module, const Function& func, const std::vector<bool>& used) {
  std::vector<Expr> kept;
  const std::vector<Expr> results = results_of(func);
  for (size_t n = 0; n < results.size(); ++n) {
    if (used[n]) kept.push_back(results[n]);
  }
  const Expr body = kept.size() == 1 ? kept[0] : Expr(TupleNode::make(kept));
  const Function changed = with(func, [&](FunctionNode& node) {
    node.body = with(SeqExpr(func->body.as<SeqExprNode>()), [&](SeqExprNode& seq) {
      seq.body = body;
      seq.type = nullptr;
    });
    node.ret_type = nullptr;
    node.type = nullptr;
  });
  return BlockBuilder(module).normalize_function(changed);
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  const std::set<std::string> names = private_functions(module);
  const Used used = used_fields(module, names);
  if (used.empty()) return module;
  IRModule result = module;
  for (const auto& [name, fields] : used)
    result = with_function(result, name, shortened(module, ref_as<FunctionNode>(module->find(name)), fields));
  return map_functions<FunctionNode>(result, [&](const Function& func) {
    std::map<const Object*, const std::vector<bool>*> fields_of;
    const Function changed = rewrite(func, [&](auto& self, const VarBindingNode* node) -> Binding {
      const std::string name = called_name(node->value, names);
      if (const auto found = used.find(name); found != used.end()) {
        fields_of[node->var.get()] = &found->second;
        const Call call(node->value.template as<CallNode>());
        // the type is inferred anew
        return with(node, [&](VarBindingNode& binding) {
          binding.value = with(call, [](CallNode& fresh) { fresh.type = nullptr; });
        });
      }
      const auto* item = node->value.template as<TupleGetItemNode>();
      const auto found = item ? fields_of.find(item->tuple.get()) : fields_of.end();
      if (found == fields_of.end()) return self.children(node);
      const std::vector<bool>& kept = *found->second;
      const auto index = std::count(kept.begin(), kept.begin() + item->index, true);
      const bool is_only = std::count(kept.begin(), kept.end(), true) == 1;
      return with(node, [&](VarBindingNode& binding) {
        binding.value = is_only ? item->tuple : Expr(TupleGetItemNode::make(item->tuple, index, Type()));
      });
    });
    return changed == func ? func : BlockBuilder(result).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo remove_unused_outputs_info = module_pass<run>(
    "remove_unused_outputs", "Removes unused results of functions that only the module calls.");

}  // namespace tilewright::relax
