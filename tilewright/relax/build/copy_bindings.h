// Bindings of one function written again in another: variables and dimensions belong to one function.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"

namespace tilewright::relax {

class BindingCopier {
 public:
  explicit BindingCopier(BlockBuilder& builder) : builder_(builder) {}

  /// A parameter of the function being built that stands for `param`, with dimensions of its own.
  Var copy_param(const Var& param);
  /// `value` stands for `var`.
  void define(const AnyVar& var, const Expr& value) { copies_[var.get()] = value; }
  /// `value` stands for parameter `param`; dimensions that its type defines are the extents of `value`.
  void define_param(const Var& param, const Expr& value);
  /// Dimensions that stand for themselves: those of what is around the bindings.
  void keep_dims(const std::vector<const tir::VarNode*>& dims);
  /// Emits `binding`, branches with variables of their own; its variable is seen outside of the open dataflow
  /// block if it was.
  AnyVar emit(const Binding& binding);
  /// `expr` with the variables of the function being built; its types are to be found again.
  Expr copied(const Expr& expr) const;

 private:
  void copy_dims(const Type& type);
  If copied_if(const IfNode* node);
  SeqExpr copied_branch(const Expr& branch);
  Expr copy_of(const Object* var) const;
  BlockBuilder& builder_;
  Substitution copies_;
};

/// The bindings of `func`, in order.  Raises InternalError if it is not in normal form.
std::vector<Binding> bindings_of(const Function& func);
/// Whether all bindings of `func` stand in dataflow blocks.
bool is_all_dataflow(const Function& func);
/// The graph function called `name`; raises a UserError that `what` opens if there is none.
Function graph_function(const IRModule& module, std::string_view name, std::string_view what);

}  // namespace tilewright::relax
