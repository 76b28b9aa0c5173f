// Operators beside those of tir/op.h, which users name: calls of them are expressions like others, and rules of lowering
// (lower/functions/intrinsic_rules.h) say for each target what they are.
#pragma once
#include <string>
#include <string_view>

#include "tilewright/tir/op.h"

namespace tilewright::tir {

/// Makes `name` ("tir.mylog") an operator with any number of arguments, whose calls say their dtype; registered again,
/// it has the new effect.  Raises UserError for an operator of tir/op.h, and for a name that is not "tir." and a word.
void register_op(const std::string& name, Effect effect);
/// The registered operator called `name` ("tir.mylog" or "mylog"), or null.
const BuiltinOp* find_registered_op(std::string_view name);

}  // namespace tilewright::tir
