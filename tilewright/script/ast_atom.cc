// Names, literals and bracketed expressions.
#include <algorithm>
#include <charconv>

#include "tilewright/script/ast_parser.h"

namespace tilewright::script::ast {

constexpr std::string_view kReserved[] = {
    "and",    "as",      "assert", "break", "class",  "continue", "def",    "del", "elif", "else",
    "except", "finally", "for",    "from",  "global", "if",       "import", "in",  "is",   "nonlocal",
    "not",    "or",      "pass",   "raise", "return", "try",      "while",  "with"};

bool AstParser::is_reserved(std::string_view word) {
  return std::find(std::begin(kReserved), std::end(kReserved), word) != std::end(kReserved);
}

const Expr* AstParser::opaque_until(Place open, std::string_view close) {
  size_t depth = 0;
  while (token().kind != TokenKind::kEnd && token().kind != TokenKind::kNewline) {
    if (depth == 0 && is_op(close)) break;
    if (is_op("(") || is_op("[") || is_op("{")) ++depth;
    if (depth > 0 && (is_op(")") || is_op("]") || is_op("}"))) --depth;
    advance();
  }
  return make(ExprKind::kOpaque, open.to(last_place()));
}

const Expr* AstParser::parse_atom() {
  const Token& first = token();
  switch (first.kind) {
    case TokenKind::kInt:
    case TokenKind::kFloat: return parse_number();
    case TokenKind::kString: return parse_strings();
    case TokenKind::kName: {
      if (is_reserved(text()) || is_word("await") || is_word("yield")) fail_here("an expression");
      ExprKind kind = ExprKind::kName;
      if (is_word("True")) kind = ExprKind::kTrue;
      if (is_word("False")) kind = ExprKind::kFalse;
      if (is_word("None")) kind = ExprKind::kNone;
      Expr* name = make(kind, first.place);
      name->text = text();
      advance();
      return name;
    }
    case TokenKind::kOp:
      if (is_op("(")) return parse_paren();
      if (is_op("[")) return parse_list();
      if (is_op("{")) return parse_braces();
      if (accept_op("...")) return make(ExprKind::kEllipsis, last_place());
      [[fallthrough]];
    default: fail_here("an expression");
  }
}

const Expr* AstParser::parse_paren() {
  const Place open = token().place;
  open_brackets_.push_back(open);
  advance();
  const Expr* result;
  if (is_op(")")) {
    result = make(ExprKind::kTuple, open);
  } else {
    result = parse_tuple_or_expr();
    if (at_comprehension()) result = opaque_until(open, ")");
  }
  expect_op(")", "to close the bracket");
  open_brackets_.pop_back();
  // the brackets belong to the text of the expression: (a + b) * c is shown as written
  Expr* copy = &tree_.exprs.emplace_back(*result);
  copy->place = open.to(last_place());
  return copy;
}

const Expr* AstParser::parse_list() {
  const Place open = token().place;
  open_brackets_.push_back(open);
  advance();
  std::vector<const Expr*> items;
  const Expr* opaque = nullptr;
  while (!is_op("]")) {
    if (accept_op("*")) {
      const Place star = last_place();
      const Expr* value = parse_expr();
      items.push_back(make(ExprKind::kStarred, star.to(value->place), {value}));
    } else {
      items.push_back(parse_expr());
    }
    if (at_comprehension()) {
      opaque = opaque_until(open, "]");
      break;
    }
    if (!accept_op(",")) break;
  }
  expect_op("]", "to close the list");
  open_brackets_.pop_back();
  return make(opaque ? ExprKind::kOpaque : ExprKind::kList, open.to(last_place()),
              opaque ? std::vector<const Expr*>{} : std::move(items));
}

const Expr* AstParser::parse_braces() {
  const Place open = token().place;
  open_brackets_.push_back(open);
  advance();
  std::vector<const Expr*> items;
  bool is_opaque = false;
  while (!is_op("}")) {
    if (accept_op("**")) {
      items.push_back(nullptr);
      items.push_back(parse_expr());
    } else {
      items.push_back(parse_expr());
      if (!accept_op(":")) {  // a set
        is_opaque = true;
        opaque_until(open, "}");
        break;
      }
      items.push_back(parse_expr());
    }
    if (at_comprehension()) {
      is_opaque = true;
      opaque_until(open, "}");
      break;
    }
    if (!accept_op(",")) break;
  }
  expect_op("}", "to close the dictionary");
  open_brackets_.pop_back();
  return make(is_opaque ? ExprKind::kOpaque : ExprKind::kDict, open.to(last_place()),
              is_opaque ? std::vector<const Expr*>{} : std::move(items));
}

const Expr* AstParser::parse_strings() {
  const Place begin = token().place;
  std::string value;
  bool is_opaque = false;
  while (token().kind == TokenKind::kString) {
    is_opaque = is_opaque || is_opaque_string(text());
    value += decode_string(text());
    advance();
  }
  Expr* expr = make(is_opaque ? ExprKind::kOpaque : ExprKind::kString, begin.to(last_place()));
  expr->string = std::move(value);
  return expr;
}

const Expr* AstParser::parse_number() {
  const Place place = token().place;
  std::string digits;
  for (char c : text()) {
    if (c != '_') digits.push_back(c);
  }
  Expr* expr = make(token().kind == TokenKind::kFloat ? ExprKind::kFloat : ExprKind::kInt, place);
  if (expr->kind == ExprKind::kFloat) {
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, expr->real);
    if (result.ec == std::errc::result_out_of_range) fail(place, "the number does not fit in 64 bits");
    if (result.ptr != end) fail(place, "this is not a number");
  } else {
    int base = 10;
    size_t begin = 0;
    if (digits.size() > 1 && digits[0] == '0' && !(digits[1] >= '0' && digits[1] <= '9')) {
      base = digits[1] == 'x' || digits[1] == 'X' ? 16 : digits[1] == 'o' || digits[1] == 'O' ? 8 : 2;
      begin = 2;
    }
    if (begin == digits.size()) fail(place, "this is not a number");
    for (size_t n = begin; n < digits.size(); ++n) {
      const char lower = static_cast<char>(digits[n] | 0x20);
      const int digit = digits[n] >= '0' && digits[n] <= '9' ? digits[n] - '0'
                        : lower >= 'a' && lower <= 'f'       ? lower - 'a' + 10
                                                             : 99;
      if (digit >= base) fail(place, "this is not a number");
      expr->integer = expr->integer * base + digit;
      if (expr->integer >> 64) fail(place, "the number does not fit in 64 bits");
    }
  }
  advance();
  return expr;
}

std::string dotted_name(const Expr* expr) {
  if (expr->kind == ExprKind::kName) return std::string(expr->text);
  if (expr->kind != ExprKind::kAttribute) return {};
  std::string base = dotted_name(expr->items[0]);
  if (base.empty()) return base;
  return base.append(".").append(expr->text);
}

}  // namespace tilewright::script::ast
