// The entry function of a kernel: unpacks and checks its arguments (runtime/kernel_abi.h), then calls the
// compute function.
#pragma once
#include "tilewright/lower/abi.h"
#include "tilewright/runtime/dlpack.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// Where the tensors of a function must be.
struct TensorPlace {
  int32_t device_type = kDLCPU;
  Var device_id = {};           // gets the number of the device, the same for all tensors; null: not wanted
  int64_t least_alignment = 1;  // of the data, in bytes
};

/// The entry of `func`, which users call `name`.  It ends with a call of `compute` with the data pointers of
/// the buffer parameters, then `scalars`, which it takes from shapes, strides and scalar arguments.  Raises
/// UserError if no parameter gives the value of a scalar.  `abi` defines the layout of arguments.
PrimFunc make_entry(const std::string& name, const PrimFunc& func, const GlobalVar& compute,
                    const std::vector<Var>& scalars, const KernelAbi& abi, const TensorPlace& place = {});

}  // namespace tilewright::lower
