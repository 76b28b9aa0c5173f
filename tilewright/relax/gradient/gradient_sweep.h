// Copies the bindings of a scope, a function or a branch one by one, then emits their gradients from the last
// to the first.
#pragma once
#include "tilewright/relax/build/copy_bindings.h"
#include "tilewright/relax/gradient/gradient_adjoints.h"

namespace tilewright::relax {

class GradientSweep {
 public:
  /// outer  the enclosing scope
  GradientSweep(BlockBuilder& builder, const IRModule& module, const GradientOptions& options,
                const GradientSweep* outer = nullptr)
      : builder_(builder),
        module_(module),
        options_(options),
        adjoints_(builder, outer ? &outer->adjoints_ : nullptr) {}

  Adjoints& adjoints() { return adjoints_; }
  /// Copies `binding` with `copier`.  Raises Unsupported for local functions.
  void forward(const Binding& binding, BindingCopier& copier);
  /// Emits the gradients of all values that the bindings use, from the gradients in adjoints().
  /// Raises Unsupported for operators without a gradient.
  void back();

 private:
  void go_back(const AnyVar& var, const Expr& value);
  void go_back_through(const Call& call, const AnyVar& var, const Adjoint& gradient);
  void go_back_through(const If& node, const AnyVar& var, const Adjoint& gradient);
  void through_loop_program(Backward& backward, const Adjoint& gradient);
  // A branch: the variables it uses, their names inside it, the gradient of its result.
  struct BranchTask {
    std::vector<AnyVar> targets, seen;
    const Adjoint& gradient;
  };
  SeqExpr gradients_of_branch(const If& node, const Expr& branch, const BranchTask& task) const;

  BlockBuilder& builder_;
  const IRModule& module_;
  const GradientOptions& options_;
  Adjoints adjoints_;
  std::vector<std::pair<AnyVar, Expr>> forward_;
};

}  // namespace tilewright::relax
