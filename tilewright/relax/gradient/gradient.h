// Reverse-mode differentiation of graph functions.  The folder rules/ is the registry of rules, one per
// operator:
//   void of_multiply(Backward& b) { b.add(0, b.grad() * b.x(1)); b.add(1, b.grad() * b.x(0)); }
//   constexpr GradientRow kRows[] = {{"relax.multiply", of_multiply}};
//   constinit const GradientTable binary_gradients_info = gradient_table(kRows);
#pragma once
#include <functional>
#include <optional>

#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

/// A graph value in a rule.  Arithmetic on it makes calls, which are bound when they are used.
struct Value {
  Expr expr;
  explicit operator bool() const { return static_cast<bool>(expr); }
};
Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator-(const Value& a);
/// The operator `name` ("exp") of `args`.
Value apply(std::string_view name, const std::vector<Value>& args, AttrMap attrs = {});
Value select(const Value& condition, const Value& a, const Value& b);
/// `x` summed over `axes`, which stay with extent 1 if `keepdims`; no axes: x itself.
Value sum(const Value& x, const std::vector<int64_t>& axes, bool keepdims);
Value reshape(const Value& x, const Shape& shape);
Value broadcast_to(const Value& x, const Shape& shape);
Value permute(const Value& x, const std::vector<int64_t>& axes);
Value cast(const Value& x, DataType dtype);
Value zeros(const Shape& shape, DataType dtype);
Value tuple_of(const std::vector<Value>& fields);
Value shape_value(const Shape& shape);

/// The gradient contributions of a value: one tensor, or one adjoint per field of a tuple; empty: none.
struct Adjoint {
  Expr value;
  std::vector<Adjoint> fields;
  bool is_empty() const;
};

class Adjoints;

/// One call in the backward pass: its arguments, its result and the gradient of the result.
class Backward {
 public:
  Backward(Adjoints& adjoints, const Call& call, Expr result, const Adjoint& gradient);

  const Call& call() const { return call_; }
  size_t num_args() const { return call_->args.size(); }
  /// Argument `n`, or its field `field` if it is a tuple.
  Value x(size_t n) const;
  Value x(size_t n, size_t field) const;
  size_t num_fields(size_t n) const;
  /// The result of the call, or a field of it.
  Value out() const;
  Value out(size_t field) const;
  /// The gradient of the result, or of a field of it, which may be null.
  Value grad() const;
  Value grad(size_t field) const;

  /// The type of a tensor argument.
  const TensorTypeNode* type(size_t n) const;
  const Shape& shape(size_t n) const;
  int64_t ndim(size_t n) const { return static_cast<int64_t>(shape(n).size()); }
  /// The extents of a tensor type of the call.  Raises Unsupported if they are known only at run time.
  const Shape& shape_of(const Type& type) const;
  DataType dtype(size_t n) const { return type(n)->dtype; }
  /// The attribute `name`, an axis, in 0 .. ndim - 1.
  int64_t axis(std::string_view name, size_t ndim) const;
  std::vector<int64_t> axes(std::string_view name, size_t ndim) const;
  bool needs(size_t n) const;

  /// `value` as a scalar of the dtype of argument `like`, or of its fields.
  Value number(double value, size_t like = 0) const;
  /// The number of elements along `axes` of `shape`, symbolic extents included, as a tensor that broadcasts.
  Value count(const Shape& shape, const std::vector<int64_t>& axes) const;
  /// `value` bound to a variable, for several uses.
  Value bind(const Value& value) const;

  /// Adds to the gradient of argument `n` (or a field of it), summed over what broadcasting repeated.
  /// Dropped if the gradient is not needed.
  void add(size_t n, const Value& gradient);
  void add(size_t n, size_t field, const Value& gradient);

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  void add_to(const Expr& target, const Value& gradient);
  Adjoints& adjoints_;
  const Call& call_;
  Expr result_;
  const Adjoint& gradient_;
};

using GradientRule = void (*)(Backward& b);
struct GradientRow {
  std::string_view op;
  GradientRule rule;
};
/// The rules of one file of rules/.
struct GradientTable {
  const GradientRow* rows;
  size_t count;
};
template <size_t N>
constexpr GradientTable gradient_table(const GradientRow (&rows)[N]) {
  return {rows, N};
}
extern const GradientTable* const k_gradient_rules[];
extern const std::size_t k_gradient_rules_count;
/// The rule of the operator, or null.
GradientRule find_gradient(std::string_view op);

/// The gradient of a loop program that call_tir_with_grad names: from the gradients of its outputs and its
/// inputs to the gradients of its inputs.
using TeGradient = std::function<std::vector<te::Tensor>(
    const std::string& name, const std::vector<te::Tensor>& output_grads,
    const std::vector<te::Tensor>& inputs, const AttrMap& kwargs)>;

struct GradientOptions {
  std::string func_name = "main";
  std::optional<std::vector<size_t>> require_grads;  // parameters; nullopt: all floating-point tensors
  int64_t target_index = 0;                          // index of the target if the function returns a tuple
  TeGradient te_gradient;                            // raises UserError for an unknown name
};

/// `module` with the function <func_name>_adjoint, which returns (result of the function, (gradients of the
/// required parameters, ...)); the target of the gradients is a floating-point scalar.
/// Raises UserError if the function or target does not exist or is no such scalar, Unsupported for operators
/// without a rule.
IRModule gradient(const IRModule& module, const GradientOptions& options);

}  // namespace tilewright::relax
