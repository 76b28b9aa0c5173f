// Moves computations that depend only on weights into a function that runs once.  The attribute num_input is
// the number of parameters that are not weights.
//   def main(x, w):                       def main_transform_params(params):       # params: (w,)
//     R.func_attr({"num_input": 1})         lv = R.permute_dims(params[0])
//     lv = R.permute_dims(w)         ->     return (lv,)
//     gv = R.matmul(x, lv)                def main(x, lv):
//     return gv                             gv = R.matmul(x, lv)
//                                           return gv
// After its inputs main takes the results of main_transform_params: weights that are used unchanged, then the
// values computed from weights, both in order.  A function that computes nothing from
// weights alone is not changed.
#include <unordered_set>

#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/copy_bindings.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

using Objects = std::unordered_set<const Object*>;

template <class F>
void each_use(const Object* root, F&& visit) {
  walk(
      root, [&](const VarNode* var) { visit(Expr(var)); },
      [&](const DataflowVarNode* var) { visit(Expr(var)); });
}

// True for calls with effects, and R.builtin.stop_lift_params.
bool has_to_stay(const Expr& value) {
  bool stays = false;
  walk(value, [&](const CallNode* call) {
    const OpInfo* info = op_of(call);
    stays |=
        !info || !info->is_pure || info->name == kRequire || info->name == "relax.builtin.stop_lift_params";
  });
  return stays;
}

class Lifter {
 public:
  Lifter(const IRModule& module, const Function& func, std::string name)
      : builder_(module), func_(func), name_(std::move(name)) {
    const int64_t num_inputs = func->attrs.get_int("num_input", 0);
    const auto num_params = static_cast<int64_t>(func->params.size());
    if (num_inputs < 0 || num_inputs > num_params)
      throw UserError(func, "num_input is {}, but {} has {}", num_inputs, name_,
                      count_text(num_params, "parameter"));
    weights_.assign(func->params.begin() + num_inputs, func->params.end());
    inputs_.assign(func->params.begin(), func->params.begin() + num_inputs);
    find_lifted();
  }

  bool has_work() const { return !lifted_.empty(); }

  IRModule run() {
    find_outputs();
    write_transform();
    builder_.update_func(GlobalVarNode::make(name_), remaining());
    return builder_.get();
  }

 private:
  // Finds, in order, bindings whose variables are weights or lifted and whose dimensions weights define.
  void find_lifted() {
    Objects known;
    for (const Var& weight : weights_) {
      known.insert(weight.get());
      std::vector<const tir::VarNode*> dims;
      collect_defined_dims(weight->type, &dims);
      known.insert(dims.begin(), dims.end());
    }
    for (const BindingBlock& block : func_->body.as<SeqExprNode>()->blocks) {
      if (!is<DataflowBlockNode>(block)) continue;
      for (const Binding& binding : block->bindings) {
        if (!is<VarBindingNode>(binding) || !depends_only_on(known, binding)) continue;
        known.insert(binding->var.get());
        lifted_vars_.insert(binding->var.get());
        lifted_.push_back(binding);
      }
    }
  }
  static bool depends_only_on(const Objects& known, const Binding& binding) {
    if (VarBaseNode::classof(*binding->value) || has_to_stay(binding->value)) return false;
    bool uses_any = false, uses_other = false;
    each_use(binding->value.get(), [&](const Expr& var) {
      uses_any = true;
      uses_other |= !known.count(var.get());
    });
    auto check_dim = [&](const tir::VarNode* dim) { uses_other |= !known.count(dim); };
    walk(binding->value, check_dim);
    walk(binding->var->type, check_dim);
    return uses_any && !uses_other;
  }

  // Finds the lifted values that are used outside of lifted bindings.
  void find_outputs() {
    Objects used;
    auto use = [&](const Expr& var) { used.insert(var.get()); };
    for (const Binding& binding : bindings_of(func_)) {
      if (!lifted_vars_.count(binding->var.get())) each_use(binding->value.get(), use);
    }
    each_use(func_->body.as<SeqExprNode>()->body.get(), use);
    for (const Var& weight : weights_) {
      if (used.count(weight.get())) outputs_.push_back(AnyVar(weight));
    }
    for (const Binding& binding : lifted_) {
      if (used.count(binding->var.get())) outputs_.push_back(binding->var);
    }
  }

  void write_transform() {
    BindingCopier copier(builder_);
    std::vector<Type> types;
    for (const Var& weight : weights_) types.push_back(copier.copy_param(weight)->type);
    const Var params = VarNode::make("params", Type(tuple_type(std::move(types))));
    const std::string name = name_ + "_transform_params";
    builder_.function(name, std::vector<Var>{params}, [&] {
      builder_.begin_dataflow();
      for (size_t n = 0; n < weights_.size(); ++n) {
        const Expr item = TupleGetItemNode::make(params, static_cast<int64_t>(n));
        copier.define(AnyVar(weights_[n]), builder_.emit(item, weights_[n]->name_hint));
      }
      for (const Binding& binding : lifted_)
        copier.define(binding->var, builder_.emit(copier.copied(binding->value), binding->var->name_hint));
      std::vector<Expr> results;
      for (const AnyVar& output : outputs_) results.push_back(copier.copied(output));
      const AnyVar result = builder_.emit_output(TupleNode::make(std::move(results)));
      builder_.end_dataflow();
      builder_.emit_func_output(result);
    });
  }

  // The function without lifted bindings; their values are parameters.
  Function remaining() {
    std::vector<Var> params = inputs_;
    Substitution given;
    for (const AnyVar& output : outputs_) {
      const bool is_weight = !lifted_vars_.count(output.get());
      params.push_back(is_weight ? ref_as<VarNode>(output)
                                 : Var(VarNode::make(output->name_hint, output->type, output->span)));
      if (!is_weight) given[output.get()] = params.back();
    }
    std::vector<BindingBlock> blocks;
    const auto* body = func_->body.as<SeqExprNode>();
    for (const BindingBlock& block : body->blocks) {
      std::vector<Binding> kept;
      for (const Binding& binding : block->bindings) {
        if (!lifted_vars_.count(binding->var.get())) kept.push_back(binding);
      }
      if (kept.size() == block->bindings.size())
        blocks.push_back(block);
      else if (!kept.empty())
        blocks.push_back(DataflowBlockNode::make(std::move(kept)));
    }
    const SeqExpr rest = with(SeqExpr(body), [&](SeqExprNode& node) { node.blocks = std::move(blocks); });
    const SeqExpr renamed = substitute(rest, given);
    const Function func = with(func_, [&](FunctionNode& node) {
      node.params = params;
      node.body = renamed;
      node.type = nullptr;
    });
    return builder_.normalize_function(func);
  }

  BlockBuilder builder_;
  Function func_;
  std::string name_;
  std::vector<Var> inputs_, weights_;
  std::vector<Binding> lifted_;
  Objects lifted_vars_;
  std::vector<AnyVar> outputs_;
};

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  IRModule result = module;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func || !func->attrs.contains("num_input") || !func->body.as<SeqExprNode>()) continue;
    Lifter lifter(result, func, module->global_vars[n]->name_hint);
    if (lifter.has_work()) result = lifter.run();
  }
  return result;
}

}  // namespace

extern constinit const PassInfo lift_transform_params_info =
    module_pass<run>("lift_transform_params",
                     "Moves computations on weights alone into <name>_transform_params, which runs once.");

}  // namespace tilewright::relax
