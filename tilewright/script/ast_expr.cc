// Expressions of the Python subset, by operator precedence.
#include <algorithm>

#include "tilewright/script/ast_parser.h"

namespace tilewright::script::ast {
namespace {

// Python's levels below comparison, loosest first; 0: not a binary operator.
int binary_level(std::string_view op) {
  if (op == "|") return 1;
  if (op == "^") return 2;
  if (op == "&") return 3;
  if (op == "<<" || op == ">>") return 4;
  if (op == "+" || op == "-") return 5;
  if (op == "*" || op == "/" || op == "//" || op == "%" || op == "@") return 6;
  return 0;
}

}  // namespace

AstParser::Nesting::Nesting(AstParser* parser) : parser(*parser) {
  if (++parser->nesting_ > kMaxNesting) {
    --parser->nesting_;
    parser->fail(parser->token().place,
                 fmt::format("the program is nested more than {} levels deep here", kMaxNesting));
  }
}

void AstParser::fail_here(std::string_view expected) const {
  const Token& found = token();
  if (found.kind == TokenKind::kInvalid) fail(found.place, found.problem);
  const bool at_end = found.kind == TokenKind::kEnd || found.kind == TokenKind::kNewline;
  if (at_end && !open_brackets_.empty())
    fail(open_brackets_.back(), fmt::format("this {} is never closed", tree_.text.at(open_brackets_.back())));
  std::string shown = fmt::format("\"{}\"", text());
  if (found.kind == TokenKind::kEnd) shown = "the end of the program";
  if (found.kind == TokenKind::kNewline) shown = "the end of the line";
  if (found.kind == TokenKind::kIndent) shown = "an indented line";
  if (found.kind == TokenKind::kDedent) shown = "the end of the indented lines";
  fail(found.place, fmt::format("expected {}, found {}", expected, shown));
}

void AstParser::expect_op(std::string_view op, std::string_view where) {
  if (!accept_op(op)) fail_here(fmt::format("\"{}\" {}", op, where));
}

Place AstParser::expect_name(std::string_view what) {
  if (token().kind != TokenKind::kName || is_reserved(text())) fail_here(what);
  advance();
  return last_place();
}

Expr* AstParser::make(ExprKind kind, Place place, std::vector<const Expr*> items) {
  Expr* expr = &tree_.exprs.emplace_back();
  expr->kind = kind;
  expr->place = place;
  expr->items = std::move(items);
  for (const Expr* item : expr->items) {
    if (item) expr->depth = std::max(expr->depth, item->depth + 1);
  }
  if (expr->depth > kMaxExprDepth)
    fail(place, fmt::format("the expression is nested more than {} levels deep", kMaxExprDepth));
  return expr;
}

const Expr* AstParser::parse_tuple_or_expr(bool is_target) {
  const Place begin = token().place;
  auto item = [&]() -> const Expr* {
    if (is_op("*")) {
      advance();
      const Place star = last_place();
      const Expr* value = parse_binary(1);
      return make(ExprKind::kStarred, star.to(value->place), {value});
    }
    return is_target ? parse_postfix() : parse_expr();
  };
  const Expr* first = item();
  if (!is_op(",")) return first;
  std::vector<const Expr*> items{first};
  while (accept_op(",")) {
    const bool ends = token().kind == TokenKind::kNewline || token().kind == TokenKind::kEnd || is_op("=") ||
                      is_op(")") || is_op(":") || is_op(";") || is_op("]") || is_word("in");
    if (ends) break;
    items.push_back(item());
  }
  return make(ExprKind::kTuple, begin.to(last_place()), std::move(items));
}

const Expr* AstParser::parse_expr() {
  Nesting nesting(this);
  if (is_word("lambda")) return parse_lambda();
  const Expr* value = parse_or();
  if (accept_word("if")) {
    const Expr* test = parse_or();
    if (!accept_word("else")) fail_here("\"else\" of the conditional expression");
    const Expr* otherwise = parse_expr();
    return make(ExprKind::kIfElse, value->place.to(otherwise->place), {value, test, otherwise});
  }
  if (is_op(":=")) fail(token().place, "\":=\" is not part of TVMScript");
  return value;
}

const Expr* AstParser::parse_lambda() {
  const Place begin = token().place;
  advance();
  std::vector<std::string_view> names;
  while (!is_op(":")) {
    if (accept_op("*")) {
      names.push_back(tree_.text.at(last_place().to(expect_name("a parameter name"))));
    } else {
      names.push_back(tree_.text.at(expect_name("a parameter name")));
    }
    if (is_op("=")) fail(token().place, "a lambda of TVMScript takes no default values");
    if (!accept_op(",")) break;
  }
  expect_op(":", "after the parameters of the lambda");
  const Expr* body = parse_expr();
  Expr* lambda = make(ExprKind::kLambda, begin.to(body->place), {body});
  lambda->names = std::move(names);
  return lambda;
}

const Expr* AstParser::parse_or() {
  const Expr* first = parse_and();
  if (!is_word("or")) return first;
  std::vector<const Expr*> items{first};
  while (accept_word("or")) items.push_back(parse_and());
  Expr* expr = make(ExprKind::kBoolOp, first->place.to(items.back()->place), std::move(items));
  expr->text = "or";
  return expr;
}

const Expr* AstParser::parse_and() {
  const Expr* first = parse_not();
  if (!is_word("and")) return first;
  std::vector<const Expr*> items{first};
  while (accept_word("and")) items.push_back(parse_not());
  Expr* expr = make(ExprKind::kBoolOp, first->place.to(items.back()->place), std::move(items));
  expr->text = "and";
  return expr;
}

const Expr* AstParser::parse_not() {
  if (!is_word("not")) return parse_compare();
  Nesting nesting(this);
  advance();
  const Place begin = last_place();
  const Expr* value = parse_not();
  Expr* expr = make(ExprKind::kUnary, begin.to(value->place), {value});
  expr->text = "not";
  return expr;
}

// Consumes and returns the comparison operator at this position; empty if there is none.
std::string_view AstParser::compare_operator() {
  for (std::string_view op : {"<", "<=", ">", ">=", "==", "!="}) {
    if (accept_op(op)) return op;
  }
  if (accept_word("in")) return "in";
  if (accept_word("is")) return accept_word("not") ? "is not" : "is";
  if (is_word("not") && tree_.text.at(next_token().place) == "in") return advance(), advance(), "not in";
  return {};
}

const Expr* AstParser::parse_compare() {
  const Expr* first = parse_binary(1);
  std::vector<const Expr*> items{first};
  std::vector<std::string_view> names;
  for (std::string_view op = compare_operator(); !op.empty(); op = compare_operator()) {
    names.push_back(op);
    items.push_back(parse_binary(1));
  }
  if (names.empty()) return first;
  Expr* expr = make(ExprKind::kCompare, first->place.to(items.back()->place), std::move(items));
  expr->names = std::move(names);
  return expr;
}

const Expr* AstParser::parse_binary(int min_level) {
  const Expr* left = parse_unary();
  while (token().kind == TokenKind::kOp) {
    const std::string_view op = text();
    const int level = binary_level(op);
    if (level < min_level || level == 0) break;
    advance();
    const Expr* right = parse_binary(level + 1);
    Expr* expr = make(ExprKind::kBinary, left->place.to(right->place), {left, right});
    expr->text = op;
    left = expr;
  }
  return left;
}

const Expr* AstParser::parse_unary() {
  if (is_op("-") || is_op("+") || is_op("~")) {
    Nesting nesting(this);
    const std::string_view op = text();
    advance();
    const Place begin = last_place();
    const Expr* value = parse_unary();
    Expr* expr = make(ExprKind::kUnary, begin.to(value->place), {value});
    expr->text = op;
    return expr;
  }
  const Expr* base = parse_postfix();
  if (!is_op("**")) return base;
  Nesting nesting(this);
  advance();
  const Expr* exponent = parse_unary();  // binds more tightly than a minus before it, less than one after it
  Expr* expr = make(ExprKind::kBinary, base->place.to(exponent->place), {base, exponent});
  expr->text = "**";
  return expr;
}

const Expr* AstParser::parse_postfix() {
  const Expr* value = parse_atom();
  while (true) {
    if (accept_op(".")) {
      const Place name = expect_name("an attribute name after \".\"");
      Expr* expr = make(ExprKind::kAttribute, value->place.to(name), {value});
      expr->text = tree_.text.at(name);
      value = expr;
    } else if (is_op("(")) {
      value = parse_call(value);
    } else if (is_op("[")) {
      value = parse_subscript(value);
    } else {
      return value;
    }
  }
}

const Expr* AstParser::parse_call(const Expr* func) {
  open_brackets_.push_back(token().place);
  advance();
  std::vector<const Expr*> items{func};
  std::vector<Keyword> keywords;
  while (!is_op(")")) {
    if (accept_op("**")) {
      keywords.push_back({{}, last_place(), parse_expr()});
    } else if (accept_op("*")) {
      const Place star = last_place();
      const Expr* value = parse_expr();
      items.push_back(make(ExprKind::kStarred, star.to(value->place), {value}));
    } else if (token().kind == TokenKind::kName && tree_.text.at(next_token().place) == "=" &&
               next_token().kind == TokenKind::kOp) {
      const Place name = expect_name("an argument name");
      advance();
      for (const Keyword& other : keywords) {
        if (other.name == tree_.text.at(name))
          fail(name, fmt::format("argument {} is given twice", other.name));
      }
      keywords.push_back({tree_.text.at(name), name, parse_expr()});
    } else {
      const Expr* value = parse_expr();
      if (at_comprehension()) {
        items.push_back(opaque_until(value->place, ")"));
        break;
      }
      if (!keywords.empty()) fail(value->place, "an argument without a name follows one with a name");
      items.push_back(value);
    }
    if (!accept_op(",")) break;
  }
  expect_op(")", "after the arguments");
  open_brackets_.pop_back();
  const Place place = func->place.to(last_place());
  for (const Keyword& keyword : keywords) items.push_back(keyword.value);  // counted for depth, then removed
  Expr* call = make(ExprKind::kCall, place, std::move(items));
  call->items.resize(call->items.size() - keywords.size());
  call->keywords = std::move(keywords);
  return call;
}

const Expr* AstParser::parse_slice() {
  const Place begin = token().place;
  if (is_op("*")) {
    advance();
    const Expr* value = parse_expr();
    return make(ExprKind::kStarred, begin.to(value->place), {value});
  }
  const Expr* parts[3] = {};
  if (!is_op(":")) parts[0] = parse_expr();
  if (!is_op(":")) return parts[0];
  advance();
  auto ends = [&] { return is_op(",") || is_op("]") || is_op(":"); };
  if (!ends()) parts[1] = parse_expr();
  if (accept_op(":") && !ends()) parts[2] = parse_expr();
  return make(ExprKind::kSlice, begin.to(last_place()), {parts[0], parts[1], parts[2]});
}

const Expr* AstParser::parse_subscript(const Expr* value) {
  open_brackets_.push_back(token().place);
  advance();
  std::vector<const Expr*> items{value};
  while (!is_op("]")) {
    items.push_back(parse_slice());
    if (!accept_op(",")) break;
  }
  expect_op("]", "after the indices");
  open_brackets_.pop_back();
  return make(ExprKind::kSubscript, value->place.to(last_place()), std::move(items));
}

}  // namespace tilewright::script::ast
