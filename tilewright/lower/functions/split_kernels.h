// Splits a loop program for a GPU into its kernels and the host's functions (lower/lowered.h).
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/lower/abi.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The kernels of `func`, which users call `name`, the function that launches them on a device of `device_type`, and the
/// entry.  Raises UserError if a statement outside of kernels uses memory of the device.
ir::IRModule split_kernels(const std::string& name, const PrimFunc& func, const KernelAbi& abi,
                           int32_t device_type);

}  // namespace tilewright::lower
