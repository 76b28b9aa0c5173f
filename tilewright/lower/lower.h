// Scheduled loop programs -> what code generators get (lower/lowered.h), by the pipelines of
// lower/pipeline.cc.
#pragma once
#include <functional>

#include "tilewright/ir/module.h"
#include "tilewright/lower/abi.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// Called after each step with its result and what it took; for dumps, checks and times.
using StepObserver =
    std::function<void(const Step& step, const tir::PrimFunc& after, const ir::PassRecord& record)>;

struct LowerOptions {
  KernelAbi abi = {};         // of the machine that the code is for
  bool verify = false;        // each step: verify_step.h
  StepObserver observe = {};  // told after each step
};

/// The lowered functions of `func`, which users call `name`.  Raises what is wrong with the program, with the
/// name before it.
ir::IRModule lower_for_cpu(const std::string& name, const tir::PrimFunc& func,
                           const LowerOptions& options = {});
/// The same for C source, whose compiler knows where members of structs lie: options.abi has no effect.
ir::IRModule lower_for_c(const std::string& name, const tir::PrimFunc& func,
                         const LowerOptions& options = {});

}  // namespace tilewright::lower
