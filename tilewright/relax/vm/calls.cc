// Calls: kernels and registry functions, functions of the module, operators of the virtual machine.
#include "tilewright/relax/graph/function_names.h"
#include "tilewright/relax/infer/loop_types.h"
#include "tilewright/relax/infer/requirements.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/runtime/builtins.h"
#include "tilewright/support/error.h"

namespace tilewright::relax::vm {

// Compiles a call that is made for its effect and returns no value; false for other calls.
bool FunctionCompiler::does(const CallNode* call, const VarBaseNode* var) {
  const std::string_view name = op_name(call);
  if (name == kVmKillObject) {
    kill(call);
    return true;
  }
  if (name == kVmAllocStorage) {
    storage_names_.insert(var);
    return true;
  }
  if (name == kRequire) {
    require(call);
    return true;
  }
  if (!is_void(call->type)) return false;
  const auto* outside = call->op.as<ExternFuncNode>();
  if (!outside && !calls_loop_program(call, module_)) return false;
  const auto* global = call->op.as<GlobalVarNode>();
  code_.call_kernel(outside ? outside->global_symbol : kernel_symbol(module_, global->name_hint),
                    operands(call->args));
  return true;
}

void FunctionCompiler::require(const CallNode* call) {
  const auto* condition = call->args[0].as<PrimValueNode>();
  const auto* format = call->args[1].as<StringValueNode>();
  if (!condition || !format)
    throw UserError(call, "require: the condition is no expression of extents, or the format no string")
        .help("R.assert_op takes values that the graph computes");
  code_.require(int_register(condition->value), format->value, operands(call->args, 2));
}

rt::Register FunctionCompiler::call(const CallNode* call, const VarBaseNode* var) {
  const std::string_view name = op_name(call);
  if (name == kBuiltinAllocTensor) return alloc_own(call);
  if (name == kVmAllocTensor) return alloc_in_storage(call, var);
  if (is_reshape_like(name)) return reshape(call);
  if (name == "relax.shape_of") return code_.shape_of(value(call->args[0]));
  if (name == kLoop) return loop(call);
  if (name == "relax.tensor_to_shape") return code_.tensor_to_shape(value(call->args[0]));
  return call_other(call);
}

rt::Register FunctionCompiler::reshape(const CallNode* call) {
  const auto* type = call->type.as<TensorTypeNode>();
  const auto* shape = type ? type->shape.as<ShapeExprNode>() : nullptr;
  if (!shape)
    throw Unsupported(call, "{} to a shape that is known only at run time", op_name(call))
        .help("bind the shape with R.match_cast");
  const rt::Operands dims = sizes(shape->values);
  const rt::Register source = value(call->args[0]);
  const rt::Register result = code_.reshape(source, dims);
  if (in_arena_.count(source.index)) in_arena_.insert(result.index);
  return result;
}

namespace {
const std::string& defined_in(const IRModule& module, const CallNode* call, const GlobalVarNode* global) {
  if (!module->find(global->name_hint))
    throw UserError(Expr(call), "{} is called, but the module has no function of that name",
                    global->name_hint)
        .help("compile the module that has it instead of one of its functions");
  return global->name_hint;
}
}  // namespace

rt::Register FunctionCompiler::call_other(const CallNode* call) {
  if (const auto* outside = call->op.as<ExternFuncNode>())
    return code_.call_packed(outside->global_symbol, operands(call->args));
  if (const auto* global = call->op.as<GlobalVarNode>()) {
    if (calls_loop_program(call, module_))
      return code_.call_packed(kernel_symbol(module_, global->name_hint), operands(call->args));
    return code_.call_function(executable_.declare(defined_in(module_, call, global)), operands(call->args));
  }
  if (VarBaseNode::classof(*call->op)) return code_.call_closure(value(call->op), operands(call->args));
  const std::string_view name = op_name(call);
  if (name == "relax.null_value") return code_.set(rt::none());
  if (name == "relax.call_pure_packed" || name == "relax.call_packed" ||
      name == "relax.call_inplace_packed") {
    const auto* outside = call->args.empty() ? nullptr : call->args[0].as<ExternFuncNode>();
    if (!outside) throw InternalError("{}: the first argument is not the name of a function", name);
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
    return code_.make_closure(executable_.declare(defined_in(module_, call, global)),
                              operands(bound->elements));
  }
  const bool is_lowered = !writes_outputs(name) && !name.starts_with("relax.memory.");
  throw Unsupported(call, "the operator {} has no code", name.empty() ? "of a nested function" : name)
      .help("run the pass {} first", is_lowered             ? "legalize_ops"
                                     : writes_outputs(name) ? "call_tir_rewrite"
                                                            : "lower_runtime_builtin");
}

}  // namespace tilewright::relax::vm
