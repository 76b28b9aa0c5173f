// Copies bindings from one function to another: variables and dimensions belong to one function.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"

namespace tilewright::relax {

class BindingCopier {
 public:
  explicit BindingCopier(BlockBuilder& builder) : builder_(builder) {}

  /// A parameter of the function under construction that replaces `param`, with new dimensions.
  Var copy_param(const Var& param);
  /// Lets `value` replace `var`.
  void define(const AnyVar& var, const Expr& value) { copies_[var.get()] = value; }
  /// Lets `value` replace parameter `param`; its extents replace the dimensions that the
  /// type of `param` defines.
  void define_param(const Var& param, const Expr& value);
  /// Keeps these dimensions as they are: they are defined outside of the bindings.
  void keep_dims(const std::vector<const tir::VarNode*>& dims);
  /// Emits a copy of `binding` with new variables in its branches; its variable is visible outside of the
  /// open dataflow block if the original was.
  AnyVar emit(const Binding& binding);
  /// `expr` with the variables of the function under construction; its types must be inferred again.
  Expr copied(const Expr& expr) const;

 private:
  void copy_dims(const Type& type);
  If copied_if(const IfNode* node);
  SeqExpr copied_branch(const Expr& branch);
  Expr copy_of(const Object* var) const;
  BlockBuilder& builder_;
  Substitution copies_;
};

/// The bindings of `func`, in order.  Raises InternalError if it is not in A-normal form.
std::vector<Binding> bindings_of(const Function& func);
/// True if all bindings of `func` are in dataflow blocks.
bool is_all_dataflow(const Function& func);
/// The graph function called `name`; if there is none, raises a UserError that begins with `what`.
Function graph_function(const IRModule& module, std::string_view name, std::string_view what);

}  // namespace tilewright::relax
