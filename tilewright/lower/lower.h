// Lowers scheduled loop programs to the form that code generators take (lower/lowered.h), by the pipelines of
// lower/pipeline.cc.
#pragma once
#include <functional>

#include "tilewright/ir/module.h"
#include "tilewright/lower/abi.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// Called after each step with its result and its record (time, name); for dumps, checks and times.
using StepObserver =
    std::function<void(const Step& step, const tir::PrimFunc& after, const ir::PassRecord& record)>;

struct LowerOptions {
  KernelAbi abi = {};         // of the target machine
  bool verify = false;        // verify the program after each step (verify_step.h)
  StepObserver observe = {};  // called after each step
};

/// The lowered functions of `func`, which users call `name`.  Raises errors of the program with the name as
/// prefix.
ir::IRModule lower_for_cpu(const std::string& name, const tir::PrimFunc& func,
                           const LowerOptions& options = {});
/// The same for C source, whose compiler knows the layout of structs, so options.abi has no effect.
ir::IRModule lower_for_c(const std::string& name, const tir::PrimFunc& func,
                         const LowerOptions& options = {});

/// The lowered functions for target `kind`, "cuda", "opencl" or "metal": kernels, and the host's functions, which launch
/// them on devices of `device_type`.
ir::IRModule lower_for_gpu(std::string_view kind, const std::string& name, const tir::PrimFunc& func,
                           int32_t device_type, const LowerOptions& options = {});

}  // namespace tilewright::lower
