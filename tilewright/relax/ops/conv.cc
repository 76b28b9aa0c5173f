// Convolutions.
#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/infer/conv_options.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"

namespace tilewright::relax {
namespace {

template <int kSpatial>
struct ConvAttrs {
  std::vector<int64_t> strides = std::vector<int64_t>(kSpatial, 1);
  std::vector<int64_t> padding = std::vector<int64_t>(kSpatial, 0);
  std::vector<int64_t> dilation = std::vector<int64_t>(kSpatial, 1);
  int64_t groups = 1;
  std::string data_layout = kSpatial == 1 ? "NCW" : kSpatial == 2 ? "NCHW" : "NCDHW";
  std::string kernel_layout = kSpatial == 1 ? "OIW" : kSpatial == 2 ? "OIHW" : "OIDHW";
  std::string out_layout;
  DataType out_dtype = DataType::void_();
  static constexpr auto fields() {
    return std::tuple{
        field<&ConvAttrs::strides>("strides", "step of the window: one number or one per dimension"),
        field<&ConvAttrs::padding>("padding",
                                   "zeros: one number, one per dimension, or before and after each"),
        field<&ConvAttrs::dilation>("dilation", "distance of kernel elements"),
        field<&ConvAttrs::groups>("groups", "channels are split into this many independent convolutions"),
        field<&ConvAttrs::data_layout>("data_layout", "order of dimensions, e.g. \"NCHW\""),
        field<&ConvAttrs::kernel_layout>("kernel_layout", "order of dimensions, e.g. \"OIHW\""),
        field<&ConvAttrs::out_layout>("out_layout", "order of dimensions; empty: as data_layout"),
        field<&ConvAttrs::out_dtype>("out_dtype", "dtype of the sums; void: that of data")};
  }
};

template <int kSpatial>
struct TransposeAttrs : ConvAttrs<kSpatial> {
  std::vector<int64_t> output_padding = std::vector<int64_t>(kSpatial, 0);
  TransposeAttrs() { this->kernel_layout[0] = 'I', this->kernel_layout[1] = 'O'; }
  static constexpr auto fields() {
    constexpr auto more =
        field<&TransposeAttrs::output_padding>("output_padding", "additional elements at the end");
    return std::apply(
        [&](auto strides, auto padding, auto... rest) { return std::tuple{strides, padding, more, rest...}; },
        ConvAttrs<kSpatial>::fields());
  }
};

std::vector<int64_t> per_dimension(const Call& call, std::vector<int64_t> values, size_t num_spatial,
                                   std::string_view name, int64_t least) {
  if (values.size() == 1) values.assign(num_spatial, values[0]);
  if (values.size() != num_spatial)
    fail(call, "{} has {} numbers, expected 1 or {}", name, values.size(), num_spatial);
  for (int64_t value : values) {
    if (value < least) fail(call, "{} is {}, expected at least {}", name, value, least);
  }
  return values;
}

template <class Attrs>
topi::ConvOptions options_of(const Call& call, const Attrs& attrs, size_t num_spatial) {
  topi::ConvOptions options;
  options.strides = per_dimension(call, attrs.strides, num_spatial, "strides", 1);
  options.dilation = per_dimension(call, attrs.dilation, num_spatial, "dilation", 1);
  options.padding = attrs.padding;
  if (options.padding.size() != 2 * num_spatial) {
    options.padding = per_dimension(call, attrs.padding, num_spatial, "padding", INT64_MIN);
    options.padding.insert(options.padding.end(), options.padding.begin(),
                           options.padding.begin() + static_cast<long>(num_spatial));
  }
  for (int64_t value : options.padding) {
    if (value < 0) fail(call, "padding is {}, expected at least 0", value);
  }
  if (attrs.groups < 1) fail(call, "groups is {}, expected at least 1", attrs.groups);
  options.groups = attrs.groups;
  options.data_layout = attrs.data_layout;
  options.kernel_layout = attrs.kernel_layout;
  options.out_dtype = attrs.out_dtype;
  if (!attrs.out_layout.empty() && attrs.out_layout != attrs.data_layout)
    throw Unsupported(call, "{}: out_layout \"{}\" other than data_layout \"{}\"", name_of(call),
                      attrs.out_layout, attrs.data_layout);
  return options;
}

size_t position(const Call& call, const std::string& layout, char letter, size_t size) {
  const size_t at = layout.find(letter);
  if (layout.size() != size || at == std::string::npos)
    fail(call, "layout \"{}\" does not name {} with {}", layout, count_text(size, "dimension"), letter);
  return at;
}

template <int kSpatial>
void require_data_and_weight(const Call& call) {
  require_ndim(call, 0, kSpatial + 2);
  require_ndim(call, 1, kSpatial + 2);
}

constexpr std::string_view kSpatialLetters = "DHW";

template <int kSpatial>
Type infer_conv(const Call& call, const ConvAttrs<kSpatial>& attrs, Requirements& require) {
  require_data_and_weight<kSpatial>(call);
  const topi::ConvOptions options = options_of(call, attrs, kSpatial);
  const DataType dtype = attrs.out_dtype.is_void() ? common_dtype(call, 0, 1) : attrs.out_dtype;
  const Shape *data = known_shape(tensor_arg(call, 0)), *weight = known_shape(tensor_arg(call, 1));
  if (!data || !weight) return tensor_type_of_ndim(kSpatial + 2, dtype);
  const std::string &in = attrs.data_layout, &kernel = attrs.kernel_layout;
  const size_t size = kSpatial + 2, channel = position(call, in, 'C', size),
               batch = position(call, in, 'N', size);
  const PrimExpr &inputs = (*data)[channel], &outputs = (*weight)[position(call, kernel, 'O', size)];
  const PrimExpr expected = (*weight)[position(call, kernel, 'I', size)] * attrs.groups;
  require.equal(inputs, expected, "data is {} with {} channels, weight is {} for {} channels in {}", *data,
                inputs, *weight, expected, count_text(attrs.groups, "group"));
  require.equal(tir::floormod(as_extent(outputs), attrs.groups), extent_imm(0),
                "{} output channels do not divide into {} groups", outputs, attrs.groups);
  Shape result(size);
  result[batch] = (*data)[batch];
  result[channel] = outputs;
  for (size_t n = 0; n < kSpatial; ++n) {
    const char letter = kSpatialLetters[3 - kSpatial + n];
    const size_t at = position(call, in, letter, size);
    const int64_t pad = options.padding[n] + options.padding[kSpatial + n];
    result[at] = topi::conv_extent((*data)[at], (*weight)[position(call, kernel, letter, size)],
                                   options.strides[n], pad, options.dilation[n]);
    require.holds(tir::operator>=(as_extent(result[at]), 1),
                  "the window of weight {} is larger than data {} with padding {}", *weight, *data, pad);
  }
  return tensor_type(std::move(result), dtype);
}

template <int kSpatial>
Type infer_transpose(const Call& call, const TransposeAttrs<kSpatial>& attrs, Requirements& require) {
  require_data_and_weight<kSpatial>(call);
  const topi::ConvOptions options = options_of(call, attrs, kSpatial);
  const std::vector<int64_t> extra = per_dimension(call, attrs.output_padding, kSpatial, "output_padding", 0);
  const DataType dtype = attrs.out_dtype.is_void() ? common_dtype(call, 0, 1) : attrs.out_dtype;
  const Shape *data = known_shape(tensor_arg(call, 0)), *weight = known_shape(tensor_arg(call, 1));
  if (!data || !weight) return tensor_type_of_ndim(kSpatial + 2, dtype);
  const std::string &in = attrs.data_layout, &kernel = attrs.kernel_layout;
  const size_t size = kSpatial + 2, channel = position(call, in, 'C', size),
               batch = position(call, in, 'N', size);
  const PrimExpr &inputs = (*data)[channel], &expected = (*weight)[position(call, kernel, 'I', size)];
  require.equal(inputs, expected, "data is {} with {} channels, weight is {} for {} channels", *data, inputs,
                *weight, expected);
  require.equal(tir::floormod(as_extent(inputs), attrs.groups), extent_imm(0),
                "{} input channels do not divide into {} groups", inputs, attrs.groups);
  Shape result(size);
  result[batch] = (*data)[batch];
  result[channel] = (*weight)[position(call, kernel, 'O', size)] * attrs.groups;
  for (size_t n = 0; n < kSpatial; ++n) {
    const char letter = kSpatialLetters[3 - kSpatial + n];
    const size_t at = position(call, in, letter, size);
    const PrimExpr covered = ((*weight)[position(call, kernel, letter, size)] - 1) * options.dilation[n] + 1;
    const int64_t pad = options.padding[n] + options.padding[kSpatial + n];
    result[at] = arith::simplify(((*data)[at] - 1) * options.strides[n] + covered - pad + extra[n]);
    require.holds(tir::operator>=(as_extent(result[at]), 1),
                  "data {} by weight {} with padding {} leaves {} elements of dimension {}", *data, *weight,
                  pad, result[at], at);
  }
  return tensor_type(std::move(result), dtype);
}

template <int kSpatial>
te::Tensor lower_conv(const LowerInput& in, const ConvAttrs<kSpatial>& attrs) {
  topi::ConvOptions options = options_of(in.call, attrs, kSpatial);
  options.out_dtype = in.out_dtype();
  return topi::conv(in[0], in[1], options);
}
template <int kSpatial>
te::Tensor lower_transpose(const LowerInput& in, const TransposeAttrs<kSpatial>& attrs) {
  const std::vector<int64_t> extra =
      per_dimension(in.call, attrs.output_padding, kSpatial, "output_padding", 0);
  topi::ConvOptions options = options_of(in.call, attrs, kSpatial);
  options.out_dtype = in.out_dtype();
  return topi::conv_transpose(in[0], in[1], options, extra);
}

// the gradient of convNd(data, weight) with respect to weight
template <int kSpatial>
Type infer_weight_backward(const Call& call, const ConvAttrs<kSpatial>& attrs) {
  for (size_t n = 0; n < 3; ++n) require_ndim(call, n, kSpatial + 2);
  options_of(call, attrs, kSpatial);
  return Type(tensor_arg(call, 2));
}
template <int kSpatial>
te::Tensor lower_weight_backward(const LowerInput& in, const ConvAttrs<kSpatial>& attrs) {
  return topi::conv_weight_backward(in[0], in[1], in.out_shape(), options_of(in.call, attrs, kSpatial));
}

constexpr FusePattern kOutFusable = FusePattern::kOutFusable;
template <int kSpatial>
constexpr OpInfo weight_backward(std::string_view name) {
  return op<&infer_weight_backward<kSpatial>, &lower_weight_backward<kSpatial>, ConvAttrs<kSpatial>>(
      name, "output_grad, data, weight", "The gradient of a convolution for its weight.", kOutFusable);
}
template <int kSpatial>
constexpr OpInfo conv(std::string_view name) {
  return op<&infer_conv<kSpatial>, &lower_conv<kSpatial>, ConvAttrs<kSpatial>>(
      name, "data, weight", "Convolution (cross-correlation).", kOutFusable);
}
template <int kSpatial>
constexpr OpInfo transposed(std::string_view name) {
  return op<&infer_transpose<kSpatial>, &lower_transpose<kSpatial>, TransposeAttrs<kSpatial>>(
      name, "data, weight", "Transposed convolution: the gradient of the convolution for its data.",
      kOutFusable);
}

constexpr OpInfo kOps[] = {
    conv<1>("relax.nn.conv1d"),
    conv<2>("relax.nn.conv2d"),
    conv<3>("relax.nn.conv3d"),
    transposed<1>("relax.nn.conv1d_transpose"),
    transposed<2>("relax.nn.conv2d_transpose"),
    transposed<3>("relax.nn.conv3d_transpose"),
    weight_backward<1>("relax.grad.conv1d_weight_backward"),
    weight_backward<2>("relax.grad.conv2d_weight_backward"),
    weight_backward<3>("relax.grad.conv3d_weight_backward"),
};

}  // namespace

topi::ConvOptions conv_options(const Call& call) {
  const auto options = [&]<int kSpatial>() {
    return options_of(call, from_attrs<ConvAttrs<kSpatial>>(call->attrs, name_of(call)), kSpatial);
  };
  const std::string_view name = op_of(call.get())->name;
  if (name == "relax.nn.conv1d") return options.operator()<1>();
  return name == "relax.nn.conv3d" ? options.operator()<3>() : options.operator()<2>();
}

TransposedOptions transposed_options(const Call& call) {
  const auto options = [&]<int kSpatial>() {
    const auto attrs = from_attrs<TransposeAttrs<kSpatial>>(call->attrs, name_of(call));
    TransposedOptions result{options_of(call, attrs, kSpatial), std::vector<topi::TransposedAxis>(kSpatial)};
    const std::vector<int64_t> more =
        per_dimension(call, attrs.output_padding, kSpatial, "output_padding", 0);
    for (size_t n = 0; n < kSpatial; ++n)
      result.axes[n] = {.stride = result.conv.strides[n],
                        .dilation = result.conv.dilation[n],
                        .before = result.conv.padding[n],
                        .after = result.conv.padding[kSpatial + n],
                        .output_padding = more[n]};
    return result;
  };
  const std::string_view name = op_of(call.get())->name;
  if (name == "relax.nn.conv1d_transpose") return options.operator()<1>();
  return name == "relax.nn.conv3d_transpose" ? options.operator()<3>() : options.operator()<2>();
}

extern constinit const OpTable conv_info = op_table(
    kOps, "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, arXiv 1603.07285");

}  // namespace tilewright::relax
