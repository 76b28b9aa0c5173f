// Weights of few bits that files keep in bytes.
#pragma once
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// Input `input`; raises Unsupported if it is not a constant, UserError unless it has `count` elements.
runtime::Tensor require_constant(Importer& importer, const Node& node, size_t input, int64_t count);
/// Rows of `count` values of `dtype`, [num_rows, count], from rows of `num_bytes` bytes, which hold the first value in
/// the lowest bits.
Expr unpacked(const runtime::Tensor& bytes, int64_t num_rows, int64_t num_bytes, int64_t count,
              DataType dtype);

}  // namespace tilewright::frontend::onnx
