#include "tilewright/relax/liveness.h"

#include <set>

#include "tilewright/support/error.h"

namespace tilewright::relax {

std::string_view op_name(const CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  return op ? std::string_view(op->name) : std::string_view();
}

bool is_reshape_like(std::string_view name) {
  return name == "relax.reshape" || name == "relax.flatten" || name == "relax.expand_dims" ||
         name == "relax.squeeze";
}

std::vector<TensorType> output_types(const CallNode* call) {
  std::vector<TensorType> types;
  for (const Type& type : call->type_args) {
    if (const auto* tuple = type.as<TupleTypeNode>()) {
      for (const Type& element : tuple->elements) types.push_back(ref_as<TensorTypeNode>(element));
    } else {
      types.push_back(ref_as<TensorTypeNode>(type));
    }
  }
  for (const TensorType& type : types) {
    TILEWRIGHT_CHECK(type, "call_tir: an output is not a tensor");
  }
  return types;
}

bool writes_outputs(std::string_view name) {
  return name == "relax.call_tir" || name == "relax.call_tir_inplace" || name == "relax.call_dps_packed";
}

std::vector<int64_t> output_arguments(const CallNode* call) {
  std::vector<int64_t> result(output_types(call).size(), -1);
  const ObjectRef given = call->attrs.get("inplace_indices");
  if (const auto* list = given.as<ArrayNode>()) {
    for (size_t n = 0; n < result.size() && n < list->items.size(); ++n) {
      if (const auto* index = list->items[n].as<IntImmNode>()) result[n] = index->value;
    }
  }
  return result;
}

namespace {

using Ids = std::set<size_t>;

class Analysis {
 public:
  Analysis(const IRModule& module) : module_(module) {}

  Liveness run(const Function& func) {
    const Ids returned = sequence(func->body.as<SeqExprNode>());
    for (size_t id : returned) result_.allocations[id].escapes = true;
    result_.num_steps = step_;
    return std::move(result_);
  }

 private:
  // The allocations that `expr` may be or hold; marks them used now.
  Ids use(const Expr& expr) {
    Ids ids;
    if (VarBaseNode::classof(*expr)) {
      auto known = held_.find(static_cast<const VarBaseNode*>(static_cast<const Object*>(expr.get())));
      if (known != held_.end()) ids = known->second;
    } else if (const auto* tuple = expr.as<TupleNode>()) {
      for (const Expr& element : tuple->elements) ids.merge(use(element));
    } else if (const auto* item = expr.as<TupleGetItemNode>()) {
      ids = use(item->tuple);
    }
    for (size_t id : ids) result_.allocations[id].last = std::max(result_.allocations[id].last, step_);
    return ids;
  }

  Ids sequence(const SeqExprNode* seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) bind(binding);
    }
    ++step_;
    return use(seq->body);
  }

  void bind(const Binding& binding) {
    ++step_;
    Ids ids;
    if (const auto* call = binding->value.as<CallNode>())
      ids = call_result(call, binding->var.get());
    else if (const auto* branch = binding->value.as<IfNode>())
      ids = either(branch);
    else
      ids = use(binding->value);
    held_[binding->var.get()] = std::move(ids);
  }

  Ids either(const IfNode* branch) {
    use(branch->cond);
    Ids ids = sequence(branch->true_branch.as<SeqExprNode>());
    ids.merge(sequence(branch->false_branch.as<SeqExprNode>()));
    // what one branch gives must outlive the other, which comes later in this order
    for (size_t id : ids) result_.allocations[id].last = std::max(result_.allocations[id].last, step_);
    return ids;
  }

  bool is_kernel(const CallNode* call) const {
    const auto* name = call->args.empty() ? nullptr : call->args[0].as<GlobalVarNode>();
    return name && is<tir::PrimFuncNode>(module_->find(name->name_hint));
  }

  Ids call_result(const CallNode* call, const VarBaseNode* var) {
    const std::string_view name = op_name(call);
    Ids seen;
    for (const Expr& arg : call->args) seen.merge(use(arg));
    if (is_reshape_like(name)) return seen;
    const bool may_keep = !(writes_outputs(name) && is_kernel(call));
    if (may_keep) {
      for (size_t id : seen) result_.allocations[id].escapes = true;
    }
    if (!writes_outputs(name)) return seen;  // the result of a call may be one of its arguments
    Ids ids;
    result_.first_allocation[var] = result_.allocations.size();
    const std::vector<TensorType> types = output_types(call);
    const std::vector<int64_t> arguments = output_arguments(call);
    for (size_t n = 0; n < types.size(); ++n) {
      if (arguments[n] >= 0) {
        const auto* inputs = call->args[1].as<TupleNode>();
        ids.merge(inputs ? use(inputs->elements.at(static_cast<size_t>(arguments[n]))) : use(call->args[1]));
        continue;
      }
      ids.insert(result_.allocations.size());
      result_.allocations.push_back({var, n, types[n], step_, step_, may_keep});
    }
    return ids;
  }

  const IRModule& module_;
  Liveness result_;
  int64_t step_ = 0;
  std::unordered_map<const VarBaseNode*, Ids> held_;
};

}  // namespace

Liveness analyze_liveness(const Function& func, const IRModule& module) { return Analysis(module).run(func); }

}  // namespace tilewright::relax
