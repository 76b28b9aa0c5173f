// Writes to caches of keys and values as graph operators.
#pragma once
#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {

/// `cache` [b, .., size, ..] with `update` [b, .., length, ..] in dimension `axis`, at `places` [b, length]; null: at
/// 0, 1, ...  The places must be valid.
Expr written(const NodeMath& math, const Expr& cache, const Expr& update, size_t axis, const Expr& places);

}  // namespace tilewright::frontend::onnx
