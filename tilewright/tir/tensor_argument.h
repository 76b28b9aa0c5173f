// A tensor as an argument of call_packed: tvm_stack_make_array describes memory to the registered function.
//   T.call_packed("f", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(n, m), 0, 2, T.float32(0), 0))
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

struct TensorArgument {
  PrimExpr data;                         // pointer to the memory
  std::vector<PrimExpr> shape, strides;  // strides in elements; empty if compact
  DataType dtype;
  PrimExpr offset;        // of the first element, in elements
  int64_t num_bytes = 0;  // of an element
};

/// The argument that passes all of `buffer`.
PrimExpr tensor_argument(const Buffer& buffer);
bool is_tensor_argument(const PrimExpr& arg);
/// The arguments of a call of tvm_stack_make_array.  Raises UserError for arguments of another form than
/// tensor_argument makes, Unsupported for elements smaller than a byte.
TensorArgument tensor_argument_of(const CallNode* call);

}  // namespace tilewright::tir
