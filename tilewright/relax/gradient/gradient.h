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

/// What a value adds to the gradients: one tensor, or one adjoint per field of a tuple; empty: nothing.
struct Adjoint {
  Expr value;
  std::vector<Adjoint> fields;
  bool is_empty() const;
};

class Adjoints;

/// One call on the way back: its arguments, its result and the gradient of that.
class Backward {
 public:
  Backward(Adjoints& adjoints, const Call& call, Expr result, const Adjoint& gradient);

  const Call& call() const { return call_; }
  size_t num_args() const { return call_->args.size(); }
  /// Argument `n`, or the field `field` of it if it is a tuple.
  Value x(size_t n) const;
  Value x(size_t n, size_t field) const;
  size_t num_fields(size_t n) const;
  /// The result of the call, or a field of it.
  Value out() const;
  Value out(size_t field) const;
  /// The gradient of the result, or of a field of it, which may be null.
  Value grad() const;
  Value grad(size_t field) const;

  /// The type of a tensor that the call takes; with a known shape when shape(n) is asked for.
  const TensorTypeNode* type(size_t n) const;
  const Shape& shape(size_t n) const;
  int64_t ndim(size_t n) const { return static_cast<int64_t>(shape(n).size()); }
  /// The extents of any tensor of the call.  Raises Unsupported if they are known only at run time.
  const Shape& shape_of(const Type& type) const;
  DataType dtype(size_t n) const { return type(n)->dtype; }
  /// The attribute `axis`, in 0 .. ndim - 1.
  int64_t axis(std::string_view name, size_t ndim) const;
  std::vector<int64_t> axes(std::string_view name, size_t ndim) const;
  bool needs(size_t n) const;

  /// The number as a scalar of the dtype of argument `like`, or of its fields.
  Value number(double value, size_t like = 0) const;
  /// How many elements `axes` of `shape` have, as a tensor that broadcasts: symbolic extents included.
  Value count(const Shape& shape, const std::vector<int64_t>& axes) const;
  /// `value` bound to a variable, to be used several times.
  Value bind(const Value& value) const;

  /// Adds to the gradient of argument `n` (of its field).  Summed over what broadcasting repeated; dropped if
  /// nobody asks for it.
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
/// What one file of rules/ defines.
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

/// Gradients of a loop program that call_tir_with_grad names: gradients of its outputs and its inputs to
/// gradients of its inputs.
using TeGradient = std::function<std::vector<te::Tensor>(
    const std::string& name, const std::vector<te::Tensor>& output_grads,
    const std::vector<te::Tensor>& inputs, const AttrMap& kwargs)>;

struct GradientOptions {
  std::string func_name = "main";
  std::optional<std::vector<size_t>> require_grads;  // parameters; none: all of floating-point tensors
  int64_t target_index = 0;                          // which element, if the function gives a tuple
  TeGradient te_gradient;                            // raises UserError for an unknown name
};

/// `module` with the function <func_name>_adjoint, which gives (what the function gives, (gradients of the
/// required parameters, ...)): of the target, a floating-point scalar.
/// Raises UserError for a function or target that is not there or no such scalar, Unsupported for operators
/// without a rule.
IRModule gradient(const IRModule& module, const GradientOptions& options);

}  // namespace tilewright::relax
