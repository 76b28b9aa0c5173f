// Checks of what enters a graph function: parameters and match_cast.  Symbolic dimensions are bound here.
#include "tilewright/relax/type_util.h"
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/runtime/value.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax::vm {

void FunctionCompiler::check_parameters() {
  for (size_t n = 0; n < func_->params.size(); ++n) {
    const Var& param = func_->params[n];
    name(param.get(), code_.parameter(n));
    is_kept_.insert(code_.parameter(n).index);
    check_value(code_.parameter(n), param->name_hint, param->type);
  }
  check_derived_dims();
  check_bounds();
}

void FunctionCompiler::bind_dim(const tir::VarNode* dim, rt::IntRegister place) {
  dims_[dim] = place;
  if (layout_.bounds.count(dim->name_hint)) bounded_.emplace_back(dim->name_hint, place);
}

// n * 2 cannot be bound: the extent is compared when all variables are known
rt::Operand FunctionCompiler::dim_pattern(const PrimExpr& extent) {
  if (const auto* number = extent.as<IntImmNode>()) return rt::imm(number->value);
  const auto* var = extent.as<tir::VarNode>();
  if (!var) return rt::any_dim();
  auto known = dims_.find(var);
  if (known != dims_.end()) return known->second;
  rt::IntRegister target = code_.new_int(var->name_hint);
  bind_dim(var, target);
  return rt::bind(target);
}

void FunctionCompiler::check_value(rt::Register value, const std::string& name, const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    const auto* shape = tensor->shape.as<ShapeExprNode>();
    if (!shape && tensor->ndim < 0) return code_.check_tensor_any_ndim(value, name, tensor->dtype);
    rt::Operands pattern;
    for (int64_t axis = 0; axis < tensor->ndim; ++axis) {
      pattern.push_back(shape ? dim_pattern(shape->values[static_cast<size_t>(axis)]) : rt::any_dim());
      if (shape && pattern.back().kind == rt::Operand::Kind::kAnyDim)
        derived_.push_back(
            {value, static_cast<uint32_t>(axis), shape->values[static_cast<size_t>(axis)], name});
    }
    return code_.check_tensor(value, name, tensor->dtype, pattern);
  }
  if (const auto* shape = type.as<ShapeTypeNode>()) {
    if (!shape->is_known && shape->ndim < 0) return code_.check_shape_any_ndim(value, name);
    rt::Operands pattern;
    for (int64_t axis = 0; axis < shape->ndim; ++axis)
      pattern.push_back(shape->is_known ? dim_pattern(shape->values[static_cast<size_t>(axis)])
                                        : rt::any_dim());
    return code_.check_shape(value, name, pattern);
  }
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    code_.check_kind(value, name, static_cast<uint32_t>(runtime::ValueKind::kTuple),
                     static_cast<int64_t>(tuple->elements.size()));
    for (size_t n = 0; n < tuple->elements.size(); ++n)
      check_value(code_.get_item(value, static_cast<uint32_t>(n)), fmt::format("{}[{}]", name, n),
                  tuple->elements[n]);
    return;
  }
  if (const auto* prim = type.as<PrimTypeNode>(); prim && prim->dtype.is_integral()) {
    code_.check_kind(value, name, static_cast<uint32_t>(runtime::ValueKind::kInt));
    if (const auto* var = prim->value.as<tir::VarNode>(); var && !dims_.count(var))
      bind_dim(var, code_.load_int(value));
  }
}

void FunctionCompiler::check_derived_dims() {
  for (const DerivedDim& dim : derived_) {
    const rt::IntRegister expected = int_register(dim.extent);
    code_.check_equal(code_.load_dim(dim.tensor, dim.axis), expected,
                      fmt::format("{}: dimension {} ({})", dim.name, dim.axis, extent_text(dim.extent)));
  }
  derived_.clear();
}

void FunctionCompiler::match_cast(const MatchCastNode* node) {
  const rt::Register source = value(node->value);
  check_value(source, node->var->name_hint, node->pattern);
  check_derived_dims();
  check_bounds();
  name(node->var.get(), source);
}

}  // namespace tilewright::relax::vm
