// The bindings of a scope, a function or a branch, written again one by one, then their gradients from the
// last to the first.
#pragma once
#include "tilewright/relax/build/copy_bindings.h"
#include "tilewright/relax/gradient/gradient_adjoints.h"

namespace tilewright::relax {

class GradientSweep {
 public:
  /// outer  of the scope around this one
  GradientSweep(BlockBuilder& builder, const IRModule& module, const GradientOptions& options,
                const GradientSweep* outer = nullptr)
      : builder_(builder),
        module_(module),
        options_(options),
        adjoints_(builder, outer ? &outer->adjoints_ : nullptr) {}

  Adjoints& adjoints() { return adjoints_; }
  /// Writes `binding` by `copier`.  Raises Unsupported for functions inside of functions.
  void forward(const Binding& binding, BindingCopier& copier);
  /// The gradients of what the bindings use, of the gradients that adjoints() has.
  /// Raises Unsupported for what has no gradient.
  void back();

 private:
  void go_back(const AnyVar& var, const Expr& value);
  void go_back_through(const Call& call, const AnyVar& var, const Adjoint& gradient);
  void go_back_through(const If& node, const AnyVar& var, const Adjoint& gradient);
  void through_loop_program(Backward& backward, const Adjoint& gradient);
  // A branch: the variables that it uses, how it calls them, the gradient of its result.
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
