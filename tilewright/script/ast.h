// The syntax tree of the Python subset that TVMScript uses, without any meaning of names or calls.
// Nodes live in a Tree and point into it and into the text; every node knows its place in the text.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/script/lexer.h"

namespace tilewright::script::ast {

/// Wide enough for the integers that Python programs write; larger ones are refused.
__extension__ using PyInt = __int128;

enum class ExprKind : uint8_t {
  kName,    // text
  kInt,     // integer
  kFloat,   // real
  kString,  // string
  kTrue,
  kFalse,
  kNone,
  kEllipsis,
  kAttribute,  // items[0] . text
  kCall,       // items[0] ( items[1..] , keywords )
  kSubscript,  // items[0] [ items[1..] ]
  kSlice,      // items[0] : items[1] : items[2], each may be null; only inside kSubscript
  kUnary,      // text items[0]; text is "-", "+", "~" or "not"
  kBinary,     // items[0] text items[1]
  kCompare,    // items[0] ops[0] items[1] ops[1] items[2] ...
  kBoolOp,     // items joined by text, "and" or "or"
  kIfElse,     // items[0] if items[1] else items[2]
  kLambda,     // lambda names: items[0]
  kTuple,
  kList,
  kDict,     // items[2 n] : items[2 n + 1]; the key is null for **value
  kStarred,  // *items[0]
  kOpaque,   // comprehensions, f-strings and the like: only their text is kept
};

struct Expr;

struct Keyword {
  std::string_view name;  // empty: **value
  Place place;            // of the name
  const Expr* value;
};

struct Expr {
  ExprKind kind;
  uint32_t depth = 1;  // of the tree below this node
  Place place;
  std::string_view text;
  std::string string;
  PyInt integer = 0;
  double real = 0;
  std::vector<const Expr*> items;
  std::vector<Keyword> keywords;
  std::vector<std::string_view> names;  // operators of kCompare, parameters of kLambda
};

enum class StmtKind : uint8_t {
  kFunction,   // name, params, result, body, decorators
  kClass,      // name, body, decorators
  kAssign,     // targets[0] = targets[1] = ... = value
  kAnnAssign,  // targets[0] : annotation [= value]
  kAugAssign,  // targets[0] op= value
  kFor,        // for targets[0] in value: body
  kWhile,      // while value: body
  kIf,         // if value: body else: orelse
  kWith,       // with items: body
  kReturn,     // return [value]
  kExpr,       // value
  kAssert,     // assert value [, message]
  kPass,
  kBreak,
  kContinue,
  kImport,  // import value (a dotted name) [as name], or from value import name [as alias] : see imports
};

struct Stmt;
using Body = std::vector<const Stmt*>;

struct Param {
  std::string_view name;
  Place place;
  const Expr* annotation = nullptr;
  const Expr* default_value = nullptr;
};

struct WithItem {
  const Expr* value;
  const Expr* target;  // null without `as`
};

/// One name that an import binds: `alias` stands for the dotted `path`.
struct Import {
  std::string alias, path;
};

struct Stmt {
  StmtKind kind;
  Place place;  // the whole simple statement, or the first line of a compound one
  std::string_view name;
  Place name_place;
  std::string_view op;
  std::vector<const Expr*> targets, decorators;
  const Expr* value = nullptr;
  const Expr* annotation = nullptr;  // the annotation of kAnnAssign, the result of kFunction
  const Expr* message = nullptr;
  std::vector<Param> params;
  std::vector<WithItem> items;
  std::vector<Import> imports;
  Body body, orelse;
};

/// A parsed text, which owns its nodes.
struct Tree {
  explicit Tree(Ref<Source> source) : text(std::move(source)) {}
  Text text;
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
  Body body;
  Span span(Place place) const { return text.span(place); }
  Span span(const Expr* expr) const { return text.span(expr->place); }
  Span span(const Stmt* stmt) const { return text.span(stmt->place); }
  std::string_view source_of(const Expr* expr) const { return text.at(expr->place); }
};

/// The tree of a program.  Of a file's outermost statements only imports, `metadata = ...` and decorated
/// functions and classes are parsed; all others are plain Python and skipped.  Raises UserError with a caret
/// where the text is not in the subset.
std::unique_ptr<Tree> parse_program(Ref<Source> source);

/// Parses a text that is one expression.
const Expr* parse_expression(Tree* tree);

/// "a.b.c" for a chain of attributes over a name, else empty.
std::string dotted_name(const Expr* expr);

}  // namespace tilewright::script::ast
