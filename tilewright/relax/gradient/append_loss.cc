#include "tilewright/relax/gradient/append_loss.h"

#include <algorithm>

#include "tilewright/relax/build/copy_bindings.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

std::vector<Expr> results_of(const Expr& result) {
  const auto* tuple = type_of(result).as<TupleTypeNode>();
  if (!tuple) return {result};
  std::vector<Expr> results;
  for (size_t n = 0; n < tuple->elements.size(); ++n) {
    const auto* written = result.as<TupleNode>();
    results.push_back(written ? written->elements[n]
                              : Expr(TupleGetItemNode::make(result, static_cast<int64_t>(n))));
  }
  return results;
}

void require_fitting(const Function& loss, size_t n, const Expr& output) {
  const Type expected = loss->params[n]->type, given = type_of(output);
  const auto *wanted = expected.as<TensorTypeNode>(), *tensor = given.as<TensorTypeNode>();
  const bool fits = wanted && tensor && (wanted->ndim < 0 || wanted->ndim == tensor->ndim) &&
                    (wanted->dtype.is_void() || wanted->dtype == tensor->dtype);
  if (!fits)
    throw UserError("append_loss: result {} is {}, but the loss takes {}", n, type_text(given),
                    type_text(expected));
}

}  // namespace

IRModule append_loss(const IRModule& module, const std::string& func_name, const Function& loss,
                     int64_t num_outputs, const std::string& new_name) {
  const Function func = graph_function(module, func_name, "append_loss");
  BlockBuilder builder(module);
  BindingCopier model(builder), tail(builder);
  std::vector<Var> params;
  for (const Var& param : func->params) params.push_back(model.copy_param(param));
  FunctionOptions options{.attrs = func->attrs, .is_pure = func->is_pure && loss->is_pure};
  options.attrs.erase("global_symbol");
  builder.begin_function(new_name, std::nullopt, std::move(options));
  const bool is_dataflow = is_all_dataflow(func) && is_all_dataflow(loss);
  if (is_dataflow) builder.begin_dataflow();
  for (const Binding& binding : bindings_of(func)) model.emit(binding);
  const Expr outputs = builder.normalize(model.copied(func->body.as<SeqExprNode>()->body));
  std::vector<Expr> results = results_of(outputs);
  if (num_outputs < 1 || num_outputs > static_cast<int64_t>(std::min(results.size(), loss->params.size())))
    throw UserError("append_loss: num_backbone_outputs is {}, but {} gives {} and the loss takes {}",
                    num_outputs, func_name, count_text(results.size(), "value"), loss->params.size());
  const auto taken = static_cast<size_t>(num_outputs);
  for (size_t n = 0; n < loss->params.size(); ++n) {
    if (n >= taken) {
      params.push_back(tail.copy_param(loss->params[n]));
      continue;
    }
    require_fitting(loss, n, results[n]);
    tail.define_param(loss->params[n], results[n]);
  }
  for (const Binding& binding : bindings_of(loss)) tail.emit(binding);
  std::vector<Expr> all{tail.copied(loss->body.as<SeqExprNode>()->body)};
  all.insert(all.end(), results.begin() + static_cast<long>(taken), results.end());
  const Expr result = all.size() == 1 ? all[0] : Expr(TupleNode::make(std::move(all)));
  if (is_dataflow) builder.end_dataflow();
  builder.emit_func_output(result, params);
  builder.end_function();
  return builder.get();
}

}  // namespace tilewright::relax
