// The recursive descent parser over tokens, shared by ast_atom.cc, ast_expr.cc and ast_stmt.cc.
#pragma once
#include "tilewright/script/ast.h"
#include "tilewright/support/error.h"

namespace tilewright::script::ast {

class AstParser {
 public:
  explicit AstParser(Tree* tree) : tree_(*tree), tokens_(tokenize(tree->text)) {}
  void parse_file();
  const Expr* parse_only_expression();

 private:
  // Limits of nesting: each level costs a few stack frames in every later recursion.
  static constexpr uint32_t kMaxNesting = 200, kMaxExprDepth = 500;

  // ---- tokens
  const Token& token() const { return tokens_[pos_]; }
  const Token& next_token() const { return tokens_[pos_ + 1 < tokens_.size() ? pos_ + 1 : pos_]; }
  std::string_view text() const { return tree_.text.at(token().place); }
  bool is_op(std::string_view op) const { return token().kind == TokenKind::kOp && text() == op; }
  bool is_word(std::string_view word) const { return token().kind == TokenKind::kName && text() == word; }
  bool accept_op(std::string_view op) { return is_op(op) && advance(); }
  bool accept_word(std::string_view word) { return is_word(word) && advance(); }
  bool advance() {
    if (pos_ + 1 < tokens_.size()) ++pos_;
    return true;
  }
  Place last_place() const { return tokens_[pos_ ? pos_ - 1 : 0].place; }
  void expect_op(std::string_view op, std::string_view where);
  Place expect_name(std::string_view what);
  static bool is_reserved(std::string_view word);
  [[noreturn]] void fail_here(std::string_view expected) const;
  [[noreturn]] void fail(Place place, std::string text) const {
    throw UserError(tree_.span(place), "{}", text);
  }

  struct Nesting {
    explicit Nesting(AstParser* parser);
    ~Nesting() { --parser.nesting_; }
    AstParser& parser;
  };

  // ---- expressions
  Expr* make(ExprKind kind, Place place, std::vector<const Expr*> items = {});
  void finish(Expr* expr);  // depth, end of place
  const Expr* parse_tuple_or_expr(bool is_target = false);
  const Expr* parse_expr();
  const Expr* parse_lambda();
  const Expr* parse_or();
  const Expr* parse_and();
  const Expr* parse_not();
  const Expr* parse_compare();
  std::string_view compare_operator();
  const Expr* parse_binary(int min_level);
  const Expr* parse_unary();
  const Expr* parse_postfix();
  const Expr* parse_call(const Expr* func);
  const Expr* parse_subscript(const Expr* value);
  const Expr* parse_slice();
  const Expr* parse_atom();
  const Expr* parse_paren();
  const Expr* parse_list();
  const Expr* parse_braces();
  const Expr* parse_strings();
  const Expr* parse_number();
  // A comprehension: skips from its `for` to the closing bracket; the result spans [open, close].
  const Expr* opaque_until(Place open, std::string_view close);
  bool at_comprehension() const {
    return is_word("for") || (is_word("async") && tree_.text.at(next_token().place) == "for");
  }

  // ---- statements
  void skip_statement();
  Stmt* make_stmt(StmtKind kind);
  const Stmt* parse_statement();
  const Stmt* parse_simple();
  const Stmt* parse_expr_statement();
  const Stmt* parse_decorated();
  const Stmt* parse_function(std::vector<const Expr*> decorators);
  const Stmt* parse_class(std::vector<const Expr*> decorators);
  const Stmt* parse_for();
  const Stmt* parse_while();
  const Stmt* parse_if();
  const Stmt* parse_with();
  const Stmt* parse_import();
  std::vector<Param> parse_params();
  WithItem parse_with_item();
  Body parse_body(Stmt* owner);
  void parse_line(Body* out);
  void end_of_line();
  std::string parse_dotted();

  Tree& tree_;
  std::vector<Token> tokens_;
  size_t pos_ = 0;
  uint32_t nesting_ = 0;
  std::vector<Place> open_brackets_;
};

/// The value of a string token, quotes, prefix and escapes resolved.
std::string decode_string(std::string_view token);
/// True if the token is an f-string or bytes, whose value only Python can compute.
bool is_opaque_string(std::string_view token);

}  // namespace tilewright::script::ast
