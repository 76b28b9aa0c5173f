// Replaces calls of private functions by their bodies.
//   def helper(a): return R.exp(a)         private
//   gv = cls.helper(x)  ->  gv = R.exp(x)
// Kept are functions that call themselves, calls whose arguments have to be checked at run time, and calls in
// a dataflow block of functions with branches.  Inlined functions that are not called any more are dropped.
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/build/private_functions.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

std::set<std::string> names_called(const BaseFunc& func) {
  std::set<std::string> names;
  walk(func, [&](const GlobalVarNode* var) { names.insert(var->name_hint); });
  return names;
}

bool reaches_itself(const IRModule& module, const std::string& name) {
  std::set<std::string> seen;
  std::vector<std::string> pending{name};
  while (!pending.empty()) {
    const BaseFunc func = module->find(pending.back());
    pending.pop_back();
    if (!func) continue;
    for (const std::string& next : names_called(func)) {
      if (next == name) return true;
      if (seen.insert(next).second) pending.push_back(next);
    }
  }
  return false;
}

bool has_branches_or_functions(const Function& func) {
  bool found = false;
  walk(func->body, [&](const IfNode*) { found = true; }, [&](const FunctionNode*) { found = true; });
  return found;
}

// The body of `func` for these arguments, with new variables; null if an argument must be checked.
Expr body_for(const Function& func, const std::vector<Expr>& args) {
  Substitution map;
  for (size_t n = 0; n < args.size(); ++n) {
    map[func->params[n].get()] = args[n];
    const Shape* given = known_shape(args[n]);
    const Type& type = func->params[n]->type;
    const auto* tensor = type.as<TensorTypeNode>();
    const auto* shape = type.as<ShapeTypeNode>();
    const Shape* wanted = shape && shape->is_known ? &shape->values : known_shape(tensor);
    if (!given || !wanted || given->size() != wanted->size()) continue;
    for (size_t axis = 0; axis < given->size(); ++axis) {
      if (is<tir::VarNode>((*wanted)[axis])) map.try_emplace((*wanted)[axis].get(), (*given)[axis]);
    }
  }
  for (size_t n = 0; n < args.size(); ++n) {
    const Type given = type_of(args[n]);
    if (!given || is_subtype(given, substitute(func->params[n]->type, map)) != Answer::kYes) return nullptr;
  }
  walk(func->body, [&](const BindingNode* binding) {
    const AnyVar& var = binding->var;
    if (is<DataflowVarNode>(var))
      map[var.get()] = DataflowVar(DataflowVarNode::make(var->name_hint, Type(), var->span));
    else
      map[var.get()] = Var(VarNode::make(var->name_hint, Type(), var->span));
    if (const auto* cast = ObjectRef(binding).as<MatchCastNode>()) {
      std::vector<const tir::VarNode*> dims;
      collect_defined_dims(cast->pattern, &dims);
      for (const tir::VarNode* dim : dims) map.try_emplace(dim, tir::make_var(dim->name_hint, dim->dtype));
    }
  });
  return substitute(func->body, map);
}

class Inliner {
 public:
  explicit Inliner(const IRModule& module) : module_(module), names_(private_functions(module)) {
    std::erase_if(names_, [&](const std::string& name) { return reaches_itself(module, name); });
  }

  const std::set<std::string>& names() const { return names_; }

  Function run(const Function& func) {
    bool in_dataflow = false;
    return rewrite(
        func,
        [&](auto& self, const DataflowBlockNode* block) -> DataflowBlock {
          in_dataflow = true;
          const DataflowBlock changed = self.children(block);
          in_dataflow = false;
          return changed;
        },
        [&](auto& self, const VarBindingNode* node) -> Binding {
          const VarBinding binding = self.children(node);
          const std::string name = called_name(binding->value, names_);
          const auto callee = name.empty() ? Function() : ref_as<FunctionNode>(module_->find(name));
          if (!callee || (in_dataflow && has_branches_or_functions(callee))) return binding;
          const auto* call = binding->value.as<CallNode>();
          if (call->args.size() != callee->params.size()) return binding;
          const Expr body = body_for(run(callee), call->args);
          return body ? with(binding, [&](VarBindingNode& changed) { changed.value = body; }) : binding;
        });
  }

 private:
  const IRModule& module_;
  std::set<std::string> names_;
};

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  Inliner inliner(module);
  if (inliner.names().empty()) return module;
  IRModule result = map_functions<FunctionNode>(module, [&](const Function& func) {
    const Function changed = inliner.run(func);
    return changed == func ? func : BlockBuilder(module).normalize_function(changed);
  });
  for (bool any = result != module; any;) {  // one function may have been the only one to call another
    any = false;
    std::set<std::string> called;
    for (const BaseFunc& func : result->functions) called.merge(names_called(func));
    for (const std::string& name : inliner.names()) {
      if (called.contains(name) || !result->find(name)) continue;
      result = without_function(result, name);
      any = true;
    }
  }
  return result;
}

}  // namespace

extern constinit const PassInfo inline_private_functions_info =
    module_pass<run>("inline_private_functions", "Inlines functions that only the module calls.");

}  // namespace tilewright::relax
