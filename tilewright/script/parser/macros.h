// @T.macro and @R.macro: a call is replaced by the statements of the macro, with its parameters bound to the
// arguments.
#pragma once
#include <functional>
#include <memory>
#include <unordered_map>

#include "tilewright/script/ast.h"
#include "tilewright/script/value.h"

namespace tilewright::script {
class Parser;

/// The macros that a function has called.
struct MacroCalls {
  struct Definition {
    Ref<Macro> macro;  // kept alive: its address is the key
    std::unique_ptr<ast::Tree> tree;
  };
  std::unordered_map<const Macro*, Definition> definitions;
  size_t depth = 0;  // depth of nested expansions
};

/// Calls `expand` with the body of `macro` and a parser in which its parameters are the arguments of `call`.
/// Raises UserError for arguments that do not fit, and for unlimited recursion of macros.
void expand_macro(Parser& parser, const Ref<Macro>& macro, const ast::Expr* call, MacroCalls* calls,
                  const std::function<void(Parser& inner, const ast::Body& body)>& expand);

}  // namespace tilewright::script
