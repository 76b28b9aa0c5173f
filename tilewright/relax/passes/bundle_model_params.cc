// Passes the weights as one tuple.  The attribute num_input is the number of parameters that are not weights.
//   def main(x, w, b):                    def main(x, model_params):     # model_params: (w, b)
//     R.func_attr({"num_input": 1})  ->     w = model_params[0]
//     gv = R.linear(x, w, b)                b = model_params[1]
//     return gv                             gv = R.linear(x, w, b)
//                                           return gv
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Options {
  std::string param_name = "model_params";
  static constexpr auto fields() {
    return std::tuple{field<&Options::param_name>("param_name", "the name of the tuple")};
  }
};

Function bundled(const Function& func, const IRModule& module, const Options& options) {
  if (!func->attrs.contains("num_input")) return func;
  const int64_t num_inputs = func->attrs.get_int("num_input", 0);
  const auto num_params = static_cast<int64_t>(func->params.size());
  if (num_inputs < 0 || num_inputs > num_params)
    throw UserError(func, "num_input is {}, but the number of parameters is {}", num_inputs, num_params);
  const auto* body = func->body.as<SeqExprNode>();
  const bool is_bundled = num_inputs + 1 == num_params && is<TupleTypeNode>(func->params.back()->type);
  if (num_inputs == num_params || is_bundled || !body) return func;
  std::vector<Type> types;
  for (int64_t n = num_inputs; n < num_params; ++n)
    types.push_back(func->params[static_cast<size_t>(n)]->type);
  const Var bundle = VarNode::make(options.param_name, Type(tuple_type(std::move(types))));
  std::vector<Binding> items;
  for (int64_t n = num_inputs; n < num_params; ++n)
    items.push_back(VarBindingNode::make(AnyVar(func->params[static_cast<size_t>(n)]),
                                         Expr(TupleGetItemNode::make(bundle, n - num_inputs))));
  const Function changed = with(func, [&](FunctionNode& node) {
    node.params.resize(static_cast<size_t>(num_inputs));
    node.params.push_back(bundle);
    node.type = nullptr;
    node.body = with(SeqExpr(body), [&](SeqExprNode& seq) {
      seq.blocks.insert(seq.blocks.begin(), DataflowBlockNode::make(std::move(items)));
    });
  });
  return BlockBuilder(module).normalize_function(changed);
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  return map_functions<FunctionNode>(module,
                                     [&](const Function& func) { return bundled(func, module, options); });
}

}  // namespace

extern constinit const PassInfo bundle_model_params_info = module_pass<run, Options>(
    "bundle_model_params", "Bundles the parameters after the first num_input in one tuple.");

}  // namespace tilewright::relax
