// Calls: kernels and registry functions with outputs, functions of the module, operators the machine does
// itself.
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/runtime/builtins.h"
#include "tilewright/support/error.h"

namespace tilewright::relax::vm {

rt::Register FunctionCompiler::call(const CallNode* call, const VarBaseNode* var) {
  const std::string_view name = op_name(call);
  if (writes_outputs(name)) return call_with_outputs(call, var);
  if (is_reshape_like(name)) return reshape(call);
  if (name == "relax.shape_of") return code_.shape_of(value(call->args[0]));
  if (name == "relax.tensor_to_shape") return code_.tensor_to_shape(value(call->args[0]));
  return call_other(call);
}

// inputs, outputs, then the extra integers
rt::Register FunctionCompiler::call_with_outputs(const CallNode* call, const VarBaseNode* var) {
  if (!var) throw InternalError("a call_tir stands inside another expression; normalize first");
  std::string callee;
  if (const auto* global = call->args[0].as<GlobalVarNode>())
    callee = kernel_symbol(module_, global->name_hint);
  else if (const auto* outside = call->args[0].as<ExternFuncNode>())
    callee = outside->global_symbol;
  else
    throw InternalError("call_tir: the first argument is no function");
  rt::Operands args;
  if (const auto* inputs = call->args[1].as<TupleNode>())
    args = operands(inputs->elements);
  else
    args.push_back(operand(call->args[1]));
  size_t next = liveness_.first_allocation.at(var);
  rt::Operands outputs;
  const std::vector<int64_t> arguments = output_arguments(call);
  for (const int64_t argument : arguments)
    outputs.push_back(argument >= 0 ? args.at(static_cast<size_t>(argument)) : allocate(next++, call));
  for (size_t n = 0; n < outputs.size(); ++n) {
    if (arguments[n] < 0) args.push_back(outputs[n]);
  }
  if (call->args.size() > 2) {
    const auto* extra = call->args[2].as<ShapeExprNode>();
    if (!extra) throw InternalError("call_tir: tir_vars is no shape");
    for (const PrimExpr& number : extra->values) args.push_back(size(number));
  }
  code_.call_kernel(callee, args);
  const bool is_tuple = call->type_args.size() != 1 || is<TupleTypeNode>(call->type_args[0]);
  return is_tuple ? code_.make_tuple(outputs) : rt::Register{outputs[0].index};
}

rt::Register FunctionCompiler::reshape(const CallNode* call) {
  const auto* type = call->type.as<TensorTypeNode>();
  const auto* shape = type ? type->shape.as<ShapeExprNode>() : nullptr;
  if (!shape)
    throw Unsupported(call, "{} to a shape that is known only at run time", op_name(call))
        .help("bind the shape with R.match_cast");
  const rt::Operands dims = sizes(shape->values);
  return code_.reshape(value(call->args[0]), dims);
}

rt::Register FunctionCompiler::call_other(const CallNode* call) {
  if (const auto* outside = call->op.as<ExternFuncNode>())
    return code_.call_packed(outside->global_symbol, operands(call->args));
  if (const auto* global = call->op.as<GlobalVarNode>()) {
    if (is<tir::PrimFuncNode>(module_->find(global->name_hint)))
      return code_.call_packed(kernel_symbol(module_, global->name_hint), operands(call->args));
    return code_.call_function(executable_.declare(global->name_hint), operands(call->args));
  }
  if (VarBaseNode::classof(*call->op)) return code_.call_closure(value(call->op), operands(call->args));
  const std::string_view name = op_name(call);
  if (name == "relax.call_pure_packed" || name == "relax.call_packed") {
    const auto* outside = call->args.empty() ? nullptr : call->args[0].as<ExternFuncNode>();
    if (!outside) throw InternalError("{}: the first argument is no name of a function", name);
    return code_.call_packed(outside->global_symbol, operands(call->args, 1));
  }
  if (name == "relax.print" || name == "relax.assert_op")
    return code_.call_packed(name == "relax.print" ? runtime::kPrintFunction : runtime::kAssertFunction,
                             operands(call->args));
  if (name == "relax.make_closure") {
    const auto* global = call->args[0].as<GlobalVarNode>();
    const auto* bound = call->args[1].as<TupleNode>();
    if (!global || !bound)
      throw Unsupported(call, "make_closure of a value").help("name a function of the module");
    return code_.make_closure(executable_.declare(global->name_hint), operands(bound->elements));
  }
  throw Unsupported(call, "the operator {} has no code", name.empty() ? "of a nested function" : name)
      .help("run the pass legalize_ops first");
}

}  // namespace tilewright::relax::vm
