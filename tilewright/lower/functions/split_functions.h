// The last act of lowering: one loop program becomes the functions of lower/lowered.h.
#pragma once
#include <string>

#include "tilewright/ir/module.h"
#include "tilewright/lower/abi.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// The lowered functions of `func`: an entry called `name` with argument checks, the computation, and a body for
/// each parallel loop.
ir::IRModule split_functions(const std::string& name, const tir::PrimFunc& func, const KernelAbi& abi);

}  // namespace tilewright::lower
