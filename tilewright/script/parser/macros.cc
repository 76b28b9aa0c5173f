#include "tilewright/script/parser/macros.h"

#include "tilewright/script/parser/parser.h"

namespace tilewright::script {
namespace {

constexpr size_t kMaxDepth = 64;

// Binds parameters by position, by name, or to their defaults.
void bind_params(Parser& inner, const ast::Stmt* function, Args& args) {
  for (size_t n = 0; n < function->params.size(); ++n) {
    const ast::Param& param = function->params[n];
    const Arg* arg = args.find(n, param.name);
    if (!arg && !param.default_value)
      throw UserError(args.span, "macro {}: argument {} is missing", function->name, param.name);
    if (arg && arg->value.get<LambdaValue>())
      throw Unsupported(args.span_of(*arg), "macro {}: a lambda cannot be an argument", function->name)
          .help("write it inside the macro");
    inner.names.define(param.name, arg ? arg->value : inner.eval(param.default_value), param.place);
  }
  args.done();
}

// The definition in the macro's text, which is parsed only once.
const ast::Stmt* definition_of(const Ref<Macro>& macro, MacroCalls* calls, const ast::Tree** tree) {
  MacroCalls::Definition& known = calls->definitions[macro.get()];
  if (!known.tree) known = {macro, ast::parse_program(macro->source)};
  *tree = known.tree.get();
  for (const ast::Stmt* stmt : known.tree->body) {
    if (stmt->kind == ast::StmtKind::kFunction && stmt->name == macro->name) return stmt;
  }
  throw InternalError("the text of macro {} does not define it", macro->name);
}

// Makes the modules and functions of the calling program known in the macro's text, too.
void inherit(Parser& inner, Parser& outer, const Macro& macro) {
  if (!macro.resolver) inner.aliases = outer.aliases;
  inner.tir = outer.tir;
  inner.graph = outer.graph;
  inner.module_name = outer.module_name;
  inner.global_vars = outer.global_vars;
  inner.parsed = outer.parsed;
  inner.results = outer.results;
  if (outer.require) {
    inner.require = [&inner, &outer](std::string_view name) {
      outer.require(name);
      inner.global_vars = outer.global_vars;
      inner.parsed = outer.parsed;
    };
  }
  inner.names = macro.is_hygienic ? outer.names.outermost() : outer.names;
}

}  // namespace

void expand_macro(Parser& parser, const Ref<Macro>& macro, const ast::Expr* call, MacroCalls* calls,
                  const std::function<void(Parser& inner, const ast::Body& body)>& expand) {
  Args args = parser.eval_args(call, {});
  const ast::Tree* tree = nullptr;
  const ast::Stmt* function = definition_of(macro, calls, &tree);
  if (++calls->depth > kMaxDepth)
    throw UserError(args.span, "macro {} is called inside itself, {} deep", macro->name, kMaxDepth);
  ParseOptions options = parser.options;
  if (macro->is_hygienic && macro->resolver) options.resolver = macro->resolver;
  if (macro->is_hygienic && macro->find_macro) options.find_macro = macro->find_macro;
  options.aliases = macro->aliases;
  Parser inner(tree, &options);
  inherit(inner, parser, *macro);
  FrameGuard frame(&inner.names);
  parser.at(call->place, [&] { bind_params(inner, function, args); });
  try {
    expand(inner, function->body);
  } catch (Error& error) {
    if (error.notes().size() < 3)  // a macro that calls itself has many
      error.add_note(args.span, fmt::format("macro {} is called here", macro->name));
    throw;
  }
  --calls->depth;
}

}  // namespace tilewright::script
