// Assignments: to elements of buffers, to new names, to several at once.
#include "tilewright/script/parser/regions.h"
#include "tilewright/script/parser/tir_parser.h"

namespace tilewright::script {
using ast::Expr;
using ast::ExprKind;

std::vector<std::string_view> target_names(const Expr* target) {
  if (target->kind == ExprKind::kName) return {target->text};
  std::vector<std::string_view> names;
  if (target->kind == ExprKind::kTuple || target->kind == ExprKind::kList) {
    for (const Expr* item : target->items)
      names.push_back(item->kind == ExprKind::kName ? item->text : std::string_view());
  }
  return names;
}

namespace {
bool is_list(const Expr* expr) { return expr->kind == ExprKind::kTuple || expr->kind == ExprKind::kList; }
}  // namespace

void TirParser::parse_assign(const ast::Stmt* stmt) {
  for (size_t n = 0; n < stmt->targets.size(); ++n) assign(stmt->targets[n], stmt->value);
}

void TirParser::assign(const Expr* target, const Expr* value_expr) {
  const bool is_meta =
      value_expr->kind == ExprKind::kCall && parser_.path_of(value_expr->items[0]) == "tir.meta_var";
  if (is_meta && target->kind == ExprKind::kName)
    return parser_.names.define(target->text, parser_.eval(value_expr), target->place);
  if (!is_list(target) || !is_list(value_expr))
    return assign_value(target, parser_.eval(value_expr, target_names(target)), value_expr->place);
  if (target->items.size() != value_expr->items.size())
    throw UserError(parser_.span(value_expr), "{} names are assigned {} values", target->items.size(),
                    value_expr->items.size());
  std::vector<Value> values;  // all are evaluated before the first is assigned
  for (size_t n = 0; n < target->items.size(); ++n)
    values.push_back(parser_.eval(value_expr->items[n], target_names(target->items[n])));
  for (size_t n = 0; n < target->items.size(); ++n)
    assign_value(target->items[n], values[n], value_expr->items[n]->place);
}

void TirParser::assign_value(const Expr* target, const Value& value, Place value_place) {
  switch (target->kind) {
    case ExprKind::kName: return assign_name(target, value, value_place);
    case ExprKind::kTuple:
    case ExprKind::kList: return assign_tuple(target, value, value_place);
    case ExprKind::kSubscript: return store(target, value, value_place);
    default: throw UserError(parser_.span(target), "this cannot be assigned to");
  }
}

void TirParser::assign_tuple(const Expr* target, const Value& value, Place value_place) {
  // (vi,) = T.axis.remap("S", [i]): a single axis is not a list
  if (target->items.size() == 1 && value.node<ir::PrimExprNode>())
    return assign_value(target->items[0], value, value_place);
  const Sequence& list = parser_.to_sequence(value, value_place, "what several names are assigned");
  if (list.items.size() != target->items.size())
    throw UserError(parser_.span(target), "{} names are assigned {} values", target->items.size(),
                    list.items.size());
  for (size_t n = 0; n < target->items.size(); ++n)
    assign_value(target->items[n], list.items[n], value_place);
}

// A[i, j] = value
void TirParser::store(const Expr* target, const Value& value, Place value_place) {
  const Value base = parser_.eval(target->items[0]);
  Buffer buffer = base.ref<BufferNode>();
  if (const auto* pointer = base.get<AllocatedPointer>()) buffer = ref_as<BufferNode>(pointer->buffer);
  if (!buffer)
    throw UserError(parser_.span(target), "{} has no elements that can be assigned", describe(base));
  std::vector<PrimExpr> indices = parser_.at(target->place, [&] {
    return vector_indices(parser_.eval_indices(buffer, target), parser_.span(target));
  });
  DataType dtype = buffer->dtype;
  if (!indices.empty()) dtype = dtype.with_lanes(dtype.lanes * indices.back()->dtype.lanes);
  PrimExpr stored = parser_.to_dtype(value, dtype, value_place, "buffer " + buffer->name);
  const Span span = parser_.span(target->place.to(value_place));
  state_.out->add(parser_.at(target->place, [&] {
    return BufferStoreNode::make(buffer, stored, std::move(indices), PrimExpr(), span);
  }));
}

namespace {

// An assignment in a loop or branch to a variable defined outside would be lost at the end of the loop or
// branch, unlike in Python.
void refuse_outer_change(Parser& parser, const Expr* target) {
  const Binding* known = parser.names.lookup(target->text);
  if (!known || !known->is_let || parser.names.lookup_here(target->text)) return;
  throw UserError(parser.span(target), "{} is assigned again inside a loop, branch or block", target->text)
      .note(parser.span(known->place), "it gets its value here, and a variable of TIR keeps it")
      .help("use a buffer of one element: {0} = T.alloc_buffer((1,), ...) and {0}[0] = ...", target->text);
}

}  // namespace

void TirParser::assign_name(const Expr* target, const Value& value, Place value_place) {
  const std::string_view name = target->text;
  const auto* expr = value.node<ir::PrimExprNode>();
  // n = T.int64() and vi = T.axis.spatial(...) name the new variable itself, once
  const bool is_new = expr && state_.fresh.erase(expr) > 0;
  const bool is_scalar = expr || value.is_number() || value.get<BufferSlice>();
  if (is_new || !is_scalar) return parser_.names.define(name, value, target->place);
  refuse_outer_change(parser_, target);
  bind_let(name, target->place, parser_.to_prim(value, value_place), nullptr);
}

// name = value, for the statements that follow
void TirParser::bind_let(std::string_view name, Place place, PrimExpr value, const ir::Type& type) {
  tir::Var var = tir::VarNode::make(std::string(name), value->dtype, type, parser_.span(place));
  state_.defined.insert(var.get());
  const Span span = parser_.span(place);
  state_.out->open(
      [=](tir::Stmt body) -> tir::Stmt { return LetStmtNode::make(value, var, std::move(body), span); });
  parser_.names.define(name, var, place, true);
}

void TirParser::parse_let(const ast::Stmt* stmt, const Expr* type_expr) {
  const Expr* target = stmt->targets[0];
  if (!stmt->value) throw UserError(parser_.tree.span(stmt), "variable {} has no value", target->text);
  const Value type = type_expr ? parser_.eval(type_expr) : Value();
  const Value value = parser_.eval(stmt->value, {target->text});
  refuse_outer_change(parser_, target);
  PrimExpr expr = type_expr && !type.node<ir::TypeNode>()
                      ? parser_.to_dtype(value, parser_.to_data_type(type, type_expr->place),
                                         stmt->value->place, "variable " + std::string(target->text))
                      : parser_.to_prim(value, stmt->value->place);
  bind_let(target->text, target->place, expr, type.ref<ir::TypeNode>());
}

// x: T.int32 = value; the annotation determines the dtype
void TirParser::parse_annotated(const ast::Stmt* stmt) {
  const Expr* target = stmt->targets[0];
  if (target->kind != ExprKind::kName) throw UserError(parser_.span(target), "only a name can be annotated");
  // x: T.let = value, x: T.let[T.int32] = value
  const bool has_type = stmt->annotation->kind == ExprKind::kSubscript && stmt->annotation->items.size() == 2;
  if (parser_.path_of(has_type ? stmt->annotation->items[0] : stmt->annotation) == "tir.let")
    return parse_let(stmt, has_type ? stmt->annotation->items[1] : nullptr);
  const Value annotation = parser_.eval(stmt->annotation, {target->text});
  if (!stmt->value) {
    parser_.names.define(target->text, annotation, target->place);
    return;
  }
  const Value value = parser_.eval(stmt->value, {target->text});
  if (value.node<BufferNode>()) return assign_name(target, value, stmt->value->place);
  const auto* pointer = annotation.node<tir::VarNode>();  // x: T.handle("float32") = ...
  const DataType dtype = pointer ? pointer->dtype : parser_.to_data_type(annotation, stmt->annotation->place);
  refuse_outer_change(parser_, target);
  PrimExpr expr = parser_.to_dtype(value, dtype, stmt->value->place, "variable " + std::string(target->text));
  bind_let(target->text, target->place, expr, pointer ? pointer->type_annotation : ir::Type());
}

void TirParser::parse_augmented(const ast::Stmt* stmt) {
  const Expr* target = stmt->targets[0];
  const Value old = parser_.eval(target);
  const Place place = target->place.to(stmt->value->place);
  const Value value = parser_.binary_op(stmt->op, old, parser_.eval(stmt->value), place);
  assign_value(target, value, place);
}

}  // namespace tilewright::script
