// Convolutions with any number of spatial dimensions.  Layouts name the dimensions by letters: "NCHW",
// "NHWC", "OIHW"; spatial letters are D, H, W in this order.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

struct ConvOptions {
  std::vector<int64_t> strides;   // one per spatial dimension
  std::vector<int64_t> padding;   // before each spatial dimension, then after each
  std::vector<int64_t> dilation;  // of the kernel
  int64_t groups = 1;
  std::string data_layout, kernel_layout;
  DataType out_dtype = DataType::void_();
};

/// The sum over the kernel and the input channels of the group of data * weight; data is zero outside.
Tensor conv(const Tensor& data, const Tensor& weight, const ConvOptions& options);
/// The gradient of conv with respect to its weight, of shape `weight_shape`: the sum of grad * data over the
/// batch and the positions of the window.
Tensor conv_weight_backward(const Tensor& grad, const Tensor& data, const Shape& weight_shape,
                            const ConvOptions& options);
/// The gradient of conv with respect to its data.  For layout "IOHW" weight is
/// [in channels, out channels / groups, kernel...].
Tensor conv_transpose(const Tensor& data, const Tensor& weight, const ConvOptions& options,
                      const std::vector<int64_t>& output_padding);
/// `x` padded along each dimension n by `before[n]` and `after[n]` elements of `value`.
Tensor pad(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
           const PrimExpr& value, std::string name = "T_pad");

/// True if vectors of channels would cross groups, so that channels last are computed group by group.
///
/// outputs  channels of the result of one group
/// terms    of each sum
bool are_groups_apart(int64_t outputs, int64_t terms);
/// An extent of the result of conv, also for shape inference.  Extents may be symbolic.
PrimExpr conv_extent(const PrimExpr& extent, const PrimExpr& kernel, int64_t stride, int64_t pad,
                     int64_t dilation);

}  // namespace tilewright::topi
