// The entry of a kernel: unpacks and checks its arguments (runtime/kernel_abi.h), then calls the compute
// function.
#pragma once
#include "tilewright/lower/abi.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The entry of `func`, called `name` by users.  It ends with a call of `compute` with the data pointers of
/// the buffer parameters, then `scalars`, which it binds from shapes, strides and scalar arguments. Raises
/// UserError if a scalar is bound by no parameter.  `abi` says where members of arguments lie.
PrimFunc make_entry(const std::string& name, const PrimFunc& func, const GlobalVar& compute,
                    const std::vector<Var>& scalars, const KernelAbi& abi);

}  // namespace tilewright::lower
