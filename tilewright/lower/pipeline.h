// What happens to a scheduled loop program on its way to machine code, in order: read pipeline.cc first.
#pragma once
#include <functional>

#include "tilewright/ir/module.h"
#include "tilewright/ir/target.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// One step of a pipeline on loop programs.
struct Step {
  std::string_view name, doc;
  tir::PrimFunc (*run)(const tir::PrimFunc&);
};

/// The steps for CPUs, from blocks to flat loops.
const std::vector<Step>& cpu_steps();

/// The steps for C source: the same, but loops marked vectorized or unrolled stay loops, and vectors become
/// loops.
const std::vector<Step>& c_steps();

/// Called after each step with its name and result; for dumps and checks.
using StepObserver = std::function<void(const Step&, const tir::PrimFunc&)>;

/// The lowered functions (lower/lowered.h) of `func`, which users call `name`.
ir::IRModule lower_for_cpu(const std::string& name, const tir::PrimFunc& func,
                           const StepObserver& observe = {});
ir::IRModule lower_for_c(const std::string& name, const tir::PrimFunc& func,
                         const StepObserver& observe = {});

}  // namespace tilewright::lower
