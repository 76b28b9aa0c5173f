// What kernels of a GPU are launched with, and what their threads and blocks take.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/explain/plans.h"
#include "tilewright/ir/module.h"
#include "tilewright/ir/target.h"

namespace tilewright::explain {

/// Who says how many registers a thread takes.
struct RegisterSource {
  std::optional<int64_t> given;  // the caller
  /// NVIDIA's assembler, which takes about a second a kernel (driver/ptxas.h), where nvcc is found.  Else, as where neither is
  /// asked for, arrays of a thread are counted for target cuda; other kinds do not say how many registers there are.
  bool asks_ptxas = false;
};

/// A kernel and its launch.
struct Launch {
  std::string kernel;          // "matmul_kernel_0"
  std::string grid, block;     // "n x 4" blocks, "32 x 8" threads
  int64_t blocks = 0;          // 0: depends on sizes that are not known
  int64_t threads = 1;         // of a block
  int64_t shared_bytes = 0;    // of a block
  int64_t registers = 0;       // of a thread; 0: not known
  std::string registers_text;  // "32 registers a thread (by ptxas)"
  int64_t spilled_bytes = 0;   // of registers, by ptxas
  int64_t blocks_per_sm = 0;   // that a multiprocessor keeps at once
  double occupancy = 0;        // the part of a multiprocessor's threads that it keeps at once
};

/// The launches of the kernels of a lowered function, with `sizes` for what is symbolic.  Raises UserError if the target is
/// no GPU, or of no kind that ptxas knows if that is asked.
std::vector<Launch> launches_of(const ir::IRModule& lowered, const ir::Target& target,
                                const Sizes& sizes = {}, const RegisterSource& registers = {});

/// `expr` with these values of its variables; nothing if one is missing.
std::optional<int64_t> value_of(const ir::PrimExpr& expr, const Sizes& sizes);

}  // namespace tilewright::explain
