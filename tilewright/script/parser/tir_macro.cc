// @T.macro: the statements of a macro are put where it is called, its parameters standing for the arguments.
#include "tilewright/script/parser/tir_parser.h"

namespace tilewright::script {
namespace {

constexpr size_t kMaxDepth = 64;

// Parameters by position, by name, or by their default.
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

}  // namespace

// The definition in the macro's own text, which is read once.
const ast::Stmt* TirParser::body_of(const Macro& macro, const ast::Tree** tree) {
  std::unique_ptr<ast::Tree>& kept = state_.macro_trees[&macro];
  if (!kept) kept = ast::parse_program(macro.source);
  *tree = kept.get();
  for (const ast::Stmt* stmt : kept->body) {
    if (stmt->kind == ast::StmtKind::kFunction && stmt->name == macro.name) return stmt;
  }
  throw InternalError("the text of macro {} does not define it", macro.name);
}

void TirParser::expand_macro(const Ref<Macro>& macro, const ast::Expr* call) {
  Args args = parser_.eval_args(call, {});
  const ast::Tree* tree = nullptr;
  const ast::Stmt* function = body_of(*macro, &tree);
  if (++state_.macro_depth > kMaxDepth)
    throw UserError(args.span, "macro {} is called inside itself, {} deep", macro->name, kMaxDepth);
  ParseOptions options = parser_.options;
  if (macro->is_hygienic && macro->resolver) options.resolver = macro->resolver;
  if (macro->is_hygienic && macro->find_macro) options.find_macro = macro->find_macro;
  options.aliases = macro->aliases;
  Parser inner(tree, &options);
  if (!macro->resolver) inner.aliases = parser_.aliases;
  inner.tir = &state_;
  inner.global_vars = parser_.global_vars;
  inner.names = macro->is_hygienic ? parser_.names.outermost() : parser_.names;
  FrameGuard frame(&inner.names);
  parser_.at(call->place, [&] { bind_params(inner, function, args); });
  try {
    TirParser(&inner, &state_).parse_body(function->body);
  } catch (Error& error) {
    if (error.notes().size() < 3)  // a macro that calls itself has many
      error.add_note(args.span, fmt::format("macro {} is called here", macro->name));
    throw;
  }
  --state_.macro_depth;
}

}  // namespace tilewright::script
