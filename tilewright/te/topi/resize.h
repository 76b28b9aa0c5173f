// Tensors resized by picking or interpolating elements.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// How coordinates of the result are mapped to x, which elements around one count, and what lies outside.
/// Source: onnx.ai/onnx/operators Resize 19, whose names these are (method "linear" is bilinear for an image)
struct ResizeOptions {
  std::vector<int64_t> axes;  // the dimensions that are resized, in order
  std::string method = "linear", coordinates = "half_pixel", rounding = "round";
  double cubic_alpha = -0.75;
  bool cubic_exclude = false;
  std::vector<double> roi;  // the start of each of `axes`, then the end of each, for tf_crop_and_resize
  double extrapolation_value = 0;
  /// Two integers for each of `axes`: one step in the result is the first / the second in x.
  /// Empty: the extent of x / the extent of the result.
  Shape steps;
};
/// `x` resized to the extents `size` along `options.axes`.
Tensor resize(const Tensor& x, const Shape& size, const ResizeOptions& options, DataType out_dtype);
/// The same along one axis, with a window that is widened by the factor of downsampling, so that every
/// element of x counts; "linear" and "cubic" only.
Tensor resize_antialias(const Tensor& x, const Shape& size, const ResizeOptions& options, DataType out_dtype);

/// The place in a line of `extent` elements that is nearest to `index`.
PrimExpr clamped(const PrimExpr& index, const PrimExpr& extent);
/// Keys' cubic with parameter `a`: the weights of the four elements around a coordinate, which is `t` after
/// the second.
std::vector<PrimExpr> cubic_weights(const PrimExpr& t, double a);

}  // namespace tilewright::topi
