// Statements: dispatch, branches, while, with, expressions evaluated for their effect.
#include "tilewright/script/parser/tir_parser.h"

namespace tilewright::script {
using ast::StmtKind;

void StmtList::add(tir::Stmt stmt) {
  if (const auto* list = stmt.as<SeqStmtNode>()) {
    for (const tir::Stmt& item : list->seq) items_.push_back({item, nullptr});
    return;
  }
  items_.push_back({std::move(stmt), nullptr});
}

tir::Stmt StmtList::close() {
  std::vector<tir::Stmt> rest;  // the statements that follow, in reverse order
  auto as_one = [&]() -> tir::Stmt {
    if (rest.empty()) return EvaluateNode::make(imm(0));
    if (rest.size() == 1) return rest[0];
    return SeqStmtNode::make(std::vector<tir::Stmt>(rest.rbegin(), rest.rend()));
  };
  for (size_t n = items_.size(); n-- > 0;) {
    if (!items_[n].wrap) {
      rest.push_back(items_[n].stmt);
      continue;
    }
    tir::Stmt wrapped = items_[n].wrap(as_one());
    rest.clear();
    rest.push_back(std::move(wrapped));
  }
  return as_one();
}

void TirParser::parse_whole(const ast::Body& body) {
  last_ = body.empty() ? nullptr : body.back();
  parse_body(body);
}

void TirParser::parse_body(const ast::Body& body) {
  for (const ast::Stmt* stmt : body) parser_.at(stmt->place, [&] { parse_statement(stmt); });
}

tir::Stmt TirParser::parse_scope(const ast::Body& body) {
  FrameGuard frame(&parser_.names);
  StmtList list;
  StmtList* outer = std::exchange(state_.out, &list);
  parse_body(body);
  state_.out = outer;
  return list.close();
}

void TirParser::parse_statement(const ast::Stmt* stmt) {
  switch (stmt->kind) {
    case StmtKind::kExpr: return parse_expr_statement(stmt);
    case StmtKind::kAssign: return parse_assign(stmt);
    case StmtKind::kAnnAssign: return parse_annotated(stmt);
    case StmtKind::kAugAssign: return parse_augmented(stmt);
    case StmtKind::kFor: return parse_for(stmt);
    case StmtKind::kWhile: return parse_while(stmt);
    case StmtKind::kIf: return parse_if(stmt);
    case StmtKind::kWith: return parse_with(stmt, 0);
    case StmtKind::kAssert: return parse_assert(stmt);
    case StmtKind::kReturn: return parse_return(stmt);
    case StmtKind::kPass: return;
    case StmtKind::kBreak:
    case StmtKind::kContinue: {
      PrimExpr jump = tir::CallNode::make(
          kInt32, ir::Expr(find_op(stmt->kind == StmtKind::kBreak ? "break_loop" : "continue_loop")),
          std::vector<PrimExpr>{}, AttrMap(), parser_.tree.span(stmt));
      return state_.out->add(EvaluateNode::make(jump, parser_.tree.span(stmt)));
    }
    case StmtKind::kFunction:
    case StmtKind::kClass:
      throw UserError(parser_.span(stmt->name_place),
                      "a function or class cannot be defined inside a T.prim_func");
    case StmtKind::kImport:
      throw UserError(parser_.tree.span(stmt), "an import is not allowed inside a T.prim_func");
  }
}

void TirParser::parse_expr_statement(const ast::Stmt* stmt) {
  if (stmt->value->kind == ast::ExprKind::kString || stmt->value->kind == ast::ExprKind::kEllipsis) return;
  if (Ref<Macro> macro = parser_.macro_of(stmt->value)) {
    return expand_macro(
        parser_, macro, stmt->value, &state_.macros,
        [&](Parser& inner, const ast::Body& body) { TirParser(&inner, &state_).parse_whole(body); });
  }
  add_value(parser_.eval(stmt->value), stmt->value);
}

// An expression statement is evaluated for its effect.
void TirParser::add_value(const Value& value, const ast::Expr* expr) {
  if (value.is_none() || value.get<EllipsisValue>()) return;
  if (const auto* list = value.get<Sequence>()) {
    for (const Value& item : list->items) add_value(item, expr);
    return;
  }
  if (value.ref<ir::PrimExprNode>())
    return state_.out->add(EvaluateNode::make(parser_.to_prim(value, expr->place), parser_.span(expr)));
  if (value.node<BufferNode>() || value.get<AllocatedPointer>() || value.node<IterVarNode>())
    return;  // e.g. T.allocate without a name
  throw UserError(parser_.span(expr), "the value of this line, {}, is not used", describe(value));
}

void TirParser::parse_if(const ast::Stmt* stmt) {
  const Value test = parser_.eval(stmt->value);
  if (test.is_number() || test.is_none()) {  // known while parsing: only the chosen branch is parsed
    const bool chosen = parser_.to_flag(test, stmt->value->place, "the condition");
    if (chosen || !stmt->orelse.empty()) state_.out->add(parse_scope(chosen ? stmt->body : stmt->orelse));
    return;
  }
  PrimExpr condition = parser_.to_bool(test, stmt->value->place);
  tir::Stmt then_case = parse_scope(stmt->body);
  tir::Stmt else_case = stmt->orelse.empty() ? tir::Stmt() : parse_scope(stmt->orelse);
  state_.out->add(IfThenElseNode::make(condition, then_case, else_case, parser_.tree.span(stmt)));
}

void TirParser::parse_while(const ast::Stmt* stmt) {
  PrimExpr condition = parser_.to_bool(parser_.eval(stmt->value), stmt->value->place);
  state_.out->add(WhileNode::make(condition, parse_scope(stmt->body), parser_.tree.span(stmt)));
}

void TirParser::parse_assert(const ast::Stmt* stmt) {
  const Value test = parser_.eval(stmt->value);
  std::string message = "assertion failed";
  if (stmt->message) message = assert_message(parser_, parser_.eval(stmt->message), stmt->message->place);
  if (test.is_number() && !test.node<ir::PrimExprNode>()) {
    if (!parser_.to_flag(test, stmt->value->place, "the condition"))
      throw UserError(parser_.span(stmt->value), "{}", message);
    return;
  }
  state_.out->add(
      AssertStmtNode::make(parser_.to_bool(test, stmt->value->place), message, parser_.tree.span(stmt)));
}

void TirParser::parse_return(const ast::Stmt* stmt) {
  if (!stmt->value || stmt->value->kind == ast::ExprKind::kNone) {
    if (stmt == last_) return;
    throw UserError(parser_.tree.span(stmt),
                    "a return without a value is allowed only at the end of a function")
        .help("write T.evaluate(T.ret(0)), or put what follows it under a condition");
  }
  PrimExpr value = parser_.eval_prim(stmt->value);
  const DataType dtype = value->dtype;
  PrimExpr call = tir::CallNode::make(dtype, ir::Expr(find_op("ret")), std::vector<PrimExpr>{value},
                                      AttrMap(), parser_.tree.span(stmt));
  state_.out->add(EvaluateNode::make(call, parser_.tree.span(stmt)));
}

// with a, b: body  =>  with a: with b: body
void TirParser::parse_with(const ast::Stmt* stmt, size_t item) {
  if (item == stmt->items.size()) return parse_body(stmt->body);
  const ast::Expr* expr = stmt->items[item].value;
  const std::string path = expr->kind == ast::ExprKind::kCall ? parser_.path_of(expr->items[0]) : "";
  if (path == "tir.block" || path == "tir.sblock") return parse_block(stmt, item, expr);
  if (path == "tir.init") return parse_init(stmt, item);
  for (std::string_view loop : {"tir.grid", "tir.serial", "tir.parallel", "tir.vectorized", "tir.unroll",
                                "tir.unrolled", "tir.thread_binding"}) {
    if (path == loop)
      throw UserError(parser_.span(expr), "{} is a loop, not a `with`", parser_.text(expr->items[0]))
          .help("write it as `for ... in {}:`", parser_.text(expr));
  }
  // all others open a scope and are its first statement: T.attr, T.allocate,
  // T.launch_thread, T.LetStmt, T.Assert
  FrameGuard frame(&parser_.names);
  StmtList list;
  StmtList* outer = std::exchange(state_.out, &list);
  const ast::Expr* target = stmt->items[item].target;
  const Value value = parser_.eval(expr, target ? target_names(target) : std::vector<std::string_view>{});
  if (list.empty())
    throw UserError(parser_.span(expr),
                    "this opens no scope: `with` takes T.block, T.init, T.attr, T.launch_thread, T.allocate, "
                    "T.decl_buffer, T.LetStmt or T.Assert");
  if (target) assign_value(target, value, expr->place);
  parse_with(stmt, item + 1);
  state_.out = outer;
  state_.out->add(list.close());
}

}  // namespace tilewright::script
