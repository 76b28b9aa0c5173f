// Pictures: resize2d, resize3d, grid_sample, affine_grid.
#include "tilewright/te/topi/image.h"

#include "tilewright/relax/op_util.h"
#include "tilewright/te/topi/pool.h"

namespace tilewright::relax {
namespace {

void require_one_of(const Call& call, std::string_view name, const std::string& value,
                    const std::vector<std::string_view>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  fail(call, "{} is \"{}\", expected one of {}", name, value, fmt::join(known, ", "));
}

// The layouts of pictures with `kDims` spatial dimensions, the usual one first, and the names of these.
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
struct ResizeAttrs {
  ObjectRef roi;
  std::string layout{Pictures<kDims>::layouts[0]},
      method = "linear", coordinate_transformation_mode = "half_pixel", rounding_method = "round";
  double cubic_alpha = -0.75;
  bool cubic_exclude = false;
  double extrapolation_value = 0;
  DataType out_dtype = DataType::void_();
  static constexpr auto fields() {
    using A = ResizeAttrs;
    return std::tuple{
        field<&A::roi>("roi", kDims == 2
                                  ? "start of height and width, end of them, in parts; of tf_crop_and_resize"
                                  : "start of depth, height and width, end of them, in parts; of "
                                    "tf_crop_and_resize"),
        field<&A::layout>("layout", kDims == 2 ? "\"NCHW\" or \"NHWC\"" : "\"NCDHW\" or \"NDHWC\""),
        field<&A::method>("method", "\"nearest_neighbor\", \"linear\" or \"cubic\""),
        field<&A::coordinate_transformation_mode>("coordinate_transformation_mode",
                                                  "\"half_pixel\", \"align_corners\", \"asymmetric\", "
                                                  "\"pytorch_half_pixel\", \"tf_half_pixel_for_nn\", "
                                                  "\"half_pixel_symmetric\" or \"tf_crop_and_resize\""),
        field<&A::rounding_method>("rounding_method",
                                   "of nearest_neighbor: \"round\", \"round_prefer_floor\", "
                                   "\"round_prefer_ceil\", \"floor\" or \"ceil\""),
        field<&A::cubic_alpha>("cubic_alpha", "the parameter of the cubic"),
        field<&A::cubic_exclude>("cubic_exclude", "whether elements outside have no weight in the cubic"),
        field<&A::extrapolation_value>("extrapolation_value", "outside, of tf_crop_and_resize"),
        field<&A::out_dtype>("out_dtype", "of the result; void: that of data")};
  }
};

template <size_t kDims>
std::vector<double> roi_of(const Call& call, const ResizeAttrs<kDims>& attrs) {
  return numbers_attr(call, "roi", attrs.roi, std::vector<double>(2 * kDims, 0));
}

template <size_t kDims>
Type infer_resize(const Call& call, const ResizeAttrs<kDims>& attrs) {
  constexpr auto ndim = static_cast<int64_t>(kDims + 2);
  using Kind = Pictures<kDims>;
  require_ndim(call, 0, ndim);
  const TensorTypeNode* x = tensor_arg(call, 0);
  require_one_of(call, "layout", attrs.layout, {std::begin(Kind::layouts), std::end(Kind::layouts)});
  require_one_of(call, "method", attrs.method, {"nearest_neighbor", "linear", "cubic"});
  require_one_of(call, "coordinate_transformation_mode", attrs.coordinate_transformation_mode,
                 {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
                  "half_pixel_symmetric", "tf_crop_and_resize"});
  require_one_of(call, "rounding_method", attrs.rounding_method,
                 {"", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  roi_of(call, attrs);
  const DataType dtype = attrs.out_dtype.is_void() ? x->dtype : attrs.out_dtype;
  int64_t count;
  Shape storage;
  const Shape* size = shape_arg(call, 1, &count, &storage);
  if (count >= 0 && count != static_cast<int64_t>(kDims))
    fail(call, "size has {} extents, expected {}", count, Kind::extents);
  const Shape* shape = known_shape(x);
  if (!shape || !size) return tensor_type_of_ndim(ndim, dtype);
  Shape result = *shape;
  const std::vector<size_t> spatial = topi::spatial_dims(attrs.layout);
  for (size_t n = 0; n < kDims; ++n) result[spatial[n]] = (*size)[n];
  return tensor_type(std::move(result), dtype);
}
template <size_t kDims>
te::Tensor lower_resize(const LowerInput& in, const ResizeAttrs<kDims>& attrs) {
  topi::ResizeOptions options;
  options.layout = attrs.layout;
  options.method = attrs.method;
  options.coordinates = attrs.coordinate_transformation_mode;
  options.rounding = attrs.rounding_method;
  options.cubic_alpha = attrs.cubic_alpha;
  options.cubic_exclude = attrs.cubic_exclude;
  options.roi = roi_of(in.call, attrs);
  options.extrapolation_value = attrs.extrapolation_value;
  return topi::resize(in[0], in.shape(1), options, in.out_dtype());
}

struct GridAttrs {
  std::string method = "bilinear", layout = "NCHW", padding_mode = "zeros";
  bool align_corners = false;
  static constexpr auto fields() {
    return std::tuple{
        field<&GridAttrs::method>("method", "\"bilinear\", \"nearest\" or \"bicubic\""),
        field<&GridAttrs::layout>("layout", "\"NCHW\""),
        field<&GridAttrs::padding_mode>("padding_mode", "\"zeros\", \"border\" or \"reflection\""),
        field<&GridAttrs::align_corners>("align_corners", "whether -1 and 1 are middles of corner elements")};
  }
};
Type infer_grid_sample(const Call& call, const GridAttrs& attrs, Requirements& require) {
  for (size_t n = 0; n < 2; ++n) require_ndim(call, n, 4);
  const TensorTypeNode *x = tensor_arg(call, 0), *grid = tensor_arg(call, 1);
  require_one_of(call, "method", attrs.method, {"bilinear", "nearest", "bicubic"});
  require_one_of(call, "layout", attrs.layout, {"NCHW"});
  require_one_of(call, "padding_mode", attrs.padding_mode, {"zeros", "border", "reflection"});
  const Shape *shape = known_shape(x), *places = known_shape(grid);
  if (!shape || !places) return tensor_type_of_ndim(4, x->dtype);
  require.equal(Shape{(*places)[0], (*places)[1]}, Shape{(*shape)[0], extent_imm(2)},
                "grid is {}, expected [{}, 2, height, width] for data {}", *places, (*shape)[0], *shape);
  return tensor_type({(*shape)[0], (*shape)[1], (*places)[2], (*places)[3]}, x->dtype);
}
te::Tensor lower_grid_sample(const LowerInput& in, const GridAttrs& attrs) {
  return topi::grid_sample(in[0], in[1], {attrs.method, attrs.padding_mode, attrs.align_corners});
}

struct AffineAttrs {
  bool align_corners = true;
  static constexpr auto fields() {
    return std::tuple{field<&AffineAttrs::align_corners>(
        "align_corners", "whether -1 and 1 are middles of corner elements, else the edges of the picture")};
  }
};
Type infer_affine_grid(const Call& call, const AffineAttrs&, Requirements& require) {
  require_ndim(call, 0, 3);
  const TensorTypeNode* theta = tensor_arg(call, 0);
  int64_t count;
  Shape storage;
  const Shape* size = shape_arg(call, 1, &count, &storage);
  if (count >= 0 && count != 2 && count != 3)
    fail(call, "size has {} extents, expected height and width, or depth, height and width", count);
  const Shape* shape = known_shape(theta);
  const PrimExpr rows = extent_imm(count), columns = extent_imm(count + 1);
  if (shape && count >= 0)
    require.equal(Shape{(*shape)[1], (*shape)[2]}, Shape{rows, columns},
                  "data is {}, expected [batch, {}, {}]", *shape, count, count + 1);
  if (!shape || !size) return tensor_type_of_ndim(count < 0 ? -1 : count + 2, theta->dtype);
  Shape result{(*shape)[0], rows};
  result.insert(result.end(), size->begin(), size->end());
  return tensor_type(std::move(result), theta->dtype);
}
te::Tensor lower_affine_grid(const LowerInput& in, const AffineAttrs& attrs) {
  return topi::affine_grid(in[0], in.shape(1), attrs.align_corners);
}

constexpr OpInfo kOps[] = {
    op<infer_resize<2>, lower_resize<2>, ResizeAttrs<2>>("relax.image.resize2d", "data, size",
                                                         "A picture in another size [height, width].",
                                                         FusePattern::kInjective),
    op<infer_resize<3>, lower_resize<3>, ResizeAttrs<3>>("relax.image.resize3d", "data, size",
                                                         "A volume in another size [depth, height, width].",
                                                         FusePattern::kInjective),
    op<infer_grid_sample, lower_grid_sample, GridAttrs>("relax.image.grid_sample", "data, grid",
                                                        "A picture at the places of a grid.",
                                                        FusePattern::kInjective),
    op<infer_affine_grid, lower_affine_grid, AffineAttrs>("relax.image.affine_grid", "data, size",
                                                          "The grid of an affine map of a picture or volume.",
                                                          FusePattern::kInjective),
};

}  // namespace

extern constinit const OpTable image_info =
    op_table(kOps, "onnx.ai/onnx/operators (Resize 19), torch.nn.functional (grid_sample, affine_grid)");

}  // namespace tilewright::relax
