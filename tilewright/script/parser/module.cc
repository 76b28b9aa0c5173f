// The entry: a file's definitions, and classes of @I.ir_module.
#include "tilewright/ir/services.h"
#include "tilewright/relax/infer/purity.h"
#include "tilewright/script/parser/relax_parser.h"
#include "tilewright/script/parser/tir_parser.h"
#include "tilewright/support/near.h"

namespace tilewright::script {
namespace {

enum class Definition { kNone, kModule, kPrimFunc, kGraph, kMacro };

Definition definition_of(const Parser& parser, const ast::Stmt* stmt) {
  for (const ast::Expr* decorator : stmt->decorators) {
    const std::string name =
        ast::dotted_name(decorator->kind == ast::ExprKind::kCall ? decorator->items[0] : decorator);
    const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
    if (last == "ir_module" || last == "rewriter") return Definition::kModule;
    if (last == "prim_func") return Definition::kPrimFunc;
    if (last == "function") return Definition::kGraph;
    if (last == "macro" || last == "inline") return Definition::kMacro;
  }
  return Definition::kNone;
}

PrimFunc parse_prim_func(Parser& parser, const ast::Stmt* stmt) {
  TirState state;
  parser.tir = &state;
  PrimFunc func = TirParser(&parser, &state).parse_function(stmt);
  parser.tir = nullptr;
  return func;
}

// Parses a graph function; the parse of another one may be interrupted for it, when that calls this function.
relax::Function parse_graph(Parser& parser, const ast::Stmt* stmt) {
  RelaxState state;
  RelaxState* outer = std::exchange(parser.graph, &state);
  Names outer_names = std::exchange(parser.names, parser.names.outermost());
  relax::Function func = RelaxParser(&parser, &state).parse_function(stmt);
  if (state.check_well_formed) parser.to_check.emplace_back(stmt->name, func);
  parser.names = std::move(outer_names);
  parser.graph = outer;
  return func;
}

[[noreturn]] void refuse_member(const Parser& parser, const ast::Stmt* stmt) {
  throw UserError(parser.tree.span(stmt),
                  "a module holds functions, names of registered ones, I.module_attrs(...) and "
                  "I.module_global_infos(...), not this");
}

// I.module_attrs({...}) and I.module_global_infos({...}) in the body of a class
void parse_module_statement(Parser& parser, const ast::Stmt* stmt, AttrMap* attrs, AttrMap* infos) {
  if (stmt->kind == ast::StmtKind::kPass) return;
  const ast::Expr* expr = stmt->value;
  if (stmt->kind == ast::StmtKind::kExpr &&
      (expr->kind == ast::ExprKind::kString || expr->kind == ast::ExprKind::kEllipsis))
    return;
  const std::string path = stmt->kind == ast::StmtKind::kExpr && expr->kind == ast::ExprKind::kCall
                               ? parser.path_of(expr->items[0])
                               : "";
  if (path != "ir.module_attrs" && path != "ir.module_global_infos") refuse_member(parser, stmt);
  Args args = parser.eval_args(expr, {});
  const Arg& map = args.need(0, path == "ir.module_attrs" ? "attrs" : "global_infos");
  args.done();
  for (const auto& [key, value] : parser.to_attrs(map.value, map.place))
    (path == "ir.module_attrs" ? attrs : infos)->set(key, value);
}

// @T.macro, @T.macro(hygienic=False)
void define_macro(Parser& parser, const ast::Stmt* stmt, const ParseOptions& options) {
  auto* macro = new Macro;
  Value value{Ref<Macro>(macro)};
  macro->source = parser.tree.text.source();
  macro->name = std::string(stmt->name);
  macro->aliases = options.aliases;
  for (const ast::Expr* decorator : stmt->decorators) {
    if (decorator->kind != ast::ExprKind::kCall) continue;
    Args args = parser.eval_args(decorator, {});
    if (const Arg* arg = args.keyword("hygienic"))
      macro->is_hygienic = parser.to_flag(arg->value, arg->place, "hygienic");
    args.done();
  }
  parser.names.define(stmt->name, std::move(value), stmt->name_place);
}

// The name that a statement defines in the module: of a function, or of a registered one
// (ext = R.ExternFunc("f")).
std::string_view defined_name(const ast::Stmt* stmt) {
  if (stmt->kind == ast::StmtKind::kFunction) return stmt->name;
  const bool is_assignment = stmt->kind == ast::StmtKind::kAssign && stmt->targets.size() == 1 &&
                             stmt->targets[0]->kind == ast::ExprKind::kName;
  return is_assignment ? stmt->targets[0]->text : std::string_view();
}

void declare_functions(Parser& parser, const ast::Stmt* module) {
  for (const ast::Stmt* stmt : module->body) {
    if (defined_name(stmt).empty()) continue;
    const bool is_function = stmt->kind == ast::StmtKind::kFunction;
    const Definition kind = definition_of(parser, stmt);
    if (is_function && kind != Definition::kPrimFunc && kind != Definition::kGraph)
      throw UserError(parser.span(stmt->name_place), "function {} has no decorator", stmt->name)
          .help("write @T.prim_func or @R.function above it");
    const std::string name(defined_name(stmt));
    if (parser.global_vars.contains(name))
      throw UserError(is_function ? parser.span(stmt->name_place) : parser.tree.span(stmt),
                      "the module has two functions called {}", name);
    parser.global_vars.emplace(name, ir::GlobalVarNode::make(name));
  }
}

// ext = R.ExternFunc("f"), which becomes a function of the module
void parse_extern_func(Parser& parser, const ast::Stmt* stmt) {
  const bool is_registered = stmt->value->kind == ast::ExprKind::kCall &&
                             parser.path_of(stmt->value->items[0]) == "relax.ExternFunc";
  if (!is_registered) refuse_member(parser, stmt);
  RelaxState state;
  RelaxState* outer = std::exchange(parser.graph, &state);
  const Value value = parser.eval(stmt->value);
  parser.graph = outer;
  parser.parsed = ir::with_function(parser.parsed, defined_name(stmt), value.ref<relax::ExternFuncNode>());
}

// Parses each graph function once; a function that is called by an earlier one is parsed at the call, for the
// type of its result.
void parse_graphs(Parser& parser, const ast::Stmt* module) {
  std::map<std::string_view, const ast::Stmt*> waiting;
  for (const ast::Stmt* stmt : module->body) {
    if (definition_of(parser, stmt) == Definition::kGraph) waiting.emplace(stmt->name, stmt);
  }
  parser.require = [&](std::string_view name) {
    auto found = waiting.find(name);
    if (found == waiting.end()) return;
    const ast::Stmt* stmt = found->second;
    waiting.erase(found);
    relax::Function func = parse_graph(parser, stmt);
    parser.parsed = ir::with_function(parser.parsed, stmt->name, func);
  };
  for (const ast::Stmt* stmt : module->body) parser.require(stmt->name);
  parser.require = nullptr;
}

// Runs when all functions are known: the purity of a function may be declared below its caller.
void check_purity(Parser& parser, const ir::IRModuleNode* module) {
  for (const auto& [name, func] : std::exchange(parser.to_check, {})) {
    if (parser.options.check_well_formed) relax::require_purity(func, name, module);
  }
}

ir::IRModule parse_module(Parser& parser, const ast::Stmt* module) {
  parser.module_name = module->name;
  parser.global_vars.clear();
  parser.results.clear();
  declare_functions(parser, module);
  parser.parsed = ir::IRModuleNode::make();
  AttrMap attrs, infos;
  for (const ast::Stmt* stmt : module->body) {
    if (stmt->kind == ast::StmtKind::kFunction) continue;
    parser.at(stmt->place, [&] {
      if (defined_name(stmt).empty())
        parse_module_statement(parser, stmt, &attrs, &infos);
      else
        parse_extern_func(parser, stmt);
    });
  }
  // functions with a declared result first, because others may use it
  const auto has_result = [](const ast::Stmt* stmt) {
    return stmt->annotation && stmt->annotation->kind != ast::ExprKind::kNone;
  };
  for (const ast::Stmt* stmt : module->body) {
    if (definition_of(parser, stmt) != Definition::kPrimFunc || !has_result(stmt)) continue;
    const ir::Type result = result_type(parser, stmt->annotation);
    if (const auto* declared = result.as<ir::PrimTypeNode>())
      parser.results.emplace(stmt->name, declared->dtype);
  }
  for (const bool is_first : {true, false}) {
    for (const ast::Stmt* stmt : module->body) {
      if (definition_of(parser, stmt) == Definition::kPrimFunc && has_result(stmt) == is_first)
        parser.parsed = ir::with_function(parser.parsed, stmt->name, parse_prim_func(parser, stmt));
    }
  }
  parse_graphs(parser, module);
  check_purity(parser, parser.parsed.get());
  // collected in the order of the text
  std::vector<GlobalVar> names;
  std::vector<ir::BaseFunc> functions;
  for (const ast::Stmt* stmt : module->body) {
    const std::string_view name = defined_name(stmt);
    if (name.empty()) continue;
    names.push_back(parser.parsed->find_global_var(name));
    functions.push_back(parser.parsed->find(name));
  }
  return ir::IRModuleNode::make(std::move(names), std::move(functions), std::move(attrs), std::move(infos));
}

}  // namespace

// I.vdevice(target, id, memory_scope), I.dummy_global_info(), I.GlobalVar("f")
Value call_module_function(Parser& parser, std::string_view name, Args& args) {
  AttrMap info;
  if (name == "dummy_global_info") {
    args.done();
    return ir::DictNode::make(std::move(info));
  }
  if (name == "vdevice") {
    const Arg* target = args.find(0, "target");
    const Arg* id = args.find(1, "vdevice_id");
    const Arg* scope = args.find(2, "memory_scope");
    args.done();
    if (target) info.set("target", parser.to_object(target->value, target->place));
    info.set("vdevice_id", imm(id ? parser.to_int(id->value, id->place, "vdevice_id") : 0, kInt64));
    info.set("memory_scope",
             string_imm(scope ? parser.to_string(scope->value, scope->place, "memory_scope") : "global"));
    return ir::DictNode::make(std::move(info));
  }
  if (name == "GlobalVar") {  // a function of the module, or one that this module does not have
    const Arg& hint = args.need(0, "name_hint");
    args.done();
    const std::string function = parser.to_string(hint.value, hint.place, "name_hint");
    auto known = parser.global_vars.find(function);
    return known != parser.global_vars.end() ? known->second : ir::GlobalVarNode::make(function);
  }
  throw UserError(args.span, "there is no function {} in I", name)
      .help("{}", nearest_names_text(name, {"module_attrs", "module_global_infos", "vdevice",
                                            "dummy_global_info", "GlobalVar"}));
}

namespace {

// metadata = tvm.ir.load_json("..."), which the printer writes below the program
void read_metadata(Parser& parser, const ast::Stmt* stmt) {
  const ast::Expr* call = stmt->value;
  const bool is_load = call->kind == ast::ExprKind::kCall && call->items.size() == 2 &&
                       ast::dotted_name(call->items[0]).ends_with("load_json");
  if (!is_load || call->items[1]->kind != ast::ExprKind::kString) return;
  parser.at(call->place,
            [&] { parser.names.define("metadata", ir::load_json(call->items[1]->string), stmt->place); });
}

}  // namespace

std::vector<std::pair<std::string, ObjectRef>> Parser::parse_file() {
  std::vector<std::pair<std::string, ObjectRef>> result;
  for (const ast::Stmt* stmt : tree.body) {
    if (stmt->kind == ast::StmtKind::kAssign) read_metadata(*this, stmt);
  }
  for (const ast::Stmt* stmt : tree.body) {
    if (stmt->kind == ast::StmtKind::kAssign) continue;
    if (stmt->kind == ast::StmtKind::kImport) {
      for (const ast::Import& import : stmt->imports) aliases.add(import.alias, import.path);
      continue;
    }
    const Definition kind = definition_of(*this, stmt);
    if (kind == Definition::kMacro && stmt->kind == ast::StmtKind::kFunction) {
      define_macro(*this, stmt, options);
      continue;
    }
    const bool is_class = stmt->kind == ast::StmtKind::kClass;
    if (is_class != (kind == Definition::kModule))
      throw UserError(tree.span(stmt), "{}",
                      is_class ? "a class is decorated with @I.ir_module"
                               : "@I.ir_module decorates a class, not a function");
    module_name.clear();
    global_vars.clear();
    results.clear();
    parsed = nullptr;
    ObjectRef object;
    if (is_class)
      object = parse_module(*this, stmt);
    else if (kind == Definition::kPrimFunc)
      object = parse_prim_func(*this, stmt);
    else
      object = parse_graph(*this, stmt);
    check_purity(*this, nullptr);
    result.emplace_back(std::string(stmt->name), std::move(object));
  }
  return result;
}

std::vector<std::pair<std::string, ObjectRef>> parse_definitions(const Ref<Source>& source,
                                                                 const ParseOptions& options) {
  std::unique_ptr<ast::Tree> tree = ast::parse_program(source);
  return Parser(tree.get(), &options).parse_file();
}

ObjectRef parse(const Ref<Source>& source, const ParseOptions& options) {
  auto definitions = parse_definitions(source, options);
  if (definitions.size() == 1) return definitions[0].second;
  if (definitions.empty())
    throw UserError("{}: there is no program in this text", source->name)
        .help("a program is a class with @I.ir_module or a function with @T.prim_func or @R.function");
  std::string names;
  for (const auto& [name, object] : definitions) names += (names.empty() ? "" : ", ") + name;
  throw UserError("{}: the text defines {} programs, expected one: {}", source->name, definitions.size(),
                  names)
      .help("put the functions into one class with @I.ir_module");
}

}  // namespace tilewright::script
