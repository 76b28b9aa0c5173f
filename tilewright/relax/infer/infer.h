// Type inference of graph expressions: dtypes, shapes with symbolic dimensions, functions and calls of
// functions.
#pragma once
#include "tilewright/relax/infer/requirements.h"

namespace tilewright::relax {

/// The type of `expr`, whose operands have types (variables, and what was inferred before).  `module` (may be
/// null) says what functions the global names mean.  Never null. Raises UserError at `expr` for an operand
/// that is not accepted, with the operator, the argument and both types.
Type infer_type(const Expr& expr, const IRModuleNode* module = nullptr);

/// What the operator of `call`, whose arguments have types, needs and their extents leave open; empty for
/// calls of functions, which check what enters them.
std::vector<Requirement> requirements_of(const Call& call);

/// R.Callable of a function's parameters and result.
CallableType function_type(const FunctionNode* func);

/// What messages call the function that a call's `op` is: its name, or "a function".
std::string callee_name(const Expr& op);

/// The type of calling a `callee` type with `args`: its result with the dimensions that the arguments say.
/// `what` opens error texts: "call of f".
Type infer_result(const CallableTypeNode* callee, const std::vector<Type>& args, const Expr& where,
                  std::string_view what);

/// What a function of type `callee` is once its last parameters are given: values of types `bound`, at most
/// as many as there are parameters.
CallableType type_with_bound(const CallableTypeNode* callee, const std::vector<Type>& bound);

}  // namespace tilewright::relax
