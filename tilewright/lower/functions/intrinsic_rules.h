// Rules that say what calls of operators are on a target: users give operators of their own a meaning, and replace
// functions of the compiler (tir.exp -> native_exp).  A loop program is rewritten before it is scheduled.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// What a call is; null, or the call itself, if the rule does not apply to it.
using IntrinsicRule = std::function<tir::PrimExpr(const tir::Call&)>;

/// Rules of this target are for all of them, after their own.
inline constexpr std::string_view kAllTargets = "default";

/// Adds a rule for calls of `op` ("tir.mylog") on target kind `target`.  Rules of a higher level are asked first; a rule
/// takes the place of one with the same operator, target and level.  Raises UserError for a target that does not exist.
void add_intrinsic_rule(const std::string& op, const std::string& target, int level, IntrinsicRule rule);
/// Forgets all rules.
void clear_intrinsic_rules();

/// The program of function `name` with the calls that rules replace for target kind `kind`; calls that a rule makes of
/// its own operator are left.  Raises UserError for calls of operators that nothing gives a meaning.
tir::PrimFunc with_intrinsic_rules(std::string_view kind, const std::string& name, const tir::PrimFunc& func);

}  // namespace tilewright::lower
