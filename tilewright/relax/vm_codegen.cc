#include "tilewright/relax/vm_codegen.h"

#include <fmt/ranges.h>

#include "tilewright/relax/type_util.h"
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {

std::string kernel_symbol(const IRModule& module, const std::string& name) {
  return module->lookup(name)->attrs.get_string("global_symbol", name);
}

std::string short_type(const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    const std::string dtype = tensor->dtype.is_void() ? "tensor" : tensor->dtype.str();
    const auto* shape = tensor->shape.as<ShapeExprNode>();
    if (!shape) return tensor->ndim < 0 ? dtype : fmt::format("{}[ndim={}]", dtype, tensor->ndim);
    std::vector<std::string> extents;
    for (const PrimExpr& extent : shape->values) extents.push_back(tir::expr_text(extent));
    return fmt::format("{}[{}]", dtype, fmt::join(extents, ", "));
  }
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    std::vector<std::string> elements;
    for (const Type& element : tuple->elements) elements.push_back(short_type(element));
    return fmt::format("tuple({})", fmt::join(elements, ", "));
  }
  if (is<ShapeTypeNode>(type)) return "shape";
  if (const auto* prim = type.as<PrimTypeNode>()) return prim->dtype.str();
  return "object";
}

VmProgram vm_codegen(const IRModule& module) {
  VmProgram program;
  runtime::vm::ExecutableBuilder executable;
  for (size_t n = 0; n < module->functions.size(); ++n) {
    const Function func = ref_as<FunctionNode>(module->functions[n]);
    if (!func) continue;
    const std::string& name = module->global_vars[n]->name_hint;
    vm::FunctionCompiler compiler(module, executable, name, func, true);
    executable.add(compiler.compile());
    program.plans.emplace_back(name, std::move(compiler.plan()));
  }
  program.executable = executable.finish();
  return program;
}

}  // namespace tilewright::relax
