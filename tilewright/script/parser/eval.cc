// Evaluates expressions to values: names, attributes, calls, literals.  Names that the program does not
// define are passed to the resolver.
#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/script/parser/relax_state.h"
#include "tilewright/support/near.h"
#include "tilewright/tir/op.h"

namespace tilewright::script {
using ast::Expr;
using ast::ExprKind;

Parser::Parser(const ast::Tree* tree, const ParseOptions* options) : tree(*tree), options(*options) {
  for (const auto& [name, path] : options->aliases) aliases.add(name, path);
  names.push();
}

std::string Parser::path_of(const Expr* expr) const {
  const std::string dotted = ast::dotted_name(expr);
  if (dotted.empty() || names.lookup(std::string_view(dotted).substr(0, dotted.find('.')))) return {};
  return aliases.resolve(dotted);
}

namespace {
const Expr* root_of(const Expr* expr) {
  while (expr->kind == ExprKind::kAttribute || expr->kind == ExprKind::kCall ||
         expr->kind == ExprKind::kSubscript)
    expr = expr->items[0];
  return expr;
}
}  // namespace

// True if the program does not define the first name of a chain x.y(z)[w]; then Python
// evaluates the whole chain.
bool Parser::is_unknown(const Expr* expr) const {
  if (expr->kind == ExprKind::kOpaque) return true;
  const Expr* root = root_of(expr);
  if (root->kind == ExprKind::kOpaque) return true;
  if (root->kind != ExprKind::kName || names.lookup(root->text)) return false;
  if (root->text == module_name || root->text == "cls") return false;
  if (global_vars.contains(root->text)) return false;
  // the longest dotted prefix decides: tvm.tir.exp is a script function, tvm.target.Target is not
  const Expr* prefix = expr;
  while (prefix->kind == ExprKind::kCall || prefix->kind == ExprKind::kSubscript) prefix = prefix->items[0];
  if (!aliases.resolve(ast::dotted_name(prefix)).empty() || !aliases.resolve(root->text).empty())
    return false;
  return root == expr || !is_python_builtin(root->text);
}

Ref<Macro> Parser::macro_of(const Expr* call) const {
  if (call->kind != ExprKind::kCall) return nullptr;
  const Expr* callee = call->items[0];
  if (callee->kind == ExprKind::kName) {
    if (const Value* value = names.find(callee->text)) {
      const auto* macro = value->get<Ref<Macro>>();
      return macro ? *macro : nullptr;
    }
  }
  if (!options.find_macro || ast::dotted_name(callee).empty() || !is_unknown(call)) return nullptr;
  return options.find_macro(text(callee));
}

Value Parser::resolve(const Expr* expr) {
  if (options.resolver) {
    auto value = at(expr->place, [&] { return options.resolver(text(expr), span(expr), names); });
    if (value) return *value;
  }
  if (expr->kind == ExprKind::kOpaque)
    throw Unsupported(span(expr), "this expression needs Python to evaluate it, which is not available here");
  const Expr* root = root_of(expr);
  if (root->kind == ExprKind::kName && (root->text == "metadata" || root->text == "meta"))
    throw UserError(span(expr), "the text refers to a metadata value that it does not contain")
        .help("print the program with show_meta=True");
  unknown_name(root->kind == ExprKind::kName ? root->text : text(root), root->place);
}

void Parser::unknown_name(std::string_view name, Place place) {
  std::vector<std::string_view> known;
  for (std::string_view other : names.names()) known.push_back(other);
  for (const auto& [global, var] : global_vars) known.push_back(global);
  std::sort(known.begin(), known.end());
  throw UserError(span(place), "name {} is not defined", name).help("{}", nearest_names_text(name, known));
}

Value Parser::eval(const Expr* expr, std::vector<std::string_view> hints) {
  switch (expr->kind) {
    case ExprKind::kInt: return expr->integer;
    case ExprKind::kFloat: return expr->real;
    case ExprKind::kString: return expr->string;
    case ExprKind::kTrue: return true;
    case ExprKind::kFalse: return false;
    case ExprKind::kNone: return {};
    case ExprKind::kEllipsis: return EllipsisValue{};
    case ExprKind::kTuple:
    case ExprKind::kList: {
      Sequence items = eval_items(expr->items, 0);
      items.is_tuple = expr->kind == ExprKind::kTuple;
      return items;
    }
    case ExprKind::kDict: return eval_dict(expr);
    case ExprKind::kLambda: return LambdaValue{expr};
    case ExprKind::kUnary: return unary(expr->text, eval(expr->items[0]), expr->place);
    case ExprKind::kBinary: {
      Value left = eval(expr->items[0]);
      return binary_op(expr->text, left, eval(expr->items[1]), expr->place);
    }
    case ExprKind::kCompare: return eval_compare(expr);
    case ExprKind::kBoolOp: {
      Value result = eval(expr->items[0]);
      for (size_t n = 1; n < expr->items.size(); ++n) {
        // as in Python, operands after the deciding one are not evaluated: `N > 0 and A[0] == N`
        const bool* decided = result.get<bool>();
        if (decided && *decided == (expr->text == "or")) break;
        result = logical(expr->text == "and", result, eval(expr->items[n]), expr->place);
      }
      return result;
    }
    case ExprKind::kIfElse: return eval_if_else(expr);
    case ExprKind::kStarred:
    case ExprKind::kSlice:
      throw UserError(span(expr), "this is allowed only in a list of arguments or indices");
    default: break;
  }
  if (Ref<Macro> macro = graph ? macro_of(expr) : nullptr) return call_graph_macro(*this, macro, expr);
  if (is_unknown(expr)) return resolve(expr);
  if (expr->kind == ExprKind::kName) return eval_name(expr);
  if (expr->kind == ExprKind::kAttribute) return eval_attribute(expr);
  if (expr->kind == ExprKind::kCall) return eval_call(expr, std::move(hints));
  const std::string path = path_of(expr->items[0]);
  if (!path.empty()) {  // T.Buffer[(128, 128), "float32"]: brackets instead of a call
    Args args;
    args.function = text(expr->items[0]);
    args.place = expr->place;
    args.span = span(expr);
    args.text = &tree.text;
    args.hints = std::move(hints);
    for (size_t n = 1; n < expr->items.size(); ++n)
      args.positional.push_back({{}, expr->items[n]->place, eval(expr->items[n])});
    return at(expr->place, [&] { return call_path(path, args); });
  }
  return subscript(eval(expr->items[0]), expr);
}

PrimExpr Parser::eval_prim(const Expr* expr) { return to_prim(eval(expr), expr->place); }

Value Parser::eval_name(const Expr* expr) {
  if (const Value* value = names.find(expr->text)) return *value;
  if (auto global = global_vars.find(expr->text); global != global_vars.end()) return global->second;
  if (expr->text == module_name || expr->text == "cls") return ModuleReference{};
  const std::string path = path_of(expr);
  if (!path.empty()) return value_of_path(path, expr);
  return resolve(expr);
}

// A name in a script module that is not called: T.float32 is a dtype, R.Object a type.
Value Parser::value_of_path(std::string_view path, const Expr* expr) {
  DataType dtype;
  if (path.starts_with("tir.") && DataType::try_parse(path.substr(4), &dtype)) return dtype;
  if (path.starts_with("relax.")) {
    if (auto type = graph_type_of_name(*this, path.substr(6))) return *type;
  }
  const bool is_module = path.find('.') == std::string_view::npos;
  throw UserError(span(expr), "{} is a {}, not a value", text(expr), is_module ? "module" : "function");
}

Value Parser::eval_attribute(const Expr* expr) {
  const std::string path = path_of(expr);
  if (!path.empty()) return value_of_path(path, expr);
  const Value base = eval(expr->items[0]);
  if (base.get<ModuleReference>()) {
    if (auto global = global_vars.find(expr->text); global != global_vars.end()) return global->second;
    std::vector<std::string_view> known;
    for (const auto& [name, var] : global_vars) known.push_back(name);
    throw UserError(span(expr), "the module has no function {}", expr->text)
        .help("{}", nearest_names_text(expr->text, known));
  }
  return at(expr->place, [&] { return attribute_of(*this, base, expr->text, expr->place); });
}

Args Parser::eval_args(const Expr* call, std::vector<std::string_view> hints) {
  Args args;
  args.function = text(call->items[0]);
  args.place = call->place;
  args.span = span(call);
  args.text = &tree.text;
  args.hints = std::move(hints);
  for (size_t n = 1; n < call->items.size(); ++n) {
    const Expr* item = call->items[n];
    if (item->kind != ExprKind::kStarred) {
      args.positional.push_back({{}, item->place, eval(item)});
      continue;
    }
    const Value list = eval(item->items[0]);
    for (const Value& value : to_sequence(list, item->place, "what follows *").items)
      args.positional.push_back({{}, item->place, value});
  }
  for (const ast::Keyword& keyword : call->keywords) {
    if (!keyword.name.empty()) {
      args.keywords.push_back({keyword.name, keyword.value->place, eval(keyword.value)});
      continue;
    }
    throw Unsupported(span(keyword.value), "{}: arguments cannot be given by **", args.function)
        .help("write them out");
  }
  return args;
}

Value Parser::eval_call(const Expr* expr, std::vector<std::string_view> hints) {
  const Expr* callee = expr->items[0];
  const std::string path = path_of(callee);
  if (!path.empty()) {
    Args args = eval_args(expr, std::move(hints));
    return at(expr->place, [&] { return call_path(path, args); });
  }
  if (callee->kind == ExprKind::kName && !names.lookup(callee->text) && is_python_builtin(callee->text)) {
    Args args = eval_args(expr, {});
    return at(expr->place, [&] { return call_python_builtin(*this, callee->text, args); });
  }
  if (callee->kind == ExprKind::kAttribute) {
    const Value base = eval(callee->items[0]);
    if (!base.get<ModuleReference>()) {
      Args args = eval_args(expr, std::move(hints));
      return at(expr->place, [&] { return call_method(*this, base, callee->text, args); });
    }
  }
  const Value function = eval(callee);
  Args args = eval_args(expr, std::move(hints));
  return at(expr->place, [&] { return call_value(function, args); });
}

Value Parser::call_path(std::string_view path, Args& args) {
  if (path.starts_with("tir.")) return call_tir_function(*this, path.substr(4), args);
  if (path.starts_with("relax.")) return call_graph_function(*this, path.substr(6), args);
  if (path.starts_with("ir.")) return call_module_function(*this, path.substr(3), args);
  throw UserError(args.span, "{} is a module, not a function", args.function);
}

namespace {

// The result dtype of function `name` if it is known already, from its declaration or from T.ret; else void.
DataType returned_dtype(const Parser& parser, const std::string& name) {
  const auto result = parser.results.find(name);
  if (result != parser.results.end()) return result->second;
  const ir::BaseFunc found = parser.parsed ? parser.parsed->find(name) : ir::BaseFunc();
  const auto* func = found.as<tir::PrimFuncNode>();
  if (!func) return DataType::void_();
  DataType dtype = DataType::void_();
  if (const auto* declared = func->ret_type.as<ir::PrimTypeNode>()) dtype = declared->dtype;
  if (!dtype.is_void()) return dtype;
  ir::walk(func->body, [&](const tir::CallNode* call) {
    if (tir::is_call_of(call, "tir.ret")) dtype = call->dtype;
  });
  return dtype;
}

}  // namespace

// A call f(x) of a function of the module, or of a graph variable.
Value Parser::call_value(const Value& function, Args& args) {
  if (graph && (function.node<ir::GlobalVarNode>() || function.node<relax::VarBaseNode>() ||
                function.node<relax::ExternFuncNode>()))
    return call_graph_value(*this, function, args);
  if (auto global = function.ref<ir::GlobalVarNode>()) {
    std::vector<PrimExpr> operands;
    for (const Arg* arg : args.rest(0)) operands.push_back(to_prim(arg->value, arg->place));
    const Arg* dtype = args.keyword("dtype");
    args.done();
    return tir::CallNode::make(
        dtype ? to_data_type(dtype->value, dtype->place) : returned_dtype(*this, global->name_hint),
        ir::Expr(global), std::move(operands), AttrMap(), args.span);
  }
  throw UserError(args.span, "{} cannot be called", describe(function));
}

Value Parser::eval_compare(const Expr* expr) {
  Value result = true;
  Value left = eval(expr->items[0]);
  for (size_t n = 0; n < expr->names.size(); ++n) {
    Value right = eval(expr->items[n + 1]);
    Value pair = compare(expr->names[n], left, right, expr->place);
    result = n == 0 ? pair : logical(true, result, pair, expr->place);
    left = std::move(right);
  }
  return result;
}

// A condition known to the parser selects one side, and only that is evaluated; else T.if_then_else.
Value Parser::eval_if_else(const Expr* expr) {
  const Value test = eval(expr->items[1]);
  if (test.is_number())
    return eval(expr->items[to_flag(test, expr->items[1]->place, "the condition") ? 0 : 2]);
  PrimExpr condition = to_bool(test, expr->items[1]->place);
  auto [a, b] = unify(eval(expr->items[0]), eval(expr->items[2]), expr->place);
  const DataType dtype = a->dtype;
  return tir::CallNode::make(dtype, ir::Expr(find_op("if_then_else")), std::vector<PrimExpr>{condition, a, b},
                             AttrMap(), span(expr));
}

Value Parser::eval_dict(const Expr* expr) {
  Mapping result;
  for (size_t n = 0; n < expr->items.size(); n += 2) {
    if (!expr->items[n])
      throw Unsupported(span(expr->items[n + 1]), "a dictionary cannot be spread by ** here")
          .help("write its entries out");
    Value key = eval(expr->items[n]);
    result.items.emplace_back(std::move(key), eval(expr->items[n + 1]));
  }
  return result;
}

Sequence Parser::eval_items(const std::vector<const Expr*>& items, size_t first) {
  Sequence result;
  for (size_t n = first; n < items.size(); ++n) {
    if (items[n]->kind != ExprKind::kStarred) {
      result.items.push_back(eval(items[n]));
      continue;
    }
    const Value list = eval(items[n]->items[0]);
    for (const Value& value : to_sequence(list, items[n]->place, "what follows *").items)
      result.items.push_back(value);
  }
  return result;
}

}  // namespace tilewright::script
