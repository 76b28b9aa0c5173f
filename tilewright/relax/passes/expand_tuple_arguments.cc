// Private functions take the fields of a tuple instead of the tuple.
//   def helper(t: R.Tuple(A, B)): return t[0]          private
//   gv = cls.helper((x, y))  ->  def helper(t_0: A, t_1: B): t = (t_0, t_1); return t[0]
//                                gv = cls.helper(x, y)
// Nested tuples are expanded as well.  canonicalize_bindings then resolves the fields, and
// remove_unused_parameters drops those that are not used.
#include <algorithm>
#include <map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/build/private_functions.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

// Adds a parameter for each tensor, shape or scalar in `type`; returns the value of
// this type built from them.
Expr add_fields(const std::string& name, const Type& type, std::vector<Var>* params) {
  const auto* tuple = type.as<TupleTypeNode>();
  if (!tuple) {
    params->push_back(VarNode::make(name, type));
    return params->back();
  }
  std::vector<Expr> fields;
  for (size_t n = 0; n < tuple->elements.size(); ++n)
    fields.push_back(add_fields(fmt::format("{}_{}", name, n), tuple->elements[n], params));
  return TupleNode::make(std::move(fields));
}

Function expanded(const IRModule& module, const Function& func) {
  std::vector<Var> params;
  std::vector<Binding> tuples;
  for (const Var& param : func->params) {
    if (!is<TupleTypeNode>(param->type)) {
      params.push_back(param);
      continue;
    }
    const Expr value = add_fields(param->name_hint, param->type, &params);
    tuples.push_back(VarBindingNode::make(AnyVar(param), value));
  }
  const auto* seq = func->body.as<SeqExprNode>();
  std::vector<BindingBlock> blocks{PlainBlockNode::make(std::move(tuples))};
  blocks.insert(blocks.end(), seq->blocks.begin(), seq->blocks.end());
  const Function changed = with(func, [&](FunctionNode& node) {
    node.params = params;
    node.body = with(SeqExpr(seq), [&](SeqExprNode& body) { body.blocks = std::move(blocks); });
  });
  return BlockBuilder(module).normalize_function(changed);
}

// Adds the fields of `value`, an argument of type `type`.
void add_arguments(const Expr& value, const Type& type, std::vector<Expr>* args) {
  const auto* tuple = type.as<TupleTypeNode>();
  if (!tuple) return args->push_back(value);
  const auto* given = value.as<TupleNode>();
  for (size_t n = 0; n < tuple->elements.size(); ++n) {
    const Expr field =
        given ? given->elements.at(n) : Expr(TupleGetItemNode::make(value, static_cast<int64_t>(n), Type()));
    add_arguments(field, tuple->elements[n], args);
  }
}

bool has_tuple(const Function& func) {
  return std::any_of(func->params.begin(), func->params.end(),
                     [](const Var& param) { return is<TupleTypeNode>(param->type); });
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  std::set<std::string> names = private_functions(module);
  std::erase_if(names, [&](const std::string& name) {
    const Function func = ref_as<FunctionNode>(module->find(name));
    return !has_tuple(func) || !is<SeqExprNode>(func->body);
  });
  if (names.empty()) return module;
  IRModule result = module;
  for (const std::string& name : names)
    result = with_function(result, name, expanded(module, ref_as<FunctionNode>(module->find(name))));
  return map_functions<FunctionNode>(result, [&](const Function& func) {
    const Function changed = rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      const Call call = self.children(node);
      const std::string name = called_name(call, names);
      const auto callee = name.empty() ? Function() : ref_as<FunctionNode>(module->find(name));
      if (!callee || callee->params.size() != call->args.size()) return call;
      std::vector<Expr> args;
      for (size_t n = 0; n < call->args.size(); ++n)
        add_arguments(call->args[n], callee->params[n]->type, &args);
      return with(call, [&](CallNode& changed_call) { changed_call.args = std::move(args); });
    });
    return changed == func ? func : BlockBuilder(result).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo expand_tuple_arguments_info = module_pass<run>(
    "expand_tuple_arguments", "Passes fields instead of tuples to functions that only the module calls.");

}  // namespace tilewright::relax
