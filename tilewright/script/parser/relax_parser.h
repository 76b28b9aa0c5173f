// Converts statements to graphs.  There is one parser per function; nested functions get their own.
#pragma once
#include "tilewright/script/parser/relax_state.h"

namespace tilewright::script {

class RelaxParser {
 public:
  RelaxParser(Parser* parser, RelaxState* state) : parser_(*parser), state_(*state) {}
  /// @R.function as a Function; a nested one has no global symbol.  relax_func.cc
  relax::Function parse_function(const ast::Stmt* function, bool is_nested = false);

  /// Parses the statements of the function, or of a macro that it calls.  relax_stmt.cc
  void parse_body(const ast::Body& body);

 private:
  void parse_decorators(const ast::Stmt* function, bool is_nested);
  std::vector<relax::Var> parse_params(const ast::Stmt* function);
  void check_dims(const relax::Function& func);

  // relax_stmt.cc
  void parse_statement(const ast::Stmt* stmt);
  void parse_assign(const ast::Expr* target, const ast::Expr* value);
  void assign(const ast::Expr* target, const Value& value, const ir::Type& annotation, Place place);
  void parse_dataflow(const ast::Stmt* stmt);
  void parse_if(const ast::Stmt* stmt);
  /// Parses a branch; *name is the variable of its last assignment, which holds its value.
  relax::SeqExpr parse_branch(const ast::Body& body, std::string* name);
  void parse_nested(const ast::Stmt* stmt);

  Parser& parser_;
  RelaxState& state_;
};

}  // namespace tilewright::script
