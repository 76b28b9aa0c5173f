// @R.function: parameters, bindings, the result.
#include "tilewright/ir/walk.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/script/parser/relax_parser.h"

namespace tilewright::script {

void BindingList::close_block() {
  if (in_dataflow)
    blocks.push_back(relax::DataflowBlockNode::make(std::move(bindings)));
  else if (!bindings.empty())
    blocks.push_back(relax::PlainBlockNode::make(std::move(bindings)));
  bindings.clear();
  in_dataflow = false;
}

namespace {

bool is_leaf(const ir::Expr& expr) {
  switch (expr->kind) {
    case ir::Kind::kRelaxVar:
    case ir::Kind::kDataflowVar:
    case ir::Kind::kConstant:
    case ir::Kind::kRelaxTuple:
    case ir::Kind::kShapeExpr:
    case ir::Kind::kPrimValue:
    case ir::Kind::kStringValue:
    case ir::Kind::kDataTypeValue:
    case ir::Kind::kGlobalVar:
    case ir::Kind::kExternFunc: return true;
    default: return false;
  }
}

// A new variable; a DataflowVar in a dataflow block, unless `name` is one of the outputs and this is its last
// assignment.
relax::AnyVar new_var(Parser& parser, std::string_view name, const ir::Type& type, Place place) {
  BindingList& out = *parser.graph->out;
  bool is_local = out.in_dataflow;
  if (auto output = out.outputs.find(name); output != out.outputs.end() && --output->second == 0)
    is_local = false;
  if (is_local) return relax::DataflowVarNode::make(std::string(name), type, parser.span(place));
  return relax::VarNode::make(std::string(name), type, parser.span(place));
}

}  // namespace

ir::Type infer(Parser& parser, const ir::Expr& expr, const Span& span) {
  ir::Type type = relax::type_of(expr);
  return type ? type : relax::infer_type(expr, parser.parsed.get());
}

relax::AnyVar emit(Parser& parser, std::string_view name, const ir::Expr& value, const ir::Type& annotation,
                   Place place) {
  ir::Type type = infer(parser, value, parser.span(place));
  if (annotation) {
    if (relax::is_subtype(type, annotation) == relax::Answer::kNo)
      throw UserError(parser.span(place), "{} is annotated as {}, but its value is {}", name,
                      relax::type_text(annotation), relax::type_text(type));
    type = annotation;
  }
  relax::AnyVar var = new_var(parser, name, type, place);
  parser.graph->out->bindings.push_back(relax::VarBindingNode::make(var, value, parser.span(place)));
  return var;
}

relax::AnyVar emit_match_cast(Parser& parser, std::string_view name, const ir::Expr& value,
                              const ir::Type& pattern, Place place) {
  const ir::Type found = relax::type_of(value);
  if (found && relax::is_subtype(found, pattern) == relax::Answer::kNo)
    throw UserError(parser.span(place), "R.match_cast: {} can never be {}", relax::type_text(found),
                    relax::type_text(pattern));
  std::vector<const tir::VarNode*> dims;
  relax::collect_defined_dims(pattern, &dims);
  parser.graph->known_dims.insert(dims.begin(), dims.end());
  relax::AnyVar var = new_var(parser, name, pattern, place);
  parser.graph->out->bindings.push_back(relax::MatchCastNode::make(value, pattern, var, parser.span(place)));
  parser.graph->fresh = var.get();
  return var;
}

ir::Expr to_leaf(Parser& parser, const ir::Expr& value, Place place) {
  if (is_leaf(value)) return value;
  return emit(parser, "lv", value, nullptr, place);
}

void RelaxParser::parse_decorators(const ast::Stmt* function, bool is_nested) {
  bool is_private = is_nested;
  for (const ast::Expr* decorator : function->decorators) {
    if (decorator->kind != ast::ExprKind::kCall) continue;
    Args args = parser_.eval_args(decorator, {});
    if (const Arg* arg = args.keyword("private"))
      is_private = parser_.to_flag(arg->value, arg->place, "private");
    if (const Arg* arg = args.keyword("pure"))
      state_.is_pure = parser_.to_flag(arg->value, arg->place, "pure");
    if (const Arg* arg = args.keyword("check_well_formed"))
      state_.check_well_formed = parser_.to_flag(arg->value, arg->place, "check_well_formed");
    args.done();
  }
  if (!is_private) state_.attrs.set("global_symbol", string_imm(std::string(function->name)));
}

std::vector<relax::Var> RelaxParser::parse_params(const ast::Stmt* function) {
  std::vector<relax::Var> params;
  for (const ast::Param& param : function->params) {
    if (parser_.names.lookup_here(param.name))
      throw UserError(parser_.span(param.place), "two parameters are called {}", param.name);
    if (!param.annotation)
      throw UserError(parser_.span(param.place), "parameter {} has no type", param.name)
          .help("as in {}: R.Tensor((1, 784), \"float32\")", param.name);
    if (param.default_value)
      throw UserError(parser_.span(param.default_value),
                      "a parameter of a graph function has no default value");
    ir::Type type = to_type(parser_, parser_.eval(param.annotation), param.annotation->place);
    std::vector<const tir::VarNode*> dims;
    relax::collect_defined_dims(type, &dims);
    state_.known_dims.insert(dims.begin(), dims.end());
    params.push_back(relax::VarNode::make(std::string(param.name), type, parser_.span(param.place)));
    parser_.names.define(param.name, params.back(), param.place);
  }
  return params;
}

// Raises UserError for a dimension in the text that neither a parameter nor R.match_cast defines.
void RelaxParser::check_dims(const relax::Function& func) {
  std::unordered_map<const tir::VarNode*, Place> unknown;
  for (const auto& [var, place] : state_.used_dims) {
    if (!state_.known_dims.contains(var.get())) unknown.emplace(var.get(), place);
  }
  if (unknown.empty()) return;
  auto check = [&](const tir::VarNode* var) {
    auto found = unknown.find(var);
    if (found == unknown.end()) return;
    throw UserError(parser_.span(found->second),
                    "dimension {} is used, but no parameter or R.match_cast defines it", var->name_hint)
        .help("it must stand alone as an extent there, as in R.Tensor((\"{}\",), \"float32\")",
              var->name_hint);
  };
  for (const relax::Var& param : func->params) ir::walk(param->type, check);
  ir::walk(func->ret_type, check);
  ir::walk(
      func->body, [&](const relax::VarBindingNode* binding) { ir::walk(binding->var->type, check); }, check);
}

relax::Function RelaxParser::parse_function(const ast::Stmt* function, bool is_nested) {
  state_.name = function->name;
  FrameGuard frame(&parser_.names);
  parse_decorators(function, is_nested);
  std::vector<relax::Var> params = parse_params(function);
  ir::Type result_type;
  if (function->annotation)
    result_type = to_type(parser_, parser_.eval(function->annotation), function->annotation->place);
  if (result_type) {  // calls made before the function is complete use this type
    std::vector<ir::Type> types;
    for (const relax::Var& param : params) types.push_back(param->type);
    const ir::Type type(relax::CallableTypeNode::make(types, result_type, state_.is_pure, false));
    auto global = parser_.global_vars.find(function->name);
    if (is_nested) {
      state_.self =
          relax::VarNode::make(std::string(function->name), type, parser_.span(function->name_place));
      parser_.names.define(function->name, state_.self, function->name_place);
    } else if (global != parser_.global_vars.end()) {
      global->second = ir::GlobalVarNode::make(std::string(function->name), type);
    }
  }
  BindingList list;
  state_.out = &list;
  parse_body(function->body);
  list.close_block();
  if (!state_.result)
    throw UserError(parser_.tree.span(function), "function {} returns nothing", function->name)
        .help("end it with `return ...`");
  const Span span = parser_.tree.span(function);
  ir::Type found = infer(parser_, state_.result, span);
  if (result_type && relax::is_subtype(found, result_type) == relax::Answer::kNo)
    throw UserError(parser_.span(function->annotation),
                    "function {} is annotated to return {}, but it returns {}", function->name,
                    relax::type_text(result_type), relax::type_text(found));
  if (!result_type) {
    std::vector<const tir::VarNode*> dims;
    for (const relax::Var& param : params) relax::collect_defined_dims(param->type, &dims);
    result_type = is_nested ? found : relax::erase_unknown_dims(found, dims);
  }
  relax::SeqExpr body =
      relax::SeqExprNode::make(std::move(list.blocks), state_.result, found, state_.result->span);
  relax::Function func = relax::FunctionNode::make(std::move(params), ir::Expr(body), result_type,
                                                   state_.is_pure, state_.attrs, ir::Type(), span);
  check_dims(func);
  return with(func, [&](relax::FunctionNode& n) { n.type = relax::function_type(func.get()); });
}

}  // namespace tilewright::script
