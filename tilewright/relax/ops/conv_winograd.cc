// Convolutions by Winograd's algorithm, which the pass winograd makes from other convolutions.
#include "tilewright/te/topi/winograd.h"

#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/conv.h"

namespace tilewright::relax {
namespace {

struct WinogradAttrs {
  std::vector<int64_t> padding = std::vector<int64_t>(4, 0);
  static constexpr auto fields() {
    return std::tuple{
        field<&WinogradAttrs::padding>("padding", "zeros before height and width, then after each")};
  }
};

Type infer_winograd(const Call& call, const WinogradAttrs& attrs, Requirements& require) {
  require_ndim(call, 0, 4);
  require_ndim(call, 1, 4);
  const DataType dtype = common_dtype(call, 0, 1);
  if (attrs.padding.size() != 4) fail(call, "padding has {} numbers, expected 4", attrs.padding.size());
  for (int64_t value : attrs.padding) {
    if (value < 0) fail(call, "padding is {}, expected at least 0", value);
  }
  const Shape *data = known_shape(tensor_arg(call, 0)), *weight = known_shape(tensor_arg(call, 1));
  if (!data || !weight) return tensor_type_of_ndim(4, dtype);
  int64_t points[2] = {};
  const bool is_constant =
      tir::as_const_int((*weight)[0], &points[0]) && tir::as_const_int((*weight)[1], &points[1]);
  if (!is_constant || points[0] != points[1] || (points[0] != 4 && points[0] != 6))
    fail(call, "weight is {}, expected [4, 4, inputs, outputs] or [6, 6, inputs, outputs]",
         shape_text(*weight));
  require.equal((*data)[3], (*weight)[2], "data is {} with {} channels, weight is {} for {}", *data,
                (*data)[3], *weight, (*weight)[2]);
  Shape result = *data;
  result[3] = (*weight)[3];
  for (size_t n = 0; n < 2; ++n) {
    const int64_t pad = attrs.padding[n] + attrs.padding[n + 2];
    result[n + 1] = topi::conv_extent((*data)[n + 1], extent_imm(3), 1, pad, 1);
    require.holds(tir::operator>=(as_extent(result[n + 1]), 1),
                  "the window of 3 x 3 is larger than data {} with padding {}", *data, pad);
  }
  return tensor_type(std::move(result), dtype);
}

te::Tensor lower_winograd(const LowerInput& in, const WinogradAttrs& attrs) {
  return topi::conv2d_winograd(in[0], in[1], attrs.padding);
}

constexpr OpInfo kOps[] = {
    op<&infer_winograd, &lower_winograd, WinogradAttrs>("relax.nn.conv2d_winograd", "data, weight",
                                                        "Convolution of [n, h, w, c] with 3 x 3, stride 1, "
                                                        "whose weight is G w G^T: [4, 4, c, o] or [6, 6, c, "
                                                        "o].",
                                                        FusePattern::kOutFusable),
};

}  // namespace

extern constinit const OpTable conv_winograd_info =
    op_table(kOps, "Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, arXiv 1509.09308");

}  // namespace tilewright::relax
