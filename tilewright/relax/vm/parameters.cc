// Checks of the arguments of a graph function and of match_cast.  Symbolic dimensions are bound here.
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/vm/function_compiler.h"
#include "tilewright/runtime/value.h"
#include "tilewright/support/error.h"
#include "tilewright/target/costs.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax::vm {

using target::kGraphCosts;

void FunctionCompiler::check_parameters() {
  for (size_t n = 0; n < func_->params.size(); ++n) {
    const Var& param = func_->params[n];
    name(param.get(), code_.parameter(n));
    is_kept_.insert(code_.parameter(n).index);
    check_value(code_.parameter(n), param->name_hint, param->type);
    align(code_.parameter(n), param);
  }
  check_derived_dims();
  check_bounds();
}

// Aligns an argument to cache lines: matrix tiles of one- or two-byte values take twice the time if each row
// of a tile lies in two lines, as in numpy arrays, which begin 16 bytes after a page.
void FunctionCompiler::align(rt::Register value, const Var& param) {
  const auto* tensor = param->type.as<TensorTypeNode>();
  const int64_t bits = tensor ? tensor->dtype.bits * tensor->dtype.lanes : 0;
  if (bits < 8 || bits > 16) return;
  const int64_t least = kGraphCosts.aligned_least_bytes, most = kGraphCosts.aligned_most_bytes;
  if (const auto shape = constant_shape(param)) {
    double bytes = static_cast<double>(bits) / 8;
    for (const int64_t extent : *shape) bytes *= static_cast<double>(extent);
    if (bytes < static_cast<double>(least) || bytes > static_cast<double>(most)) return;
  }
  code_.align_tensor(value, least, most);
}

void FunctionCompiler::bind_dim(const tir::VarNode* dim, rt::IntRegister place) {
  dims_[dim] = place;
  if (layout_.bounds.count(dim->name_hint)) bounded_.emplace_back(dim->name_hint, place);
}

// An extent like n * 2 binds nothing: it is checked when all variables are known.
rt::Operand FunctionCompiler::dim_pattern(const PrimExpr& extent) {
  if (const auto* number = extent.as<IntImmNode>()) return rt::imm(number->value);
  const auto* var = extent.as<tir::VarNode>();
  if (!var) return rt::any_dim(executable_.string(tir::expr_text(extent)));
  auto known = dims_.find(var);
  if (known != dims_.end()) return known->second;
  rt::IntRegister target = code_.new_int(var->name_hint);
  bind_dim(var, target);
  return rt::bind(target);
}

// One pattern for each dimension of `value`; extents that patterns do not check are checked later.
rt::Operands FunctionCompiler::dim_patterns(rt::Register value, const std::string& name, int64_t ndim,
                                            const Shape* shape) {
  rt::Operands patterns;
  for (size_t axis = 0; axis < static_cast<size_t>(ndim); ++axis) {
    patterns.push_back(shape ? dim_pattern(shape->at(axis)) : rt::any_dim());
    if (shape && patterns.back().kind == rt::Operand::Kind::kAnyDim)
      derived_.push_back({value, static_cast<uint32_t>(axis), shape->at(axis), name});
  }
  return patterns;
}

void FunctionCompiler::check_value(rt::Register value, const std::string& name, const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) {
    code_.on_device(device_of_type(type));
    const Shape* shape = known_shape(tensor);
    if (!shape && tensor->ndim < 0) return code_.check_tensor_any_ndim(value, name, tensor->dtype);
    return code_.check_tensor(value, name, tensor->dtype, dim_patterns(value, name, tensor->ndim, shape));
  }
  if (const auto* shape = type.as<ShapeTypeNode>()) {
    if (!shape->is_known && shape->ndim < 0) return code_.check_shape_any_ndim(value, name);
    return code_.check_shape(
        value, name, dim_patterns(value, name, shape->ndim, shape->is_known ? &shape->values : nullptr));
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
    code_.check_equal(code_.load_dim(dim.value, dim.axis), expected,
                      fmt::format("{}: dimension {} ({})", dim.name, dim.axis, tir::expr_text(dim.extent)));
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
