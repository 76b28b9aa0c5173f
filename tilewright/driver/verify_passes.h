// Checks programs after each graph pass and each lowering step; tests switch this on.
#pragma once
#include "tilewright/ir/module.h"

namespace tilewright::driver {

/// True if TILEWRIGHT_VERIFY_PASSES is 1.  Raises UserError if it is neither 0 nor 1.
bool verifies_passes();

/// For ir::PassContext::verify: raises UserError for loop programs that are not well formed
/// (analysis/verify.h) and for graphs whose types do not match.
void verify_module(const ir::IRModule& module);

}  // namespace tilewright::driver
