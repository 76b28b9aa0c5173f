// Declarations, attributes and constants of a module.
#include "tilewright/codegen/llvm/emitter.h"
#include "tilewright/lower/lowered.h"
#include "tilewright/runtime/kernel_abi.h"

namespace tilewright::codegen {
namespace {

llvm::FunctionType* function_type(llvm::LLVMContext& context, const PrimFuncNode* func) {
  std::vector<llvm::Type*> params;
  for (const Var& param : func->params) params.push_back(llvm_type(context, param->dtype));
  return llvm::FunctionType::get(llvm::Type::getInt32Ty(context), params, false);
}

}  // namespace

llvm::Function* ModuleEmitter::function(const std::string& name) const {
  auto found = functions_.find(name);
  TILEWRIGHT_CHECK(found != functions_.end(), "the lowered module has no function {}", name);
  return found->second;
}

llvm::FunctionCallee ModuleEmitter::external(const std::string& name, llvm::Type* result,
                                             std::vector<llvm::Type*> params, bool is_variadic) {
  return module.getOrInsertFunction(name, llvm::FunctionType::get(result, params, is_variadic));
}

llvm::Constant* ModuleEmitter::text(const std::string& value) {
  llvm::Constant*& known = texts_[value];
  if (known) return known;
  llvm::Constant* data = llvm::ConstantDataArray::getString(module.getContext(), value);
  auto* variable = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                            data, "text");
  variable->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  variable->setAlignment(llvm::Align(1));
  return known = variable;
}

void ModuleEmitter::set_attributes(llvm::Function* function, const PrimFuncNode* func) {
  function->setDoesNotThrow();
  function->addFnAttr("target-cpu", target.cpu);
  function->addFnAttr("target-features", target.features);
  function->addFnAttr("prefer-vector-width", std::to_string(target.vector_bits));
  function->addFnAttr("min-legal-vector-width", std::to_string(target.vector_bits));
  function->addFnAttr("no-trapping-math", "true");
  set_register_width(function);
  if (!func || !func->attrs.get_bool("tir.noalias", false)) return;
  for (unsigned n = 0; n < function->arg_size(); ++n) {
    if (function->getArg(n)->getType()->isPointerTy()) function->addParamAttr(n, llvm::Attribute::NoAlias);
  }
}

// __tilewright_params_<name>
void ModuleEmitter::export_params(const std::string& name, const std::string& description) {
  llvm::Constant* data = llvm::ConstantDataArray::getString(module.getContext(), description);
  auto* variable = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::ExternalLinkage,
                                            data, TILEWRIGHT_PARAMS_PREFIX + name);
  variable->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  variable->setAlignment(llvm::Align(1));
}

llvm::Function* ModuleEmitter::declare(const std::string& name, const PrimFuncNode* func) {
  const bool is_entry = func->attrs.get_string(lower::kLoweredKind, "") == lower::kEntry;
  auto* function =
      llvm::Function::Create(function_type(module.getContext(), func),
                             is_entry ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage,
                             func->attrs.get_string("global_symbol", name), module);
  if (is_entry) {
    function->setVisibility(llvm::GlobalValue::ProtectedVisibility);
    export_params(name, func->attrs.get_string(lower::kKernelParams, ""));
  }
  // other functions are not inlined: profiles show their names, and their pointers keep the no-alias property
  else
    function->addFnAttr(llvm::Attribute::NoInline);
  set_attributes(function, func);
  for (unsigned n = 0; n < function->arg_size(); ++n)
    function->getArg(n)->setName(func->params[n]->name_hint);
  return function;
}

void ModuleEmitter::emit(const IRModule& lowered) {
  for (size_t n = 0; n < lowered->functions.size(); ++n) {
    const auto* func = lowered->functions[n].as<PrimFuncNode>();
    if (!func)
      throw InternalError("function {} of a lowered module is no PrimFunc",
                          lowered->global_vars[n]->name_hint);
    functions_[lowered->global_vars[n]->name_hint] = declare(lowered->global_vars[n]->name_hint, func);
  }
  for (size_t n = 0; n < lowered->functions.size(); ++n) {
    const auto* func = lowered->functions[n].as<PrimFuncNode>();
    FunctionEmitter(*this, function(lowered->global_vars[n]->name_hint), func).run();
  }
  define_half_conversions();
}

}  // namespace tilewright::codegen
