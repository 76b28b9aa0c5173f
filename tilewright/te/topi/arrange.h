// Tensors arranged from other tensors or computed from positions: stack, meshgrid, triangles, shuffles.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// The tensors stacked along a new dimension `axis`.
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis);
/// `vector` broadcast to `shape`: it varies only along dimension `along`.
Tensor spread(const Tensor& vector, const Shape& shape, size_t along);
/// x where column - row >= k (`upper`) or <= k, else zero, over the last two dimensions.
Tensor triangle(const Tensor& x, const PrimExpr& k, bool upper);
/// One where column - row = k, else zero.
Tensor eye(const Shape& shape, const PrimExpr& k, DataType dtype);
/// alpha - beta * cos(2 pi i / period); the period is the length, less one unless `periodic`.
Tensor hamming_window(const PrimExpr& length, bool periodic, double alpha, double beta, DataType dtype);
/// x [n, c * r * r, h, w] as [n, c, h * r, w * r].  Source: Shi et al., arXiv 1609.05158
Tensor pixel_shuffle(const Tensor& x, int64_t factor);
/// `x` padded with its elements from the opposite end, by at most one period.
Tensor pad_circular(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after);

}  // namespace tilewright::topi
