// The entry function of a kernel: unpacks and checks its arguments (runtime/kernel_abi.h), then calls the
// compute function.
#pragma once
#include "tilewright/lower/abi.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The entry of `func`, which users call `name`.  It ends with a call of `compute` with the data pointers of
/// the buffer parameters, then `scalars`, which it takes from shapes, strides and scalar arguments.  Raises
/// UserError if no parameter gives the value of a scalar.  `abi` defines the layout of arguments.
PrimFunc make_entry(const std::string& name, const PrimFunc& func, const GlobalVar& compute,
                    const std::vector<Var>& scalars, const KernelAbi& abi);

}  // namespace tilewright::lower
