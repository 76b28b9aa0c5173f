// The operators that tir::Call may name: math functions, control flow, memory and machine access.
#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "tilewright/ir/expr.h"

namespace tilewright::tir {
using namespace ir;

struct CallNode;

/// The side effect of a call.
enum class Effect : uint8_t { kPure, kReadsState, kUpdatesState, kOpaque, kControl };

struct BuiltinOp {
  std::string_view name;  // "exp": T.exp in script, "tir.exp" as Op
  int8_t num_args;        // -1: any number
  Effect effect;
  bool elementwise;  // the result has the dtype of the first argument, lane by lane
  std::string_view doc;
};

extern const BuiltinOp kBuiltinOps[];
extern const size_t kNumBuiltinOps;

/// The operator called `name` ("tir.exp" or "exp"), or null.
const BuiltinOp* find_builtin(std::string_view name);
/// The Op node of that name; raises UserError with the nearest names if there is none.
Op find_op(std::string_view name);
/// The dtype of a call of `op` on `args` if none is written; nullopt if one has to be written.
std::optional<DataType> result_dtype(const BuiltinOp& op, std::span<const PrimExpr> args);
/// True if scripts write the result's dtype before the arguments: T.call_extern("int32", "name", ...).
bool has_leading_dtype(std::string_view name);
/// True if evaluating `op` twice, or not at all, has the same effect as once.
bool is_pure(const Expr& op);
/// True if `call`, which may be null, is a call of the operator `name` ("tir.exp").
bool is_call_of(const CallNode* call, std::string_view name);
/// True if `call`, which may be null, is T.if_then_else.
bool is_if_then_else(const CallNode* call);

}  // namespace tilewright::tir
