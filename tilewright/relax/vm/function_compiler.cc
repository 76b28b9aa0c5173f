// Compiles bindings in order: calls, branches, other values.
#include "tilewright/relax/vm/function_compiler.h"

#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/function_names.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax::vm {
namespace {

std::vector<rt::Description> describe_params(const Function& func) {
  std::vector<rt::Description> result;
  for (const Var& param : func->params)
    result.push_back({param->name_hint, shown_type(func, param->name_hint, param->type)});
  return result;
}

std::vector<rt::Description> describe_results(const Function& func) {
  const auto* tuple = func->ret_type.as<TupleTypeNode>();
  const std::vector<Type> types = tuple ? tuple->elements : std::vector<Type>{func->ret_type};
  const std::vector<std::string> names = names_in(func, kOutputNames);
  std::vector<rt::Description> result;
  for (size_t n = 0; n < types.size(); ++n) {
    const std::string numbered = tuple ? fmt::format("output_{}", n) : "output";
    const std::string& name = names.size() == types.size() ? names[n] : numbered;
    result.push_back({name, shown_type(func, name, types[n])});
  }
  return result;
}

}  // namespace

FunctionCompiler::FunctionCompiler(const IRModule& module, rt::ExecutableBuilder& executable,
                                   std::string name, const Function& func, bool is_public)
    : module_(module),
      devices_(module),
      executable_(executable),
      func_(func),
      code_(executable, std::move(name), describe_params(func), describe_results(func), is_public),
      layout_(lay_out_memory(func, module)) {}

rt::BytecodeFunction FunctionCompiler::compile() {
  check_parameters();
  load_constants();
  reserve_arena();
  code_.ret(sequence(func_->body.as<SeqExprNode>(), func_->ret_type));
  return code_.finish();
}

rt::Register FunctionCompiler::sequence(const SeqExprNode* seq, const Type& result) {
  for (const BindingBlock& block : seq->blocks) {
    for (const Binding& binding : block->bindings) bind(binding);
  }
  code_.on_device(device_of_type(result));
  return value(seq->body);
}

void FunctionCompiler::bind(const Binding& binding) {
  code_.on_device(device_of(binding));
  if (const auto* cast = ObjectRef(binding).as<MatchCastNode>()) return match_cast(cast);
  const VarBaseNode* var = binding->var.get();
  if (const auto* node = binding->value.as<CallNode>()) {
    if (!does(node, var)) name(var, call(node, var));
  } else if (const auto* node = binding->value.as<IfNode>()) {
    name(var, branch(node, var->type));
  } else if (storage_names_.count(binding->value.as<VarBaseNode>())) {
    storage_names_.insert(var);
  } else {
    name(var, value(binding->value));
  }
}

void FunctionCompiler::name(const VarBaseNode* var, rt::Register place) {
  registers_[var] = place;
  ++names_of_[place.index];
}

rt::Register FunctionCompiler::value(const Expr& expr) {
  if (VarBaseNode::classof(*expr)) {
    const auto* var = static_cast<const VarBaseNode*>(static_cast<const Object*>(expr.get()));
    auto known = registers_.find(var);
    if (known != registers_.end()) return known->second;
    if (storage_names_.count(var))
      throw UserError(expr, "the storage {} is used as a value", var->name_hint)
          .help("place tensors in it with alloc_tensor");
    if (is_void(var->type)) return code_.make_tuple({});  // a call that returns nothing
    throw UserError(expr, "the variable {} is used before it is defined", var->name_hint);
  }
  if (const auto* constant = expr.as<ConstantNode>()) return constants_.at({constant, code_.device()});
  if (const auto* tuple = expr.as<TupleNode>()) return code_.make_tuple(operands(tuple->elements));
  if (const auto* item = expr.as<TupleGetItemNode>())
    return code_.get_item(value(item->tuple), static_cast<uint32_t>(item->index));
  if (const auto* shape = expr.as<ShapeExprNode>()) return code_.make_shape(sizes(shape->values));
  if (const auto* node = expr.as<CallNode>()) return call(node, nullptr);
  return code_.set(operand(expr));
}

rt::Operand FunctionCompiler::operand(const Expr& expr) {
  if (const auto* prim = expr.as<PrimValueNode>()) {
    if (const auto* real = prim->value.as<FloatImmNode>()) return rt::imm_float(real->value);
    if (const auto* number = prim->value.as<IntImmNode>(); number && number->dtype.is_bool())
      return rt::imm_bool(number->value != 0);
    return size(prim->value);
  }
  if (const auto* text = expr.as<StringValueNode>()) return code_.str(text->value);
  if (const auto* dtype = expr.as<DataTypeValueNode>()) return rt::imm_dtype(dtype->value);
  if (const auto* global = expr.as<GlobalVarNode>();
      global && is<FunctionNode>(module_->find(global->name_hint)))
    return code_.make_closure(executable_.declare(global->name_hint), {});
  if (is<FunctionNode>(expr) || is<GlobalVarNode>(expr) || is<ExternFuncNode>(expr))
    throw Unsupported(expr, "a function used as a value")
        .help("run the pass lambda_lift first, and call others by name");
  return value(expr);
}

rt::Operands FunctionCompiler::operands(const std::vector<Expr>& args, size_t first) {
  rt::Operands result;
  for (size_t n = first; n < args.size(); ++n) result.push_back(operand(args[n]));
  return result;
}

rt::Register FunctionCompiler::branch(const IfNode* node, const Type& type) {
  const rt::Register result = code_.new_register();
  const rt::Label otherwise = code_.new_label(), done = code_.new_label();
  code_.jump_if_false(value(node->cond), otherwise);
  const auto outer = dims_;  // dimensions bound in one branch are not known in the other
  code_.set(result, sequence(node->true_branch.as<SeqExprNode>(), type));
  code_.jump(done);
  code_.bind_label(otherwise);
  dims_ = outer;
  code_.set(result, sequence(node->false_branch.as<SeqExprNode>(), type));
  code_.bind_label(done);
  dims_ = outer;
  return result;
}

}  // namespace tilewright::relax::vm
