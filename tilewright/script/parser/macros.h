// @T.macro and @R.macro: the statements of a macro are put where it is called, its parameters standing for
// the arguments.
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
    Ref<Macro> macro;  // alive: its address is the key
    std::unique_ptr<ast::Tree> tree;
  };
  std::unordered_map<const Macro*, Definition> definitions;
  size_t depth = 0;  // how many are being expanded, one inside the other
};

/// Calls `expand` with the body of `macro` and a parser that knows its parameters as the arguments of `call`.
/// Raises UserError for arguments that do not fit, and for macros that call themselves without end.
void expand_macro(Parser& parser, const Ref<Macro>& macro, const ast::Expr* call, MacroCalls* calls,
                  const std::function<void(Parser& inner, const ast::Body& body)>& expand);

}  // namespace tilewright::script
