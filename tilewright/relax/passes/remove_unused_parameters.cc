// Removes unused parameters of private functions, and their arguments in calls.
//   def helper(a, b): return R.exp(a)      private
//   gv = cls.helper(x, y)  ->  gv = cls.helper(x)
// A parameter stays if it alone defines a symbolic dimension.  Functions that are
// visible outside are not changed.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/private_functions.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

std::unordered_set<const Object*> dims_defined(const std::vector<Var>& params) {
  std::vector<const tir::VarNode*> dims;
  for (const Var& param : params) collect_defined_dims(param->type, &dims);
  return {dims.begin(), dims.end()};
}

// True for each parameter that is needed.
std::vector<bool> needed(const Function& func) {
  std::unordered_set<const Object*> used;
  walk(func->body, [&](const VarNode* var) { used.insert(var); });
  std::unordered_set<const Object*> dims;
  const auto use_dims = [&](const Object* root) {
    walk(root, [&](const tir::VarNode* dim) { dims.insert(dim); });
  };
  use_dims(func->body.get());
  use_dims(func->ret_type.get());
  std::vector<Var> kept;
  std::vector<bool> result(func->params.size());
  for (size_t n = 0; n < func->params.size(); ++n) {
    result[n] = used.contains(func->params[n].get());
    if (!result[n]) continue;
    kept.push_back(func->params[n]);
    use_dims(func->params[n]->type.get());
  }
  for (size_t n = 0; n < func->params.size(); ++n) {
    if (result[n]) continue;
    const auto known = dims_defined(kept);
    const auto own = dims_defined({func->params[n]});
    result[n] = std::any_of(own.begin(), own.end(),
                            [&](const Object* dim) { return dims.contains(dim) && !known.contains(dim); });
    if (result[n]) kept.push_back(func->params[n]);
  }
  return result;
}

template <class T>
std::vector<T> selected(const std::vector<T>& items, const std::vector<bool>& which) {
  std::vector<T> result;
  for (size_t n = 0; n < items.size(); ++n) {
    if (which[n]) result.push_back(items[n]);
  }
  return result;
}

IRModule without_unused(const IRModule& module) {
  const std::set<std::string> names = private_functions(module);
  std::map<std::string, std::vector<bool>> needed_of;
  IRModule result = module;
  for (const std::string& name : names) {
    const Function func = ref_as<FunctionNode>(module->find(name));
    std::vector<bool> which = needed(func);
    if (std::find(which.begin(), which.end(), false) == which.end()) continue;
    Function shorter = with(func, [&](FunctionNode& node) { node.params = selected(func->params, which); });
    shorter = with(shorter, [&](FunctionNode& node) { node.type = function_type(shorter.get()); });
    result = with_function(result, name, shorter);
    needed_of[name] = std::move(which);
  }
  if (needed_of.empty()) return module;
  return map_functions<FunctionNode>(result, [&](const Function& func) {
    return rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      const Call call = self.children(node);
      const std::string name = called_name(call, names);
      const auto found = needed_of.find(name);
      if (found == needed_of.end() || call->args.size() != found->second.size()) return call;
      return with(call, [&](CallNode& changed) { changed.args = selected(call->args, found->second); });
    });
  });
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  IRModule result = module;
  for (IRModule before; before != result;) {  // a parameter may only have been passed on
    before = result;
    result = without_unused(result);
  }
  return result;
}

}  // namespace

extern constinit const PassInfo remove_unused_parameters_info = module_pass<run>(
    "remove_unused_parameters", "Removes unused parameters of functions that only the module calls.");

}  // namespace tilewright::relax
