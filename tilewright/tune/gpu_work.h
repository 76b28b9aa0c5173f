// What the kernels of a scheduled program take from a GPU, from its loops before lowering.
#pragma once
#include <string>
#include <vector>

#include "tilewright/schedule/default/reason.h"
#include "tilewright/target/gpu_work.h"
#include "tilewright/tune/nest.h"

namespace tilewright::tune {

/// A kernel: all stores in one outermost loop.
struct GpuKernel {
  target::GpuWork work;
  double statements = 0;      // of its code after unrolling
  bool is_on_threads = true;  // false: a store of it runs on none
};

/// The kernels of `nest` in their order.
std::vector<GpuKernel> gpu_kernels_of(const Nest& nest, const target::GpuFeatures& features);

/// Why a GPU does not run `kernels`, or code of them would not be fast to build; nothing if it does.
std::optional<schedule::Reason> why_beyond(const std::vector<GpuKernel>& kernels,
                                           const target::GpuFeatures& features);

/// The cycles of all kernels, one after the other; infinity if one does not run.
double cycles_of(const std::vector<GpuKernel>& kernels, const target::GpuFeatures& features);

}  // namespace tilewright::tune
