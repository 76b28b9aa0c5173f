// C99 source from lowered modules.  The text stands alone: it includes nothing of tilewright, and a library
// made of it exports what runtime/kernel_abi.h says.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tilewright/ir/module.h"

namespace tilewright::codegen {

/// The functions of `lowered`, as one translation unit.  Raises UserError for functions whose names are no
/// identifiers of C, Unsupported for what C99 cannot say (vectors, float16, LLVM intrinsics).
std::string emit_c(std::span<const ir::IRModule> lowered);
/// What a library exports besides kernels: version, host variable, names, blob.  Goes behind emit_c's text.
std::string emit_c_exports(std::span<const std::string> names, std::string_view blob);

}  // namespace tilewright::codegen
