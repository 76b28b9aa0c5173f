// The functions that gradient rules use.
#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/gradient/gradient_adjoints.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/small_float.h"

namespace tilewright::relax {

// ---------------------------------------------------------------- values

Value apply(std::string_view name, const std::vector<Value>& args, AttrMap attrs) {
  std::vector<Expr> exprs;
  for (const Value& arg : args) exprs.push_back(arg.expr);
  return {call_op(name, std::move(exprs), std::move(attrs))};
}
Value operator+(const Value& a, const Value& b) { return apply("add", {a, b}); }
Value operator-(const Value& a, const Value& b) { return apply("subtract", {a, b}); }
Value operator*(const Value& a, const Value& b) { return apply("multiply", {a, b}); }
Value operator/(const Value& a, const Value& b) { return apply("divide", {a, b}); }
Value operator-(const Value& a) { return apply("negative", {a}); }
Value select(const Value& condition, const Value& a, const Value& b) {
  return apply("where", {condition, a, b});
}

Value sum(const Value& x, const std::vector<int64_t>& axes, bool keepdims) {
  return axes.empty() ? x : apply("sum", {x}, {{"axis", attr(axes)}, {"keepdims", attr(keepdims)}});
}
Value shape_value(const Shape& shape) { return {shape_expr(shape)}; }
Value reshape(const Value& x, const Shape& shape) { return apply("reshape", {x, shape_value(shape)}); }
Value broadcast_to(const Value& x, const Shape& shape) {
  return apply("broadcast_to", {x, shape_value(shape)});
}
Value permute(const Value& x, const std::vector<int64_t>& axes) {
  return apply("permute_dims", {x}, {{"axes", attr(axes)}});
}
Value cast(const Value& x, DataType dtype) { return apply("astype", {x}, {{"dtype", attr(dtype)}}); }
Value zeros(const Shape& shape, DataType dtype) {
  return apply("zeros", {shape_value(shape)}, {{"dtype", attr(dtype)}});
}
Value tuple_of(const std::vector<Value>& fields) {
  std::vector<Expr> elements;
  for (const Value& field : fields) elements.push_back(field.expr);
  return {TupleNode::make(std::move(elements))};
}

// ---------------------------------------------------------------- the call

Backward::Backward(Adjoints& adjoints, const Call& call, Expr result, const Adjoint& gradient)
    : adjoints_(adjoints), call_(call), result_(std::move(result)), gradient_(gradient) {}

Value Backward::x(size_t n) const { return {adjoints_.seen(call_->args.at(n))}; }
Value Backward::x(size_t n, size_t field) const {
  const Expr whole = x(n).expr;
  if (const auto* tuple = whole.as<TupleNode>()) return {tuple->elements.at(field)};
  return {TupleGetItemNode::make(whole, static_cast<int64_t>(field))};
}
size_t Backward::num_fields(size_t n) const { return tensors_arg(call_, n).size(); }

Value Backward::out() const { return {adjoints_.seen(result_)}; }
Value Backward::out(size_t field) const {
  return {TupleGetItemNode::make(out().expr, static_cast<int64_t>(field))};
}
Value Backward::grad() const { return {gradient_.value}; }
Value Backward::grad(size_t field) const {
  return {field < gradient_.fields.size() ? gradient_.fields[field].value : Expr()};
}

const TensorTypeNode* Backward::type(size_t n) const { return tensor_arg(call_, n); }

const Shape& Backward::shape_of(const Type& type) const {
  const Shape* shape = known_shape(type.as<TensorTypeNode>());
  if (!shape) refuse(fmt::format("the shape of {} is known only at run time", type_text(type)));
  return *shape;
}
const Shape& Backward::shape(size_t n) const { return shape_of(Type(type(n))); }

int64_t Backward::axis(std::string_view name, size_t ndim) const {
  return normalize_axis(call_, call_->attrs.get_int(name, 0), static_cast<int64_t>(ndim));
}
std::vector<int64_t> Backward::axes(std::string_view name, size_t ndim) const {
  return normalize_axes(call_, call_->attrs.get_ints(name, {}), static_cast<int64_t>(ndim));
}
bool Backward::needs(size_t n) const { return n < num_args() && adjoints_.is_needed(call_->args[n]); }

Value Backward::number(double value, size_t like) const {
  const Type first = type_of(call_->args.at(like));
  const auto* tuple = first.as<TupleTypeNode>();
  const auto* tensor = tuple ? tuple->elements.at(0).as<TensorTypeNode>() : first.as<TensorTypeNode>();
  const DataType dtype = tensor->dtype;
  const Constant scalar = dtype.is_float() ? make_scalar(value, dtype) : Constant();
  if (!scalar) refuse(fmt::format("it is computed in {}", dtype.str()));
  return {scalar};
}

Value Backward::count(const Shape& shape, const std::vector<int64_t>& axes) const {
  PrimExpr product = extent_imm(1);
  for (int64_t axis : axes) product = product * shape[static_cast<size_t>(axis)];
  product = arith::simplify(product);
  if (const auto* known = product.as<IntImmNode>()) return number(static_cast<double>(known->value));
  return cast(apply("shape_to_tensor", {shape_value({product})}), dtype(0));
}

Value Backward::bind(const Value& value) const { return {adjoints_.emit(value)}; }

void Backward::add(size_t n, const Value& gradient) {
  if (needs(n)) add_to(call_->args[n], gradient);
}
void Backward::add(size_t n, size_t field, const Value& gradient) {
  const Expr& arg = call_->args.at(n);
  if (const auto* tuple = arg.as<TupleNode>())
    add_to(tuple->elements.at(field), gradient);
  else if (needs(n))
    adjoints_.add_field(arg, field, {adjoints_.emit(gradient), {}});
}

void Backward::add_to(const Expr& target, const Value& gradient) {
  if (!gradient || !adjoints_.is_needed(target)) return;
  const std::string hint = target.as<VarBaseNode>()->name_hint + "_adjoint";
  const Shape& wanted = shape_of(type_of(target));
  Expr bound = adjoints_.emit(gradient, hint);
  const Type type = type_of(bound);
  const auto* tensor = type.as<TensorTypeNode>();
  const DataType dtype = type_of(target).as<TensorTypeNode>()->dtype;
  if (equal_shapes(shape_of(type), wanted) != Answer::kYes)
    bound = adjoints_.emit(apply("collapse_sum_to", {{bound}, shape_value(wanted)}), hint);
  if (tensor->dtype != dtype) bound = adjoints_.emit(cast({bound}, dtype), hint);
  adjoints_.add(target, {bound, {}});
}

void Backward::refuse(const std::string& reason) const {
  throw Unsupported(call_, "gradient: there is no gradient of {}: {}", name_of(call_), reason);
}

}  // namespace tilewright::relax
