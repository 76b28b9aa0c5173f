// The dtype of T.name(...) where it is not written: what the parser assumes and the printer may leave out.
#pragma once
#include <optional>
#include <span>

#include "tilewright/tir/op.h"

namespace tilewright::script {

/// The dtype of a call of `op` over `operands` when none is written (as `dtype=`); nothing if it has to be.
std::optional<DataType> builtin_dtype(const tir::BuiltinOp& op, std::span<const ir::PrimExpr> operands);
/// Whether the dtype stands before the arguments: T.call_extern("int32", "name", ...).
bool takes_dtype_first(std::string_view name);

}  // namespace tilewright::script
