// Statements of the Python subset.
#include <algorithm>

#include "tilewright/script/ast_parser.h"

namespace tilewright::script::ast {
namespace {

// The decorators of TVMScript functions and classes; definitions with any other decorator are plain Python.
constexpr std::string_view kDecorators[] = {"ir_module", "prim_func", "function",
                                            "macro",     "inline",    "rewriter"};

// "pyfunc" of @I.pyfunc
std::string last_name(const Expr* decorator) {
  const std::string name = dotted_name(decorator->kind == ExprKind::kCall ? decorator->items[0] : decorator);
  return name.substr(name.rfind('.') + 1);
}

bool is_ours(const Expr* decorator) {
  return std::find(std::begin(kDecorators), std::end(kDecorators), last_name(decorator)) !=
         std::end(kDecorators);
}

}  // namespace

void AstParser::parse_file() {
  while (token().kind != TokenKind::kEnd) {
    open_brackets_.clear();
    if (is_op("@")) {
      const Stmt* definition = parse_decorated();
      if (definition && definition->kind != StmtKind::kPass) tree_.body.push_back(definition);
    } else if (is_word("import") || is_word("from")) {
      tree_.body.push_back(parse_import());
    } else if (is_word("metadata") && tree_.text.at(next_token().place) == "=") {
      tree_.body.push_back(parse_expr_statement());
    } else {
      skip_statement();
    }
  }
}

const Expr* AstParser::parse_only_expression() {
  const Expr* expr = parse_tuple_or_expr();
  if (token().kind == TokenKind::kNewline) advance();
  if (token().kind != TokenKind::kEnd) fail_here("the end of the expression");
  return expr;
}

void AstParser::skip_statement() {
  while (token().kind != TokenKind::kNewline && token().kind != TokenKind::kEnd) advance();
  if (token().kind == TokenKind::kNewline) advance();
  if (token().kind != TokenKind::kIndent) return;
  for (size_t depth = 0; token().kind != TokenKind::kEnd;) {
    if (token().kind == TokenKind::kIndent) ++depth;
    if (token().kind == TokenKind::kDedent) --depth;
    advance();
    if (depth == 0) return;
  }
}

Stmt* AstParser::make_stmt(StmtKind kind) {
  Stmt* stmt = &tree_.stmts.emplace_back();
  stmt->kind = kind;
  stmt->place = token().place;
  return stmt;
}

void AstParser::end_of_line() {
  if (token().kind == TokenKind::kNewline)
    advance();
  else if (token().kind != TokenKind::kEnd && !is_op(";"))
    fail_here("the end of the line");
}

// One line: simple statements joined by `;`, or a compound statement.
void AstParser::parse_line(Body* out) {
  out->push_back(parse_statement());
  while (accept_op(";")) {
    if (token().kind == TokenKind::kNewline) {
      advance();
      return;
    }
    out->push_back(parse_statement());
  }
}

// Parses `: line`, or `:` and indented lines.  Ends the place of `owner` at the colon.
Body AstParser::parse_body(Stmt* owner) {
  expect_op(":", "before the body");
  if (owner) owner->place = owner->place.to(last_place());
  Body body;
  if (token().kind != TokenKind::kNewline) {
    parse_line(&body);
    return body;
  }
  advance();
  if (token().kind != TokenKind::kIndent) fail_here("an indented line");
  advance();
  while (token().kind != TokenKind::kDedent && token().kind != TokenKind::kEnd) parse_line(&body);
  advance();
  return body;
}

const Stmt* AstParser::parse_statement() {
  Nesting nesting(this);
  if (is_op("@")) {
    const Place place = token().place;
    const Stmt* definition = parse_decorated();
    if (!definition) fail(place, "only functions of TVMScript may be defined here");
    return definition;
  }
  if (is_word("def")) return parse_function({});
  if (is_word("class")) return parse_class({});
  if (is_word("for")) return parse_for();
  if (is_word("while")) return parse_while();
  if (is_word("if")) return parse_if();
  if (is_word("with")) return parse_with();
  if (is_word("import") || is_word("from")) return parse_import();
  for (std::string_view word : {"try", "raise", "async", "global", "nonlocal", "del", "yield", "match"}) {
    if (is_word(word) && (word != "match" || next_token().kind == TokenKind::kName))
      fail(token().place, fmt::format("\"{}\" is not part of TVMScript", word));
  }
  return parse_simple();
}

const Stmt* AstParser::parse_simple() {
  StmtKind kind = StmtKind::kExpr;
  if (is_word("pass")) kind = StmtKind::kPass;
  if (is_word("break")) kind = StmtKind::kBreak;
  if (is_word("continue")) kind = StmtKind::kContinue;
  if (is_word("return")) kind = StmtKind::kReturn;
  if (is_word("assert")) kind = StmtKind::kAssert;
  if (kind == StmtKind::kExpr) return parse_expr_statement();
  Stmt* stmt = make_stmt(kind);
  advance();
  if (kind == StmtKind::kReturn && token().kind != TokenKind::kNewline && token().kind != TokenKind::kEnd &&
      !is_op(";"))
    stmt->value = parse_tuple_or_expr();
  if (kind == StmtKind::kAssert) {
    stmt->value = parse_expr();
    if (accept_op(",")) stmt->message = parse_expr();
  }
  stmt->place = stmt->place.to(last_place());
  end_of_line();
  return stmt;
}

const Stmt* AstParser::parse_expr_statement() {
  Stmt* stmt = make_stmt(StmtKind::kExpr);
  stmt->value = parse_tuple_or_expr();
  constexpr std::string_view kAugmented[] = {
      "+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=", "@="};
  if (accept_op(":")) {
    stmt->kind = StmtKind::kAnnAssign;
    stmt->targets = {stmt->value};
    stmt->annotation = parse_expr();
    stmt->value = accept_op("=") ? parse_tuple_or_expr() : nullptr;
  } else if (std::find(std::begin(kAugmented), std::end(kAugmented), text()) != std::end(kAugmented) &&
             token().kind == TokenKind::kOp) {
    stmt->kind = StmtKind::kAugAssign;
    stmt->op = text().substr(0, text().size() - 1);
    advance();
    stmt->targets = {stmt->value};
    stmt->value = parse_tuple_or_expr();
  } else {
    while (accept_op("=")) {
      stmt->kind = StmtKind::kAssign;
      stmt->targets.push_back(stmt->value);
      stmt->value = parse_tuple_or_expr();
    }
  }
  stmt->place = stmt->place.to(last_place());
  end_of_line();
  return stmt;
}

// A decorated definition; null, after skipping it, if none of the decorators is of TVMScript.  A function
// that stays Python is replaced by `pass`.
const Stmt* AstParser::parse_decorated() {
  std::vector<const Expr*> decorators;
  bool ours = false, is_python = false;
  while (accept_op("@")) {
    decorators.push_back(parse_expr());
    ours = ours || is_ours(decorators.back());
    is_python = is_python || last_name(decorators.back()) == "pyfunc";
    end_of_line();
  }
  if (is_python) {
    const Stmt* nothing = make_stmt(StmtKind::kPass);
    skip_statement();
    return nothing;
  }
  if (!ours) {
    skip_statement();
    return nullptr;
  }
  if (is_word("def")) return parse_function(std::move(decorators));
  if (is_word("class")) return parse_class(std::move(decorators));
  fail_here("a function or class after its decorator");
}

std::vector<Param> AstParser::parse_params() {
  std::vector<Param> params;
  open_brackets_.push_back(token().place);
  expect_op("(", "after the function's name");
  while (!is_op(")")) {
    if (is_op("*") || is_op("**") || is_op("/"))
      fail(token().place, "a function of TVMScript takes named parameters only");
    Param param;
    param.place = expect_name("a parameter name");
    param.name = tree_.text.at(param.place);
    if (accept_op(":")) param.annotation = parse_expr();
    if (accept_op("=")) param.default_value = parse_expr();
    params.push_back(param);
    if (!accept_op(",")) break;
  }
  expect_op(")", "after the parameters");
  open_brackets_.pop_back();
  return params;
}

const Stmt* AstParser::parse_function(std::vector<const Expr*> decorators) {
  Stmt* stmt = make_stmt(StmtKind::kFunction);
  advance();
  stmt->decorators = std::move(decorators);
  stmt->name_place = expect_name("the function's name");
  stmt->name = tree_.text.at(stmt->name_place);
  stmt->params = parse_params();
  if (accept_op("->")) stmt->annotation = parse_expr();
  stmt->body = parse_body(stmt);
  return stmt;
}

const Stmt* AstParser::parse_class(std::vector<const Expr*> decorators) {
  Stmt* stmt = make_stmt(StmtKind::kClass);
  advance();
  stmt->decorators = std::move(decorators);
  stmt->name_place = expect_name("the class's name");
  stmt->name = tree_.text.at(stmt->name_place);
  if (accept_op("(")) {
    while (!is_op(")")) {
      parse_expr();
      if (!accept_op(",")) break;
    }
    expect_op(")", "after the base classes");
  }
  stmt->body = parse_body(stmt);
  return stmt;
}

const Stmt* AstParser::parse_for() {
  Stmt* stmt = make_stmt(StmtKind::kFor);
  advance();
  stmt->targets = {parse_tuple_or_expr(true)};
  if (!accept_word("in")) fail_here("\"in\" after the loop variables");
  stmt->value = parse_tuple_or_expr();
  stmt->body = parse_body(stmt);
  if (is_word("else")) fail(token().place, "a loop of TVMScript has no \"else\"");
  return stmt;
}

const Stmt* AstParser::parse_while() {
  Stmt* stmt = make_stmt(StmtKind::kWhile);
  advance();
  stmt->value = parse_expr();
  stmt->body = parse_body(stmt);
  if (is_word("else")) fail(token().place, "a loop of TVMScript has no \"else\"");
  return stmt;
}

const Stmt* AstParser::parse_if() {
  Stmt* stmt = make_stmt(StmtKind::kIf);
  advance();
  stmt->value = parse_expr();
  stmt->body = parse_body(stmt);
  if (is_word("elif")) {
    Nesting nesting(this);
    stmt->orelse = {parse_if()};
  } else if (accept_word("else")) {
    stmt->orelse = parse_body(nullptr);
  }
  return stmt;
}

WithItem AstParser::parse_with_item() {
  const Expr* value = parse_expr();
  return {value, accept_word("as") ? parse_postfix() : nullptr};
}

const Stmt* AstParser::parse_with() {
  Stmt* stmt = make_stmt(StmtKind::kWith);
  advance();
  // `with (a as b, c as d):` and `with (a, b) as c:` both begin with a bracket; only
  // `as` or `,` inside tell which
  const size_t begin = pos_;
  bool in_brackets = false;
  if (is_op("(")) {
    size_t depth = 0, closing = pos_;
    for (; closing < tokens_.size(); ++closing) {
      const std::string_view word = tree_.text.at(tokens_[closing].place);
      if (tokens_[closing].kind != TokenKind::kOp) continue;
      if (word == "(" || word == "[" || word == "{") ++depth;
      if ((word == ")" || word == "]" || word == "}") && --depth == 0) break;
    }
    in_brackets = closing + 1 < tokens_.size() && tree_.text.at(tokens_[closing + 1].place) == ":";
  }
  pos_ = begin;
  if (in_brackets) advance();
  do {
    if (in_brackets && is_op(")")) break;
    stmt->items.push_back(parse_with_item());
  } while (accept_op(","));
  if (in_brackets) expect_op(")", "after the with-items");
  stmt->body = parse_body(stmt);
  return stmt;
}

std::string AstParser::parse_dotted() {
  std::string path;
  while (accept_op(".") || accept_op("...")) {
  }
  do {
    if (!path.empty()) path += '.';
    path += tree_.text.at(expect_name("a module name"));
  } while (accept_op("."));
  return path;
}

const Stmt* AstParser::parse_import() {
  Stmt* stmt = make_stmt(StmtKind::kImport);
  const bool is_from = is_word("from");
  advance();
  if (!is_from) {
    do {
      const std::string path = parse_dotted();
      std::string alias = path.substr(0, path.find('.'));
      if (accept_word("as"))
        stmt->imports.push_back({std::string(tree_.text.at(expect_name("a name after \"as\""))), path});
      else
        stmt->imports.push_back({alias, alias});
    } while (accept_op(","));
  } else {
    const std::string module = parse_dotted();
    if (!accept_word("import")) fail_here("\"import\"");
    const bool in_brackets = accept_op("(");
    do {
      if (accept_op("*") || is_op(")")) break;
      std::string name(tree_.text.at(expect_name("a name to import")));
      std::string alias =
          accept_word("as") ? std::string(tree_.text.at(expect_name("a name after \"as\""))) : name;
      stmt->imports.push_back({std::move(alias), module + "." + name});
    } while (accept_op(","));
    if (in_brackets) expect_op(")", "after the imported names");
  }
  stmt->place = stmt->place.to(last_place());
  end_of_line();
  return stmt;
}

const Expr* parse_expression(Tree* tree) { return AstParser(tree).parse_only_expression(); }

std::unique_ptr<Tree> parse_program(Ref<Source> source) {
  auto tree = std::make_unique<Tree>(std::move(source));
  AstParser(tree.get()).parse_file();
  return tree;
}

}  // namespace tilewright::script::ast
