// Converts statements to TIR.  There is one parser per function; tir_func.cc drives it.
#pragma once
#include "tilewright/script/parser/tir_functions.h"

namespace tilewright::script {

class TirParser {
 public:
  TirParser(Parser* parser, TirState* state) : parser_(*parser), state_(*state) {}

  /// @T.prim_func as a PrimFunc; tir_func.cc
  PrimFunc parse_function(const ast::Stmt* function);

 private:
  // tir_func.cc
  void parse_params(const ast::Stmt* function);
  void parse_param(const ast::Param& param, size_t index);
  void parse_decorators(const ast::Stmt* function);
  tir::Stmt with_root(tir::Stmt body);
  void check_defined(const PrimFunc& func);

  // tir_stmt.cc
  /// Parses the statements of a function or macro.
  void parse_whole(const ast::Body& body);
  void parse_body(const ast::Body& body);
  void parse_statement(const ast::Stmt* stmt);
  /// A body as one statement, parsed in a new frame.
  tir::Stmt parse_scope(const ast::Body& body);
  void parse_expr_statement(const ast::Stmt* stmt);
  void add_value(const Value& value, const ast::Expr* expr);
  void parse_if(const ast::Stmt* stmt);
  void parse_while(const ast::Stmt* stmt);
  void parse_assert(const ast::Stmt* stmt);
  void parse_return(const ast::Stmt* stmt);

  void parse_with(const ast::Stmt* stmt, size_t item);

  // tir_assign.cc
  void parse_assign(const ast::Stmt* stmt);
  void parse_annotated(const ast::Stmt* stmt);
  void parse_let(const ast::Stmt* stmt, const ast::Expr* type_expr);
  void parse_augmented(const ast::Stmt* stmt);
  void assign(const ast::Expr* target, const ast::Expr* value_expr);
  void assign_value(const ast::Expr* target, const Value& value, Place value_place);
  void assign_name(const ast::Expr* target, const Value& value, Place value_place);
  void assign_tuple(const ast::Expr* target, const Value& value, Place value_place);
  void store(const ast::Expr* target, const Value& value, Place value_place);
  void bind_let(std::string_view name, Place place, PrimExpr value, const ir::Type& type);

  // tir_loop.cc
  void parse_for(const ast::Stmt* stmt);
  void parse_grid(const ast::Stmt* stmt, Args& args);
  void parse_loop(const ast::Stmt* stmt, std::string_view kind, Args& args);
  tir::Var define_loop(const ast::Expr* target, DataType dtype, const LoopInfo& info);

  // tir_block.cc
  void parse_block(const ast::Stmt* stmt, size_t item, const ast::Expr* call);
  void parse_init(const ast::Stmt* stmt, size_t item);
  void finish_block(BlockState&& block, tir::Stmt body);
  void check_axis(const BlockState& block, const AxisWritten& axis);

  Parser& parser_;
  TirState& state_;
  const ast::Stmt* last_ = nullptr;  // last statement of the function or macro
};

/// The names that a target assigns: {"vi", "vj"}; empty for subscripts.
std::vector<std::string_view> target_names(const ast::Expr* target);

}  // namespace tilewright::script
