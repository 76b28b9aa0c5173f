// Checks after each pass of graphs and each step of lowering, which tests switch on.
#pragma once
#include "tilewright/ir/module.h"

namespace tilewright::driver {

/// Whether the environment says TILEWRIGHT_VERIFY_PASSES=1.  Raises UserError for what is neither 0 nor 1.
bool verifies_passes();

/// For ir::PassContext::verify: raises UserError for loop programs that are not well formed
/// (analysis/verify.h) and graphs whose types do not fit.
void verify_module(const ir::IRModule& module);

}  // namespace tilewright::driver
