// Pooling over the spatial dimensions of a layout.
#include "tilewright/te/topi/pool.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

template <int kSpatial>
struct PoolAttrs {
  std::vector<int64_t> pool_size = std::vector<int64_t>(kSpatial, 1);
  std::vector<int64_t> strides = std::vector<int64_t>(kSpatial, 1);
  std::vector<int64_t> padding = std::vector<int64_t>(kSpatial, 0);
  std::vector<int64_t> dilation = std::vector<int64_t>(kSpatial, 1);
  bool ceil_mode = false;
  bool count_include_pad = kSpatial != 2;  // the default of TVM
  std::string layout = kSpatial == 1 ? "NCW" : kSpatial == 2 ? "NCHW" : "NCDHW";
  std::string out_layout;
  static constexpr auto fields() {
    return std::tuple{
        field<&PoolAttrs::pool_size>("pool_size", "extent of the window"),
        field<&PoolAttrs::strides>("strides", "step of the window"),
        field<&PoolAttrs::padding>("padding",
                                   "padding: one number, one per dimension, or before and after each"),
        field<&PoolAttrs::dilation>("dilation", "distance of window elements"),
        field<&PoolAttrs::ceil_mode>("ceil_mode", "whether a last, partial window has a result"),
        field<&PoolAttrs::count_include_pad>("count_include_pad", "whether averages include the padding"),
        field<&PoolAttrs::layout>("layout", "order of dimensions, e.g. \"NCHW\""),
        field<&PoolAttrs::out_layout>("out_layout", "order of dimensions; empty: as layout")};
  }
};

template <int kSpatial>
struct AdaptiveAttrs {
  std::vector<int64_t> output_size;
  std::string layout = kSpatial == 1 ? "NCW" : kSpatial == 2 ? "NCHW" : "NCDHW";
  std::string out_layout;
  static constexpr auto fields() {
    return std::tuple{
        field<&AdaptiveAttrs::output_size>("output_size", "extents of the result; none: those of data"),
        field<&AdaptiveAttrs::layout>("layout", "order of dimensions, e.g. \"NCHW\""),
        field<&AdaptiveAttrs::out_layout>("out_layout", "order of dimensions; empty: as layout")};
  }
};

std::vector<int64_t> per_dimension(const Call& call, std::vector<int64_t> values, size_t count,
                                   std::string_view name, int64_t least) {
  if (values.size() == 1) values.assign(count, values[0]);
  if (values.size() != count) fail(call, "{} has {} numbers, expected 1 or {}", name, values.size(), count);
  for (int64_t value : values) {
    if (value < least) fail(call, "{} is {}, expected at least {}", name, value, least);
  }
  return values;
}

std::vector<size_t> spatial_of(const Call& call, const std::string& layout, const std::string& out_layout,
                               size_t count) {
  if (!out_layout.empty() && out_layout != layout)
    throw Unsupported(call, "{}: out_layout \"{}\" other than layout \"{}\"", name_of(call), out_layout,
                      layout);
  const std::vector<size_t> spatial = topi::spatial_dims(layout);
  if (layout.size() != count + 2 || spatial.size() != count)
    fail(call, "layout \"{}\" does not name {} spatial dimensions", layout, count);
  return spatial;
}

template <int kSpatial>
topi::PoolOptions options_of(const Call& call, const PoolAttrs<kSpatial>& attrs) {
  topi::PoolOptions options;
  options.pool_size = per_dimension(call, attrs.pool_size, kSpatial, "pool_size", 1);
  options.strides = per_dimension(call, attrs.strides, kSpatial, "strides", 1);
  options.dilation = per_dimension(call, attrs.dilation, kSpatial, "dilation", 1);
  if (attrs.padding.size() == 2 * kSpatial)
    options.padding = per_dimension(call, attrs.padding, 2 * kSpatial, "padding", 0);
  else {
    options.padding = per_dimension(call, attrs.padding, kSpatial, "padding", 0);
    options.padding.insert(options.padding.end(), options.padding.begin(),
                           options.padding.begin() + kSpatial);
  }
  options.ceil_mode = attrs.ceil_mode;
  options.count_include_pad = attrs.count_include_pad;
  options.layout = attrs.layout;
  return options;
}

// Padding as wide as the window would make windows without elements, which have no maximum and no mean.
template <int kSpatial>
void require_elements(const Call& call, const topi::PoolOptions& options) {
  for (size_t n = 0; n < 2 * kSpatial; ++n) {
    const int64_t covered = (options.pool_size[n % kSpatial] - 1) * options.dilation[n % kSpatial] + 1;
    if (options.padding[n] >= covered)
      fail(call, "padding {} is not smaller than the window of {} elements", options.padding[n], covered);
  }
}

template <int kSpatial>
Type infer_pool(const Call& call, const PoolAttrs<kSpatial>& attrs, Requirements& require) {
  require_ndim(call, 0, kSpatial + 2);
  const TensorTypeNode* data = tensor_arg(call, 0);
  const std::vector<size_t> spatial = spatial_of(call, attrs.layout, attrs.out_layout, kSpatial);
  const topi::PoolOptions options = options_of(call, attrs);
  require_elements<kSpatial>(call, options);
  const Shape* shape = known_shape(data);
  if (!shape) return tensor_type_of_ndim(kSpatial + 2, data->dtype);
  Shape result = *shape;
  for (size_t n = 0; n < kSpatial; ++n) {
    PrimExpr& extent = result[spatial[n]];
    const int64_t pad = options.padding[n] + options.padding[kSpatial + n];
    extent = topi::pool_extent(extent, options.pool_size[n], options.strides[n], options.padding[n],
                               options.padding[kSpatial + n], options.dilation[n], options.ceil_mode);
    require.holds(tir::operator>=(as_extent(extent), 1),
                  "the window of {} is larger than data {} with padding {}", options.pool_size[n], *shape,
                  pad);
  }
  return tensor_type(std::move(result), data->dtype);
}

template <int kSpatial>
te::Tensor lower_max(const LowerInput& in, const PoolAttrs<kSpatial>& attrs) {
  return topi::max_pool(in[0], options_of(in.call, attrs));
}
template <int kSpatial>
te::Tensor lower_avg(const LowerInput& in, const PoolAttrs<kSpatial>& attrs) {
  return topi::avg_pool(in[0], options_of(in.call, attrs));
}

Shape adaptive_size(const Call& call, const std::vector<int64_t>& output_size, const Shape& data,
                    const std::vector<size_t>& spatial) {
  Shape size;
  for (size_t at : spatial) size.push_back(data[at]);
  if (output_size.empty()) return size;
  return extents(per_dimension(call, output_size, spatial.size(), "output_size", 1));
}

template <int kSpatial>
Type infer_adaptive(const Call& call, const AdaptiveAttrs<kSpatial>& attrs) {
  require_ndim(call, 0, kSpatial + 2);
  const TensorTypeNode* data = tensor_arg(call, 0);
  const std::vector<size_t> spatial = spatial_of(call, attrs.layout, attrs.out_layout, kSpatial);
  const Shape* shape = known_shape(data);
  if (!shape) return tensor_type_of_ndim(kSpatial + 2, data->dtype);
  Shape result = *shape;
  const Shape size = adaptive_size(call, attrs.output_size, *shape, spatial);
  for (size_t n = 0; n < spatial.size(); ++n) result[spatial[n]] = size[n];
  return tensor_type(std::move(result), data->dtype);
}
template <int kSpatial>
te::Tensor lower_adaptive(const LowerInput& in, const AdaptiveAttrs<kSpatial>& attrs) {
  return topi::adaptive_avg_pool(
      in[0], adaptive_size(in.call, attrs.output_size, in[0].shape(), topi::spatial_dims(attrs.layout)),
      attrs.layout);
}

// ---- gradients with respect to data: (output_grad, data)

template <int kSpatial, class Attrs>
Type infer_backward(const Call& call, const Attrs&) {
  for (size_t n = 0; n < 2; ++n) require_ndim(call, n, kSpatial + 2);
  return Type(tensor_arg(call, 1));
}
template <int kSpatial>
te::Tensor lower_max_backward(const LowerInput& in, const PoolAttrs<kSpatial>& attrs) {
  return topi::max_pool_backward(in[0], in[1], options_of(in.call, attrs));
}
template <int kSpatial>
te::Tensor lower_avg_backward(const LowerInput& in, const PoolAttrs<kSpatial>& attrs) {
  return topi::avg_pool_backward(in[0], in[1], options_of(in.call, attrs));
}
template <int kSpatial>
te::Tensor lower_adaptive_backward(const LowerInput& in, const AdaptiveAttrs<kSpatial>& attrs) {
  return topi::adaptive_avg_pool_backward(in[0], in[1], attrs.layout);
}

constexpr FusePattern kOutFusable = FusePattern::kOutFusable;
template <int kSpatial, class Attrs, te::Tensor (*kLower)(const LowerInput&, const Attrs&)>
constexpr OpInfo backward(std::string_view name) {
  return op<&infer_backward<kSpatial, Attrs>, kLower, Attrs>(
      name, "output_grad, data", "The gradient of a pooling for its data.", FusePattern::kOpaque);
}
template <int kSpatial>
constexpr OpInfo max_row(std::string_view name) {
  return op<&infer_pool<kSpatial>, &lower_max<kSpatial>, PoolAttrs<kSpatial>>(
      name, "data", "Largest element of each window.", kOutFusable);
}
template <int kSpatial>
constexpr OpInfo avg_row(std::string_view name) {
  return op<&infer_pool<kSpatial>, &lower_avg<kSpatial>, PoolAttrs<kSpatial>>(
      name, "data", "Mean of each window.", kOutFusable);
}
template <int kSpatial>
constexpr OpInfo adaptive_row(std::string_view name) {
  return op<&infer_adaptive<kSpatial>, &lower_adaptive<kSpatial>, AdaptiveAttrs<kSpatial>>(
      name, "data", "Means over parts of nearly equal size.", kOutFusable);
}
constexpr OpInfo kOps[] = {
    max_row<1>("relax.nn.max_pool1d"),
    max_row<2>("relax.nn.max_pool2d"),
    max_row<3>("relax.nn.max_pool3d"),
    avg_row<1>("relax.nn.avg_pool1d"),
    avg_row<2>("relax.nn.avg_pool2d"),
    avg_row<3>("relax.nn.avg_pool3d"),
    adaptive_row<1>("relax.nn.adaptive_avg_pool1d"),
    adaptive_row<2>("relax.nn.adaptive_avg_pool2d"),
    adaptive_row<3>("relax.nn.adaptive_avg_pool3d"),
    backward<1, PoolAttrs<1>, &lower_max_backward<1>>("relax.grad.max_pool1d_backward"),
    backward<1, PoolAttrs<1>, &lower_avg_backward<1>>("relax.grad.avg_pool1d_backward"),
    backward<1, AdaptiveAttrs<1>, &lower_adaptive_backward<1>>("relax.grad.adaptive_avg_pool1d_backward"),
    backward<2, PoolAttrs<2>, &lower_max_backward<2>>("relax.grad.max_pool2d_backward"),
    backward<2, PoolAttrs<2>, &lower_avg_backward<2>>("relax.grad.avg_pool2d_backward"),
    backward<2, AdaptiveAttrs<2>, &lower_adaptive_backward<2>>("relax.grad.adaptive_avg_pool2d_backward"),
    backward<3, PoolAttrs<3>, &lower_max_backward<3>>("relax.grad.max_pool3d_backward"),
    backward<3, PoolAttrs<3>, &lower_avg_backward<3>>("relax.grad.avg_pool3d_backward"),
    backward<3, AdaptiveAttrs<3>, &lower_adaptive_backward<3>>("relax.grad.adaptive_avg_pool3d_backward"),
};

}  // namespace

extern constinit const OpTable pool_info = op_table(
    kOps, "torch.nn.functional (max_pool2d, avg_pool2d, adaptive_avg_pool2d); arXiv 1603.07285 for extents");

}  // namespace tilewright::relax
