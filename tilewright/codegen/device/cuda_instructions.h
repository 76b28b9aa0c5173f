// Instructions of NVIDIA's GPUs as functions of CUDA C with names: tw_cp_async16, tw_ldmatrix_x4, tw_mma_... .  The emulation
// (tilewright/emulation) has functions of these names, so a text that defines them leaves them out there.
#pragma once
#include <cstdint>
#include <string>

#include "tilewright/tir/tir.h"

namespace tilewright::codegen {

struct NamedFunction {
  std::string name, text;
};

/// Begins a copy of 4, 8 or 16 bytes to shared memory; of zeros where its condition is false, if it has one.
NamedFunction cp_async_function(int64_t num_bytes, bool has_condition);
NamedFunction cp_commit_function();
NamedFunction cp_wait_function();
/// Loads 1, 2 or 4 matrices of 8 x 8 elements of 16 bits from shared memory.
NamedFunction ldmatrix_function(int64_t num_matrices, bool is_transposed);
/// The product that `call`, a call of ptx_mma, names.  Raises Unsupported for one that we do not know.
NamedFunction mma_function(const tir::CallNode* call);
/// The dtypes of the elements of A, B and C in memory.
DataType mma_dtype(const tir::CallNode* call, int operand);

}  // namespace tilewright::codegen
