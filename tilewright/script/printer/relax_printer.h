// The printer of graph functions.
#pragma once
#include "tilewright/script/printer/writer.h"

namespace tilewright::script {

class GraphPrinter {
 public:
  explicit GraphPrinter(Writer* writer) : w_(*writer) {}
  void function(const relax::FunctionNode* func, std::string_view name, bool is_nested);
  void block(const relax::BindingBlockNode* block);
  void binding(const relax::BindingNode* binding);
  void expr(const ir::Expr& expr);
  /// Declares the variables that `node` uses but does not define, for readers of a
  /// fragment: `x: R.Tensor(...)`.
  void free_variables(const ir::Object* node);

 private:
  // relax_expr.cc
  void exprs(const std::vector<ir::Expr>& list, size_t first = 0);
  void call(const relax::CallNode* call);
  void operator_call(const relax::CallNode* call, std::string_view name);
  bool special_call(const relax::CallNode* call, std::string_view name);
  void call_tir(const relax::CallNode* call, std::string_view name);
  void call_tir_of_2022(const relax::CallNode* call);
  void callee(const ir::Expr& func);
  void types(std::string_view keyword, const std::vector<ir::Type>& list);
  void tuple(const std::vector<ir::Expr>& elements);
  // relax_func.cc
  void signature(const relax::FunctionNode* func, std::string_view name, bool is_nested);
  void dimensions(const relax::FunctionNode* func);
  void declare_dimensions();
  void define_variable(const relax::AnyVar& var);
  void branches(const relax::VarBindingNode* binding, const relax::IfNode* node);
  void branch(const ir::Expr& value, const relax::AnyVar& result);
  void sequence(const relax::SeqExprNode* seq);

  Writer& w_;
  std::vector<tir::Var> dims_;  // of the function being printed
};

}  // namespace tilewright::script
