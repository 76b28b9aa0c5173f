// Tensors with other extents: resize2d and resize3d of images and volumes, resize and resize_antialias along
// any dimensions.
#include "tilewright/te/topi/resize.h"

#include <algorithm>

#include "tilewright/relax/infer/known_texts.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/pool.h"

namespace tilewright::relax {
namespace {

struct ResizeAttrs {
  ObjectRef roi;
  std::string method = "linear", coordinate_transformation_mode = "half_pixel", rounding_method = "round";
  double cubic_alpha = -0.75;
  bool cubic_exclude = false;
  double extrapolation_value = 0;
  DataType out_dtype = DataType::void_();
  static constexpr auto fields() {
    using A = ResizeAttrs;
    return std::tuple{
        field<&A::roi>("roi",
                       "where each resized dimension starts, then where each ends, as fractions of its last "
                       "index; of tf_crop_and_resize"),
        field<&A::method>("method", "\"nearest_neighbor\", \"linear\" or \"cubic\""),
        field<&A::coordinate_transformation_mode>("coordinate_transformation_mode",
                                                  "\"half_pixel\", \"align_corners\", \"asymmetric\", "
                                                  "\"pytorch_half_pixel\", \"tf_half_pixel_for_nn\", "
                                                  "\"half_pixel_symmetric\" or \"tf_crop_and_resize\""),
        field<&A::rounding_method>("rounding_method",
                                   "of nearest_neighbor: \"round\", \"round_prefer_floor\", "
                                   "\"round_prefer_ceil\", \"floor\" or \"ceil\""),
        field<&A::cubic_alpha>("cubic_alpha", "the parameter of the cubic"),
        field<&A::cubic_exclude>("cubic_exclude", "whether elements outside are ignored by the cubic"),
        field<&A::extrapolation_value>("extrapolation_value", "outside, of tf_crop_and_resize"),
        field<&A::out_dtype>("out_dtype", "dtype of the result; void: that of data")};
  }
};

// The layouts of images with `kDims` spatial dimensions, the usual one first, and the names of their extents.
template <size_t kDims>
struct Pictures;
template <>
struct Pictures<2> {
  static constexpr std::string_view layouts[] = {"NCHW", "NHWC"}, extents = "height and width";
};
template <>
struct Pictures<3> {
  static constexpr std::string_view layouts[] = {"NCDHW", "NDHWC"}, extents = "depth, height and width";
};

template <size_t kDims>
struct PictureAttrs : ResizeAttrs {
  std::string layout{Pictures<kDims>::layouts[0]};
  static constexpr auto fields() {
    constexpr auto more = field<&PictureAttrs::layout>(
        "layout", kDims == 2 ? "\"NCHW\" or \"NHWC\"" : "\"NCDHW\" or \"NDHWC\"");
    return std::apply([&](auto roi, auto... rest) { return std::tuple{roi, more, rest...}; },
                      ResizeAttrs::fields());
  }
};

struct AxesAttrs : ResizeAttrs {
  std::vector<int64_t> axes;
  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{field<&AxesAttrs::axes>("axes", "the dimensions that are resized; none: all")},
        ResizeAttrs::fields());
  }
};

// ---- inference

void require_names(const Call& call, const ResizeAttrs& attrs) {
  require_one_of(call, "method", attrs.method, {"nearest_neighbor", "linear", "cubic"});
  require_one_of(call, "coordinate_transformation_mode", attrs.coordinate_transformation_mode,
                 {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
                  "half_pixel_symmetric", "tf_crop_and_resize"});
  require_one_of(call, "rounding_method", attrs.rounding_method,
                 {"", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

// The type of data resized to argument 1 along `axes`; `expected` describes the extents in messages.
Type resized_type(const Call& call, const ResizeAttrs& attrs, const std::vector<int64_t>& axes,
                  std::string_view expected, Requirements& require) {
  require_names(call, attrs);
  numbers_attr(call, "roi", attrs.roi, std::vector<double>(2 * axes.size(), 0));
  const TensorTypeNode* x = tensor_arg(call, 0);
  const DataType dtype = attrs.out_dtype.is_void() ? x->dtype : attrs.out_dtype;
  int64_t count;
  Shape storage;
  const Shape* size = shape_arg(call, 1, &count, &storage);
  if (count >= 0 && count != static_cast<int64_t>(axes.size()))
    fail(call, "size has {} extents, expected {}", count, expected);
  const Shape* shape = known_shape(x);
  if (!shape || !size) return tensor_type_of_ndim(x->ndim, dtype);
  Shape result = *shape;
  for (size_t n = 0; n < axes.size(); ++n) {
    PrimExpr& extent = result[static_cast<size_t>(axes[n])];
    const PrimExpr wanted = as_extent((*size)[n]);
    require.holds(tir::operator>=(wanted, 0), "size is {}, expected at least 0", wanted);
    require.holds(tir::logical_or(tir::operator>=(as_extent(extent), 1), tir::equal(wanted, extent_imm(0))),
                  "dimension {} of data {} is empty, size is {}", axes[n], *shape, wanted);
    extent = (*size)[n];
  }
  return tensor_type(std::move(result), dtype);
}

template <size_t kDims>
std::vector<int64_t> spatial_axes(const PictureAttrs<kDims>& attrs) {
  const std::vector<size_t> dims = topi::spatial_dims(attrs.layout);
  return {dims.begin(), dims.end()};
}
template <size_t kDims>
Type infer_picture(const Call& call, const PictureAttrs<kDims>& attrs, Requirements& require) {
  using Kind = Pictures<kDims>;
  require_ndim(call, 0, static_cast<int64_t>(kDims + 2));
  require_one_of(call, "layout", attrs.layout, {std::begin(Kind::layouts), std::end(Kind::layouts)});
  return resized_type(call, attrs, spatial_axes(attrs), Kind::extents, require);
}

std::vector<int64_t> axes_of(const Call& call, const AxesAttrs& attrs, int64_t ndim) {
  std::vector<int64_t> axes;
  for (int64_t axis : attrs.axes) axes.push_back(normalize_axis(call, axis, ndim));
  for (int64_t n = 0; attrs.axes.empty() && n < ndim; ++n) axes.push_back(n);
  if (axes != normalize_axes(call, axes, ndim))
    fail(call, "axes are [{}], expected them in order", fmt::join(attrs.axes, ", "));
  return axes;
}
Type infer_axes(const Call& call, const AxesAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const DataType dtype = attrs.out_dtype.is_void() ? x->dtype : attrs.out_dtype;
  if (x->ndim < 0) return tensor_type_of_ndim(-1, dtype);
  const std::vector<int64_t> axes = axes_of(call, attrs, x->ndim);
  if (call->args.size() > 2) {
    int64_t count;
    Shape storage;
    const Shape* steps = shape_arg(call, 2, &count, &storage);
    if (count >= 0 && count != static_cast<int64_t>(2 * axes.size()))
      fail(call, "steps has {} numbers, expected {}", count, 2 * axes.size());
    for (const PrimExpr& step : steps ? *steps : Shape{})
      require.holds(tir::operator>=(as_extent(step), 0), "a step is {}, expected at least 0", step);
  }
  return resized_type(call, attrs, axes, fmt::format("{}", axes.size()), require);
}
Type infer_antialias(const Call& call, const AxesAttrs& attrs, Requirements& require) {
  if (attrs.axes.size() != 1) fail(call, "axes has {} numbers, expected 1", attrs.axes.size());
  require_one_of(call, "method", attrs.method, {"linear", "cubic"});
  return infer_axes(call, attrs, require);
}

// ---- lowering

topi::ResizeOptions options_of(const LowerInput& in, const ResizeAttrs& attrs, std::vector<int64_t> axes) {
  topi::ResizeOptions options;
  options.roi = numbers_attr(in.call, "roi", attrs.roi, std::vector<double>(2 * axes.size(), 0));
  options.axes = std::move(axes);
  options.method = attrs.method;
  options.coordinates = attrs.coordinate_transformation_mode;
  options.rounding = attrs.rounding_method;
  options.cubic_alpha = attrs.cubic_alpha;
  options.cubic_exclude = attrs.cubic_exclude;
  options.extrapolation_value = attrs.extrapolation_value;
  if (in.size() > 2) options.steps = in.shape(2);
  return options;
}
template <size_t kDims>
te::Tensor lower_picture(const LowerInput& in, const PictureAttrs<kDims>& attrs) {
  return topi::resize(in[0], in.shape(1), options_of(in, attrs, spatial_axes(attrs)), in.out_dtype());
}
template <auto kResize>
te::Tensor lower_axes(const LowerInput& in, const AxesAttrs& attrs) {
  const std::vector<int64_t> axes = axes_of(in.call, attrs, static_cast<int64_t>(in[0].ndim()));
  return kResize(in[0], in.shape(1), options_of(in, attrs, axes), in.out_dtype());
}

constexpr FusePattern kInjective = FusePattern::kInjective;
constexpr OpInfo kOps[] = {
    op<infer_picture<2>, lower_picture<2>, PictureAttrs<2>>(
        "relax.image.resize2d", "data, size", "Resizes an image to [height, width].", kInjective),
    op<infer_picture<3>, lower_picture<3>, PictureAttrs<3>>(
        "relax.image.resize3d", "data, size", "Resizes a volume to [depth, height, width].", kInjective),
    op<infer_axes, lower_axes<topi::resize>, AxesAttrs>(
        "relax.image.resize", "data, size, steps?",
        "Resizes some dimensions of a tensor.  For each of them steps has two integers: one step "
        "in "
        "the result is the first / the second in data; left out: the extent of data / that of the result.",
        kInjective),
    op<infer_antialias, lower_axes<topi::resize_antialias>, AxesAttrs>(
        "relax.image.resize_antialias", "data, size, steps?",
        "Resizes one dimension, with a window that is wider if the result is smaller, so that every "
        "element counts.",
        FusePattern::kOutFusable),
};

}  // namespace

extern constinit const OpTable resize_info = op_table(kOps, "onnx.ai/onnx/operators (Resize 19)");

}  // namespace tilewright::relax
