// Pooling over spatial dimensions.  Layouts as in conv.h.
#pragma once
#include "tilewright/te/topi/conv.h"

namespace tilewright::topi {

struct PoolOptions {
  std::vector<int64_t> pool_size, strides, padding, dilation;  // padding: before each, then after each
  bool ceil_mode = false;
  bool count_include_pad = false;  // of averages
  std::string layout;
};

Tensor max_pool(const Tensor& data, const PoolOptions& options);
Tensor avg_pool(const Tensor& data, const PoolOptions& options);
/// Gradients with respect to `data`.  Of several largest elements of a window the
/// first gets all, as in torch.
Tensor max_pool_backward(const Tensor& grad, const Tensor& data, const PoolOptions& options);
Tensor avg_pool_backward(const Tensor& grad, const Tensor& data, const PoolOptions& options);
Tensor adaptive_avg_pool_backward(const Tensor& grad, const Tensor& data, const std::string& layout);
/// Averages over parts of nearly equal size: part i of n covers
///   floor(i * extent / n) .. ceil((i + 1) * extent / n) - 1
Tensor adaptive_avg_pool(const Tensor& data, const Shape& output_size, const std::string& layout);
/// The extent of a pooled dimension with `pad_before` and `pad_after` elements around it.  With ceil_mode a
/// window may extend beyond the end, but must start before it (ONNX MaxPool, PyTorch MaxPool2d).
PrimExpr pool_extent(const PrimExpr& extent, int64_t pool, int64_t stride, int64_t pad_before,
                     int64_t pad_after, int64_t dilation, bool ceil_mode);
/// The positions of D, H, W in `layout`.
std::vector<size_t> spatial_dims(const std::string& layout);

}  // namespace tilewright::topi
