// Statements of graphs: bindings, dataflow blocks, if, nested functions, return.
#include <algorithm>

#include "tilewright/relax/infer/infer.h"
#include "tilewright/script/parser/relax_parser.h"

namespace tilewright::script {
using ast::Expr;
using ast::ExprKind;
using ast::StmtKind;

void RelaxParser::parse_body(const ast::Body& body) {
  for (const ast::Stmt* stmt : body) {
    if (state_.result) throw UserError(parser_.tree.span(stmt), "nothing can follow the return");
    parser_.at(stmt->place, [&] { parse_statement(stmt); });
  }
}

void RelaxParser::parse_statement(const ast::Stmt* stmt) {
  const Span span = parser_.tree.span(stmt);
  switch (stmt->kind) {
    case StmtKind::kPass: return;
    case StmtKind::kAssign:
      for (const Expr* target : stmt->targets) parse_assign(target, stmt->value);
      return;
    case StmtKind::kAnnAssign: {
      if (!stmt->value) throw UserError(span, "a variable of a graph needs a value");
      const Value annotation = parser_.eval(stmt->annotation, {stmt->targets[0]->text});
      if (annotation.node<ir::PrimExprNode>() || annotation.get<DataType>())
        return parse_assign(stmt->targets[0], stmt->value);
      const Value value = parser_.eval(stmt->value, {stmt->targets[0]->text});
      return assign(stmt->targets[0], value, to_type(parser_, annotation, stmt->annotation->place),
                    stmt->place);
    }
    case StmtKind::kExpr: {
      if (stmt->value->kind == ExprKind::kString || stmt->value->kind == ExprKind::kEllipsis) return;
      if (Ref<Macro> macro = parser_.macro_of(stmt->value)) {
        call_graph_macro(parser_, macro, stmt->value);
        return;
      }
      const Value value = parser_.eval(stmt->value, {"_"});
      auto expr = value.ref<ir::RelaxExprNode>();
      if (expr && expr.get() != state_.fresh) emit(parser_, "_", expr, nullptr, stmt->place);
      return;
    }
    case StmtKind::kWith: return parse_dataflow(stmt);
    case StmtKind::kIf: return parse_if(stmt);
    case StmtKind::kFunction: return parse_nested(stmt);
    case StmtKind::kReturn: {
      if (!stmt->value) throw UserError(span, "a graph function returns a value");
      if (!state_.in_macro && (state_.out->in_dataflow || state_.in_branch))
        throw UserError(span, "return is allowed only at the end of the function, not inside a {}",
                        state_.in_branch ? "branch" : "dataflow block");
      ir::Expr value = to_graph(parser_, parser_.eval(stmt->value), stmt->value->place);
      const bool is_call = !relax::VarBaseNode::classof(*value);
      const bool is_named = value.as<relax::CallNode>() || value.as<relax::IfNode>() ||
                            value.as<relax::TupleGetItemNode>() || value.as<relax::FunctionNode>();
      state_.result =
          is_call && is_named ? ir::Expr(emit(parser_, "gv", value, nullptr, stmt->place)) : value;
      return;
    }
    case StmtKind::kAssert:
      throw UserError(span, "an assertion in a graph is written R.assert_op(condition, ...)");
    case StmtKind::kFor:
    case StmtKind::kWhile:
      throw UserError(span, "a graph has no loops")
          .help("use a recursive function, or a loop inside a T.prim_func");
    default: throw UserError(span, "this statement has no meaning in a graph");
  }
}

void RelaxParser::parse_assign(const Expr* target, const Expr* value) {
  const bool is_list = target->kind == ExprKind::kTuple || target->kind == ExprKind::kList;
  if (!is_list || (value->kind != ExprKind::kTuple && value->kind != ExprKind::kList)) {
    const bool is_name = target->kind == ExprKind::kName;
    return assign(target,
                  parser_.eval(value, is_name ? std::vector<std::string_view>{target->text}
                                              : std::vector<std::string_view>{}),
                  nullptr, target->place.to(value->place));
  }
  if (target->items.size() != value->items.size())
    throw UserError(parser_.span(value), "{} names are assigned {} values", target->items.size(),
                    value->items.size());
  std::vector<Value> values;  // all are evaluated before the first is assigned
  for (size_t n = 0; n < target->items.size(); ++n) {
    const Expr* item = target->items[n];
    values.push_back(parser_.eval(value->items[n], item->kind == ExprKind::kName
                                                       ? std::vector<std::string_view>{item->text}
                                                       : std::vector<std::string_view>{}));
  }
  for (size_t n = 0; n < target->items.size(); ++n)
    assign(target->items[n], values[n], nullptr, value->items[n]->place);
}

void RelaxParser::assign(const Expr* target, const Value& value, const ir::Type& annotation, Place place) {
  if (target->kind == ExprKind::kTuple || target->kind == ExprKind::kList) {
    if (auto tuple = value.ref<ir::RelaxExprNode>()) {  // a, b = R.split(x, 2): a = t[0], b = t[1]
      const ir::Expr leaf = to_leaf(parser_, tuple, place);
      const auto* fields = leaf.as<relax::TupleNode>();
      for (size_t n = 0; n < target->items.size(); ++n) {
        ir::Expr item = fields && n < fields->elements.size()
                            ? fields->elements[n]
                            : relax::TupleGetItemNode::make(leaf, static_cast<int64_t>(n), ir::Type(),
                                                            parser_.span(place));
        assign(target->items[n], item, nullptr, place);
      }
      return;
    }
    const Sequence& list = parser_.to_sequence(value, place, "what several names are assigned");
    if (list.items.size() != target->items.size())
      throw UserError(parser_.span(target), "{} names are assigned {} values", target->items.size(),
                      list.items.size());
    for (size_t n = 0; n < target->items.size(); ++n) assign(target->items[n], list.items[n], nullptr, place);
    return;
  }
  if (target->kind != ExprKind::kName)
    throw UserError(parser_.span(target), "only names can be assigned in a graph");
  auto expr = value.ref<ir::RelaxExprNode>();
  const auto* list = value.get<Sequence>();
  const bool has_graph_items =
      list && std::any_of(list->items.begin(), list->items.end(),
                          [](const Value& item) { return item.node<ir::RelaxExprNode>() != nullptr; });
  const bool is_registered = expr.as<relax::ExternFuncNode>() && !annotation;
  if (expr && expr.get() == state_.fresh) {  // x = R.match_cast(...) has emitted its binding already
    state_.fresh = nullptr;
    parser_.names.define(target->text, expr, target->place);
  } else if (is_registered) {  // f = R.ExternFunc("name"): only a name for that function
    parser_.names.define(target->text, expr, target->place);
  } else if (expr || has_graph_items || annotation) {
    if (const auto* global = expr.as<ir::GlobalVarNode>(); global && parser_.require) {
      parser_.require(global->name_hint);
      expr = parser_.global_vars.find(global->name_hint)->second;  // its type is known by now
    }
    ir::Expr bound = expr ? ir::Expr(expr) : to_graph(parser_, value, place);
    parser_.names.define(target->text, emit(parser_, target->text, bound, annotation, place), target->place);
  } else {
    parser_.names.define(target->text, value, target->place);  // n = T.int64(), a Python value
  }
}

namespace {

void count_targets(const Expr* target, std::map<std::string, int, std::less<>>* counts) {
  if (target->kind == ExprKind::kName) ++(*counts)[std::string(target->text)];
  for (const Expr* item : target->items) count_targets(item, counts);
}

}  // namespace

// with R.dataflow(): ... R.output(a, b)
void RelaxParser::parse_dataflow(const ast::Stmt* stmt) {
  const Expr* item = stmt->items[0].value;
  const bool is_dataflow = stmt->items.size() == 1 && item->kind == ExprKind::kCall &&
                           parser_.path_of(item->items[0]) == "relax.dataflow";
  if (!is_dataflow) throw UserError(parser_.span(item), "`with` in a graph takes R.dataflow()");
  if (state_.out->in_dataflow) throw UserError(parser_.span(item), "dataflow blocks cannot be nested");
  state_.out->close_block();
  std::map<std::string, int, std::less<>> assigned;
  const Expr* output = nullptr;
  for (const ast::Stmt* inner : stmt->body) {
    if (output)
      throw UserError(parser_.tree.span(inner), "nothing can follow R.output in a dataflow block")
          .note(parser_.span(output), "R.output is here");
    for (const Expr* target : inner->targets) count_targets(target, &assigned);
    const bool is_call = inner->kind == StmtKind::kExpr && inner->value->kind == ExprKind::kCall;
    if (is_call && parser_.path_of(inner->value->items[0]) == "relax.output") output = inner->value;
  }
  if (!output)
    throw UserError(parser_.span(item), "the dataflow block has no R.output")
        .help("end it with R.output(...), naming what is used after it");
  std::vector<const Expr*> names(output->items.begin() + 1, output->items.end());
  if (names.size() == 1 && (names[0]->kind == ExprKind::kTuple || names[0]->kind == ExprKind::kList))
    names = names[0]->items;
  state_.out->in_dataflow = true;
  state_.out->outputs.clear();
  for (const Expr* name : names) {
    if (name->kind != ExprKind::kName)
      throw UserError(parser_.span(name), "R.output takes names of the dataflow block");
    auto known = assigned.find(name->text);
    if (known == assigned.end())
      throw UserError(parser_.span(name), "{} is not assigned in the dataflow block", name->text);
    state_.out->outputs[known->first] = known->second;
  }
  std::vector<Binding> results;
  {
    FrameGuard frame(&parser_.names);
    for (const ast::Stmt* inner : stmt->body) {
      if (inner->value == output) break;
      parser_.at(inner->place, [&] { parse_statement(inner); });
    }
    for (const Expr* name : names) results.push_back(*parser_.names.lookup(name->text));
  }
  state_.out->close_block();
  state_.out->outputs.clear();
  for (size_t n = 0; n < names.size(); ++n)
    parser_.names.define(names[n]->text, results[n].value, results[n].place);
}

// The last line of a branch assigns the value of the branch to the variable of the whole `if`.
relax::SeqExpr RelaxParser::parse_branch(const ast::Body& body, std::string* name) {
  const ast::Stmt* last = body.back();
  const bool is_binding = (last->kind == StmtKind::kAssign || last->kind == StmtKind::kAnnAssign) &&
                          last->targets.size() == 1 && last->targets[0]->kind == ExprKind::kName;
  const bool is_function_end = last->kind == StmtKind::kIf;
  if (!is_binding && !is_function_end)
    throw UserError(parser_.tree.span(last), "a branch of a graph ends with the assignment of its value");
  FrameGuard frame(&parser_.names);
  BindingList list;
  BindingList* outer = std::exchange(state_.out, &list);
  const bool was_in_branch = std::exchange(state_.in_branch, true);
  parse_body(body);
  state_.out = outer;
  state_.in_branch = was_in_branch;
  if (list.bindings.empty())
    throw UserError(parser_.tree.span(last), "a branch of a graph ends with the assignment of its value");
  relax::Binding binding = list.bindings.back();
  *name = binding->var->name_hint;
  // a final `y = x` only names the result
  const bool is_plain = relax::VarBaseNode::classof(*binding->value) ||
                        is<relax::ConstantNode>(binding->value) || is<relax::TupleNode>(binding->value);
  ir::Expr result = binding->var;
  if (is_plain && is<relax::VarBindingNode>(binding)) {
    result = binding->value;
    list.bindings.pop_back();
  }
  list.close_block();
  return relax::SeqExprNode::make(std::move(list.blocks), result, binding->var->type,
                                  parser_.tree.span(last));
}

void RelaxParser::parse_if(const ast::Stmt* stmt) {
  const Value test = parser_.eval(stmt->value);
  if (test.is_number())
    return parse_body(parser_.to_flag(test, stmt->value->place, "the condition") ? stmt->body : stmt->orelse);
  if (state_.out->in_dataflow) throw UserError(parser_.tree.span(stmt), "a dataflow block has no branches");
  if (stmt->orelse.empty())
    throw UserError(parser_.tree.span(stmt), "an if in a graph needs an else")
        .help("both branches end with an assignment to the same name");
  ir::Expr condition = to_leaf(parser_, to_graph(parser_, test, stmt->value->place), stmt->value->place);
  std::string then_name, else_name;
  relax::SeqExpr then_branch = parse_branch(stmt->body, &then_name);
  relax::SeqExpr else_branch = parse_branch(stmt->orelse, &else_name);
  if (then_name != else_name)
    throw UserError(parser_.tree.span(stmt), "the branches end with different names, {} and {}", then_name,
                    else_name)
        .help("both end with an assignment to the same name, which is the value of the if");
  relax::If node = relax::IfNode::make(condition, ir::Expr(then_branch), ir::Expr(else_branch), ir::Type(),
                                       parser_.tree.span(stmt));
  ir::Type type = relax::infer_type(node, parser_.parsed.get());
  node = with(node, [&](relax::IfNode& n) { n.type = type; });
  relax::AnyVar var = emit(parser_, then_name, node, nullptr, stmt->place);
  parser_.names.define(var->name_hint, var, stmt->place);
}

// @R.function def inner(...): a value of the graph; it may call itself if its result type is annotated
void RelaxParser::parse_nested(const ast::Stmt* stmt) {
  RelaxState inner;
  inner.outer = &state_;
  parser_.graph = &inner;
  relax::Function func = RelaxParser(&parser_, &inner).parse_function(stmt, true);
  parser_.graph = &state_;
  bool calls_itself = false;
  ir::walk(func->body, [&](const relax::VarNode* var) { calls_itself |= var == inner.self.get(); });
  relax::AnyVar var(inner.self);
  if (calls_itself)
    state_.out->bindings.push_back(
        relax::VarBindingNode::make(var, ir::Expr(func), parser_.span(stmt->place)));
  else
    var = emit(parser_, stmt->name, func, nullptr, stmt->place);
  parser_.names.define(stmt->name, var, stmt->name_place);
}

Value call_graph_macro(Parser& parser, const Ref<Macro>& macro, const Expr* call) {
  RelaxState& state = *parser.graph;
  const ir::Expr outer = std::exchange(state.result, nullptr);
  const bool was_in_macro = std::exchange(state.in_macro, true);
  expand_macro(parser, macro, call, &state.macros,
               [&](Parser& inner, const ast::Body& body) { RelaxParser(&inner, &state).parse_body(body); });
  state.in_macro = was_in_macro;
  const ir::Expr result = std::exchange(state.result, outer);
  return result ? Value(ref_as<ir::RelaxExprNode>(result)) : Value();
}

// R.func_attr, R.is_impure; and errors for calls that are allowed only elsewhere
std::optional<Value> call_graph_statement(Parser& parser, std::string_view name, Args& args) {
  if (name == "func_attr") {
    const Arg& attrs = args.need(0, "attrs");
    args.done();
    for (const auto& [key, value] : parser.to_attrs(attrs.value, attrs.place))
      parser.graph->attrs.set(key, value);
    return Value();
  }
  if (name == "is_impure") {
    args.done();
    parser.graph->is_pure = false;
    return Value();
  }
  if (name == "output") throw UserError(args.span, "R.output is allowed only at the end of a dataflow block");
  if (name == "dataflow") throw UserError(args.span, "R.dataflow is written as `with R.dataflow():`");
  return std::nullopt;
}

}  // namespace tilewright::script
