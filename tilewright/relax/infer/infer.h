// Type inference of graph expressions: dtypes, shapes with symbolic dimensions, functions and calls of
// functions.
#pragma once
#include "tilewright/relax/infer/requirements.h"

namespace tilewright::relax {

/// The type of `expr`, whose operands must have types.  `module` (may be null) has the functions that global
/// names refer to.  Never null.  Raises UserError at `expr` for an operand that the operator does not accept,
/// with the operator, the argument and both types.
Type infer_type(const Expr& expr, const IRModuleNode* module = nullptr);

/// The requirements of the operator of `call`, whose arguments have types, that their extents leave open;
/// empty for calls of functions, which check their arguments themselves.
std::vector<Requirement> requirements_of(const Call& call);

/// R.Callable of a function's parameters and result.
CallableType function_type(const FunctionNode* func);

/// The name of a call's callee in messages: its name, or "a function".
std::string callee_name(const Expr& op);

/// The type of calling a `callee` type with `args`: its result with the dimensions that the arguments
/// determine.  Error texts begin with `what`: "call of f".
Type infer_result(const CallableTypeNode* callee, const std::vector<Type>& args, const Expr& where,
                  std::string_view what);

/// The type of a function of type `callee` after its last parameters are bound to values of types `bound`, at
/// most as many as there are parameters.
CallableType type_with_bound(const CallableTypeNode* callee, const std::vector<Type>& bound);

}  // namespace tilewright::relax
