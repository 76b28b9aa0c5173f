// Inlines calls between loop programs, before anything is lowered.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// `func` with calls of functions of `module` replaced by their bodies; `func` itself if it calls none.
/// Raises UserError for arguments that do not fit, Unsupported for results and recursion.
PrimFunc inline_calls(const IRModule& module, const PrimFunc& func);

}  // namespace tilewright::lower
