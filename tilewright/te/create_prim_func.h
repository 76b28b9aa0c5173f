// Lowers tensor expressions to a loop program: one block per computation, named like its tensor.
//   C = compute((n, m), lambda i, j: sum(A[i, k] * B[k, j], axis=k))    ->
//   for i, j, k in T.grid(n, m, l):
//       with T.block("C"):
//           v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
//           with T.init(): C[v_i, v_j] = 0
//           C[v_i, v_j] = C[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]
#pragma once
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilewright/te/compute.h"

namespace tilewright::te {

struct CreateOptions {
  std::string global_symbol = "main";
  DataType index_dtype = DataType::void_();             // of loops and axes; void: the dtype of the extents
  std::vector<std::pair<Tensor, Buffer>> buffers = {};  // of arguments whose memory is not compact
  std::vector<Operation> computed_too =
      {};  // although no argument needs them; their memory is the function's
};

/// The function that computes the tensors among `args` from the placeholders among them.
///
/// args  te tensors, and the scalar tir variables that shapes or bodies use, in the order of the parameters
///
/// Tensors that are not among `args` become intermediate buffers.  Raises UserError if a placeholder is
/// missing among `args`, if a reduction is not the whole body of a computation, or if a tensor is read
/// unconditionally outside of its shape.
PrimFunc create_prim_func(const std::vector<ObjectRef>& args, const CreateOptions& options = {});

/// The same function, and the name of the block that each operation became.
struct CreatedFunc {
  PrimFunc func;
  std::unordered_map<const Object*, std::string> blocks;  // by operation
};
CreatedFunc create_named_blocks(const std::vector<ObjectRef>& args, const CreateOptions& options = {});

}  // namespace tilewright::te
