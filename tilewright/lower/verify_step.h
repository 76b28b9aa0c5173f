// Verifies the program after a lowering step: switched on in tests (LowerOptions::verify), since it takes
// longer than most steps.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/lower/step.h"

namespace tilewright::lower {

/// Raises InternalError, naming the step, if `func` after it is not well formed (analysis/verify.h) or uses a
/// construct that is not in `allowed`.
void verify_step(const Step& step, const tir::PrimFunc& func, Constructs allowed);

/// The same for the functions that a program was split into, `name` and its parts.
void verify_lowered(const std::string& name, const ir::IRModule& lowered);

}  // namespace tilewright::lower
