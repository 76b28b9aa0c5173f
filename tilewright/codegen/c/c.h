// Prints lowered modules as C99 source.  The text is self-contained: it includes no header of tilewright, and
// a library made from it has the exports that runtime/kernel_abi.h defines.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tilewright/ir/module.h"

namespace tilewright::codegen {

/// The functions of `lowered` as one translation unit.  Raises UserError for functions whose names are not C
/// identifiers, Unsupported for values and operators that C99 lacks (vectors, float16, LLVM intrinsics).
std::string emit_c(std::span<const ir::IRModule> lowered);
/// The exports of a library other than kernels: version, host variable, names, blob.  To be appended to
/// emit_c's text.
std::string emit_c_exports(std::span<const std::string> names, std::string_view blob);

}  // namespace tilewright::codegen
