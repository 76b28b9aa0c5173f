#include "tilewright/relax/memory/liveness.h"

#include "tilewright/ir/walk.h"
#include "tilewright/relax/memory/memory_ops.h"
#include "tilewright/runtime/builtins.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {

std::string_view op_name(const CallNode* call) {
  const auto* op = call->op.as<OpNode>();
  return op ? std::string_view(op->name) : std::string_view();
}

bool is_reshape_like(std::string_view name) {
  return name == "relax.reshape" || name == "relax.flatten" || name == "relax.expand_dims" ||
         name == "relax.squeeze" || name == "relax.nn.batch_flatten";
}

std::vector<int64_t> permutation_of(const CallNode* call) {
  std::vector<int64_t> axes = call->attrs.get_ints("axes", {});
  const Type type = type_of(call->args[0]);
  const auto* tensor = type.as<TensorTypeNode>();
  const int64_t ndim = tensor ? tensor->ndim : -1;
  for (int64_t& axis : axes) axis += axis < 0 ? ndim : 0;
  if (axes.empty()) {
    for (int64_t axis = ndim; axis-- > 0;) axes.push_back(axis);
  }
  return axes;
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

// True for operators that read their arguments and keep nothing of them in the result.
bool only_reads(std::string_view name) {
  return name == "relax.shape_of" || name == "relax.tensor_to_shape" || name == kBuiltinAllocTensor ||
         is_alloc_storage(name);
}

// True for a copy to another device into a tensor that it is given.
bool copies_tensor(const CallNode* call) {
  const auto* callee = call->op.as<ExternFuncNode>();
  return callee && callee->global_symbol == runtime::kCopyFunction && call->args.size() == 3;
}

// Shapes and scalars are stored by the virtual machine itself.
bool owns_memory(const Type& type) {
  return !is<ShapeTypeNode>(type) && !is<PrimTypeNode>(type) && !is_void(type);
}

class Analysis {
 public:
  Analysis(const IRModule& module, Holds holds) : module_(module), holds_(holds) {}

  Liveness run(const Function& func) {
    for (size_t id : sequence(func->body)) result_.owners[id].escapes = true;
    return std::move(result_);
  }

 private:
  // The owners that `expr` may be or hold; marks them as used now.
  Ids use(const Expr& expr, const CallNode* call = nullptr) {
    Ids ids;
    if (const VarBaseNode* var = expr.as<VarBaseNode>()) {
      result_.last_use[var] = step_;
      auto known = result_.held.find(var);
      if (known != result_.held.end()) ids = known->second;
    } else if (const auto* tuple = expr.as<TupleNode>()) {
      for (const Expr& element : tuple->elements) ids.merge(use(element, call));
    } else if (const auto* item = expr.as<TupleGetItemNode>()) {
      ids = use(item->tuple, call);
    } else if (const auto* inner = expr.as<CallNode>()) {
      for (const Expr& arg : inner->args) ids.merge(use(arg, call));
    } else if (is<FunctionNode>(expr)) {
      ids = captured(expr);
    }
    for (size_t id : ids) extend(id, call);
    return ids;
  }

  // The values that a local function may use, whenever it is called.
  Ids captured(const Expr& func) {
    Ids ids;
    walk(func, [&](const VarNode* var) { ids.merge(use(Expr(var))); });
    for (size_t id : ids) result_.owners[id].escapes = true;
    return ids;
  }

  void extend(size_t id, const CallNode* call) {
    Owner& owner = result_.owners[id];
    owner.last = std::max(owner.last, step_);
    owner.last_call = call;
  }

  Ids sequence(const Expr& body) {
    const auto* seq = body.as<SeqExprNode>();
    if (!seq)
      throw UserError(body, "a body or branch is no sequence of bindings")
          .help("run the pass normalize first");
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) bind(binding);
    }
    ++step_;
    return use(seq->body);
  }

  void bind(const Binding& binding) {
    const auto* call = binding->value.as<CallNode>();
    if (!call || !is_kill(op_name(call))) ++step_;
    Ids ids;
    if (call)
      ids = call_result(call, binding->var.get());
    else if (const auto* branch = binding->value.as<IfNode>())
      ids = either(branch);
    else
      ids = use(binding->value);
    result_.end_of[binding.get()] = step_;
    result_.held[binding->var.get()] = std::move(ids);
  }

  Ids either(const IfNode* branch) {
    use(branch->cond);
    Ids ids = sequence(branch->true_branch);
    ids.merge(sequence(branch->false_branch));
    // the result of one branch must outlive the other branch, which comes later in program order
    for (size_t id : ids) extend(id, nullptr);
    return ids;
  }

  Ids call_result(const CallNode* call, const VarBaseNode* var) {
    const std::string_view name = op_name(call);
    if (is_kill(name)) return {};
    Ids seen;
    if (VarBaseNode::classof(*call->op)) seen.merge(use(call->op, call));
    for (const Expr& arg : call->args) seen.merge(use(arg, call));
    if (is_reshape_like(name)) return seen;
    const bool keeps_nothing = only_reads(name) || is_alloc_in_storage(name) ||
                               calls_loop_program(call, module_) || copies_tensor(call);
    if (!keeps_nothing) {
      for (size_t id : seen) result_.owners[id].escapes = true;
    }
    if (!call->type || !owns_memory(call->type)) return {};
    const bool holds_seen = is_alloc_in_storage(name) || (!only_reads(name) && holds_ == Holds::kPossibly);
    Ids ids = holds_seen ? std::move(seen) : Ids{};
    ids.insert(result_.owners.size());
    result_.owners.push_back({var, call, step_, step_});
    return ids;
  }

  const IRModule& module_;
  const Holds holds_;
  Liveness result_;
  int64_t step_ = 0;
};

}  // namespace

NumUses count_uses(const Function& func) {
  NumUses uses;
  walk(
      func->body, [&](const VarNode* var) { ++uses[var]; }, [&](const DataflowVarNode* var) { ++uses[var]; },
      [&](const BindingNode* binding) { --uses[binding->var.get()]; });  // the walk visits definitions, too
  return uses;
}

bool calls_loop_program(const CallNode* call, const IRModule& module) {
  const auto* name = call->op.as<GlobalVarNode>();
  return name && is<tir::PrimFuncNode>(module->find(name->name_hint));
}

Liveness analyze_liveness(const Function& func, const IRModule& module, Holds holds) {
  return Analysis(module, holds).run(func);
}

}  // namespace tilewright::relax
