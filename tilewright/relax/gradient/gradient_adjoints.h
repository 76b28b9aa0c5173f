// Gradients of the variables of a scope, a function or a branch, accumulated while its bindings are visited
// from the last to the first.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "tilewright/relax/gradient/gradient.h"

namespace tilewright::relax {

class Adjoints {
 public:
  /// outer  the enclosing scope, whose variables are visible here; their gradients are accumulated separately
  explicit Adjoints(BlockBuilder& builder, const Adjoints* outer = nullptr)
      : builder_(builder), outer_(outer) {}

  BlockBuilder& builder() { return builder_; }
  /// Declares `var`, bound to `value`: it gets a gradient if a floating-point tensor of `value` has one.
  void define(const AnyVar& var, const Expr& value);
  void require(const AnyVar& var) { needed_.insert(var.get()); }
  /// True if the gradient of any variable in `expr` is needed.
  bool is_needed(const Expr& expr) const;

  const Adjoint& of(const Expr& var) { return adjoints_[var.get()]; }
  /// Adds `gradient` to the gradient of `target`: a variable, a tuple of variables, or
  /// a leaf without gradient.
  void add(const Expr& target, const Adjoint& gradient);
  /// Adds to the gradient of field `index` of `tuple`.
  void add_field(const Expr& tuple, size_t index, const Adjoint& gradient);

  /// `value` as a leaf: bound to a variable unless it is one.
  Expr emit(const Value& value, const std::string& name_hint = "");
  /// `expr` for use in the backward pass: values between start_checkpoint and end_checkpoint are recomputed.
  Expr seen(const Expr& expr);

 private:
  bool is_var_needed(const Object* var) const;
  bool is_forgotten(const Object* var) const;
  Expr value_of(const Object* var) const;
  Expr computed_again(const Object* var) const;
  void accumulate(Adjoint* into, const Type& type, const Adjoint& gradient, const std::string& name_hint);

  BlockBuilder& builder_;
  const Adjoints* outer_;
  std::unordered_set<const Object*> needed_, forgotten_;
  std::unordered_map<const Object*, Expr> values_, again_;
  std::unordered_map<const Object*, Adjoint> adjoints_;
};

}  // namespace tilewright::relax
