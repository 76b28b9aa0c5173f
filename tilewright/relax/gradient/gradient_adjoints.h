// Gradients of the variables of a scope, a function or a branch, as they come together while its bindings are
// gone through backwards.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "tilewright/relax/gradient/gradient.h"

namespace tilewright::relax {

class Adjoints {
 public:
  /// outer  of the scope around this one, whose variables are seen here; their gradients are kept apart
  explicit Adjoints(BlockBuilder& builder, const Adjoints* outer = nullptr)
      : builder_(builder), outer_(outer) {}

  BlockBuilder& builder() { return builder_; }
  /// From now on `var`, bound to `value`, has a gradient if anything floating-point of `value` has one.
  void define(const AnyVar& var, const Expr& value);
  void require(const AnyVar& var) { needed_.insert(var.get()); }
  /// Whether a gradient is asked for of anything in `expr`.
  bool is_needed(const Expr& expr) const;

  const Adjoint& of(const Expr& var) { return adjoints_[var.get()]; }
  /// Adds `gradient` to that of `target`: a variable, a tuple of variables, or a leaf that has none.
  void add(const Expr& target, const Adjoint& gradient);
  /// Adds to that of field `index` of `tuple`.
  void add_field(const Expr& tuple, size_t index, const Adjoint& gradient);

  /// `value` as a leaf: bound to a variable unless it is one.
  Expr emit(const Value& value, const std::string& name_hint = "");
  /// `expr` as the way back may use it: what stands between start_checkpoint and end_checkpoint is computed
  /// again.
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
