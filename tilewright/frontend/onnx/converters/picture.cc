// Samples and regions of pictures.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/convert_window.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/topi/fold.h"
#include "tilewright/te/topi/image.h"

namespace tilewright::frontend::onnx {
namespace {

using Tensors = std::vector<te::Tensor>;

Expr permuted(Importer& importer, const Node& node, const Expr& x, const std::vector<int64_t>& axes) {
  return importer.bind(node, "relax.permute_dims", {x}, {{"axes", attr(axes)}});
}

// ---- grids

// The graph operator's grid has the coordinates before the positions.
void grid_sample(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0), grid = importer.value(node, 1);
  const size_t ndim = shape_of(node, x).size();
  if (ndim != 4 && ndim != 5)
    throw Unsupported("the input has {}, expected 4 or 5 ([n, c, ...])", count_text(ndim, "dimension"));
  if (shape_of(node, grid).size() != ndim)
    throw UserError("the grid has {}, expected {}", count_text(shape_of(node, grid).size(), "dimension"),
                    ndim);
  for (size_t n = 2; n < ndim; ++n)
    importer.require(node, tir::operator<=(relax::extent_imm(1), relax::as_extent(shape_of(node, x)[n])),
                     "the input is {}, without elements", shape_of(node, x));
  const bool has_new_names = importer.opset >= 20;
  const std::string linear = has_new_names ? "linear" : "bilinear",
                    cubic = has_new_names ? "cubic" : "bicubic";
  const std::string mode = string_attr(node, "mode", linear),
                    padding = string_attr(node, "padding_mode", "zeros");
  require_known_text("mode", mode, {linear, "nearest", cubic});
  require_known_text("padding_mode", padding, {"zeros", "border", "reflection"});
  std::vector<int64_t> axes{0, static_cast<int64_t>(ndim) - 1};
  for (size_t n = 1; n + 1 < ndim; ++n) axes.push_back(static_cast<int64_t>(n));
  importer.emit(node, "relax.image.grid_sample", {x, permuted(importer, node, grid, axes)},
                {{"method", attr(mode == linear  ? "bilinear"
                                 : mode == cubic ? "bicubic"
                                                 : "nearest")},
                 {"layout", attr(ndim == 4 ? "NCHW" : "NCDHW")},
                 {"padding_mode", attr(padding)},
                 {"align_corners", attr(int_attr(node, "align_corners", 0) != 0)}});
}

void affine_grid(Importer& importer, const Node& node) {
  const Expr theta = importer.value(node, 0);
  const relax::Shape size = importer.require_known(node, 1), &batch = shape_of(node, theta);
  if (size.size() != 4 && size.size() != 5)
    throw UserError("size has {}, expected 4 or 5 ([n, c, ...])", count_text(size.size(), "number"));
  if (!batch.empty())
    importer.require(node, tir::equal(relax::as_extent(batch[0]), relax::as_extent(size[0])),
                     "theta is {}, but size is {}", batch, size);
  for (const ir::PrimExpr& extent : size)
    importer.require(node, tir::operator<=(relax::extent_imm(0), relax::as_extent(extent)),
                     "size is {}, with a negative extent", size);
  const relax::Shape extents(size.begin() + 2, size.end());
  const Expr grid = importer.bind(node, "relax.image.affine_grid", {theta, relax::shape_expr(extents)},
                                  {{"align_corners", attr(int_attr(node, "align_corners", 0) != 0)}});
  std::vector<int64_t> axes{0};
  for (size_t n = 0; n < extents.size(); ++n) axes.push_back(static_cast<int64_t>(n) + 2);
  axes.push_back(1);
  importer.define(node.outputs.at(0), permuted(importer, node, grid, axes));
}

// ---- regions

// Regions are pooled in float32.
void emit_regions(Importer& importer, const Node& node, std::string_view op, const Expr& regions,
                  ir::AttrMap attrs) {
  const Expr x = importer.value(node, 0);
  const Expr pooled = importer.bind(node, op, {bound_as(importer, x, kFloat32), regions}, std::move(attrs));
  importer.define(node.outputs.at(0), bound_as(importer, pooled, relax::dtype_of(x)));
}

void roi_align(Importer& importer, const Node& node) {
  const Expr corners = bound_as(importer, importer.value(node, 1), kFloat32),
             images = bound_as(importer, importer.value(node, 2), kFloat32);
  const std::string mode = string_attr(node, "mode", "avg"),
                    coordinates = string_attr(node, "coordinate_transformation_mode",
                                              importer.opset >= 16 ? "half_pixel" : "output_half_pixel");
  require_known_text("mode", mode, {"avg", "max"});
  require_known_text("coordinate_transformation_mode", coordinates, {"half_pixel", "output_half_pixel"});
  const Expr column =
      importer.bind(node, "relax.expand_dims", {images}, {{"axis", attr(std::vector<int64_t>{1})}});
  const Expr regions =
      importer.bind(node, "relax.concat", {relax::TupleNode::make(std::vector<Expr>{column, corners})},
                    {{"axis", attr(1)}});
  const std::vector<int64_t> size{int_attr(node, "output_height", 1), int_attr(node, "output_width", 1)};
  emit_regions(importer, node, "relax.vision.roi_align", regions,
               {{"pooled_size", attr(size)},
                {"spatial_scale", attr(float_attr(node, "spatial_scale", 1))},
                {"sample_ratio", attr(int_attr(node, "sampling_ratio", 0))},
                {"aligned", attr(coordinates == "half_pixel")},
                {"mode", attr(mode == "max" ? "max_of_terms" : mode)}});
}

void max_roi_pool(Importer& importer, const Node& node) {
  emit_regions(importer, node, "relax.vision.roi_pool", bound_as(importer, importer.value(node, 1), kFloat32),
               {{"pooled_size", attr(numbers_attr(node, "pooled_shape", 2, 1))},
                {"spatial_scale", attr(float_attr(node, "spatial_scale", 1))}});
}

// ---- windows

// The number of windows along a dimension of extent `extent` with `padding` elements around it.
ir::PrimExpr num_windows(const ir::PrimExpr& extent, int64_t padding, int64_t covered, int64_t stride) {
  return arith::simplify(
      tir::operator+(tir::floordiv(tir::operator+(extent, padding - covered), stride), int64_t{1}));
}

void col_to_im(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const relax::Shape &shape = shape_of(node, x), size = importer.require_known(node, 1);
  const Window window = window_of(node, importer.require_ints(node, 2));
  const size_t count = size.size();
  if (shape.size() != 3)
    throw UserError("the input has {}, expected 3", count_text(shape.size(), "dimension"));
  if (window.num_spatial() != count)
    throw UserError("image_shape has {}, but block_shape has {}", count_text(count, "number"),
                    window.num_spatial());
  if (!std::all_of(window.kernel.begin(), window.kernel.end(), [](int64_t extent) { return extent >= 1; }))
    throw UserError("block_shape is [{}], expected at least 1", fmt::join(window.kernel, ", "));
  std::vector<int64_t> before = numbers_attr(node, "pads", 2 * count, 0);
  topi::Blocks blocks{window.kernel, window.strides, window.dilations, before, {}};
  int64_t elements = 1;
  for (size_t n = 0; n < count; ++n) {
    blocks.counts.push_back(
        num_windows(size[n], before[n] + before[n + count], window.covered(n), window.strides[n]));
    importer.require(node, tir::operator<=(relax::extent_imm(0), blocks.counts[n]),
                     "blocks of {} elements are larger than the picture {}", window.covered(n), size);
    elements *= window.kernel[n];
  }
  importer.require(node,
                   tir::equal(tir::floormod(relax::as_extent(shape[1]), elements), relax::extent_imm(0)),
                   "dimension 1 of {} is not a multiple of blocks of {} elements", shape, elements);
  importer.require(node, tir::equal(relax::as_extent(shape[2]), relax::num_elements(blocks.counts)),
                   "the input is {}, but there are {} blocks", shape, blocks.counts);
  const relax::TeFunction compute = [&](const Tensors& args) -> Tensors {
    return {topi::fold(args[0], size, blocks)};
  };
  importer.define(node.outputs.at(0), importer.builder.emit_te("fold", compute, {x}));
}

void center_crop_pad(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const relax::Shape from = shape_of(node, x), wanted = importer.require_known(node, 1);
  std::vector<int64_t> axes(from.size());
  for (size_t n = 0; n < axes.size(); ++n) axes[n] = static_cast<int64_t>(n);
  axes = ints_attr(node, "axes", axes);
  if (wanted.size() != axes.size())
    throw UserError("shape has {}, expected {}", count_text(wanted.size(), "number"), axes.size());
  relax::Shape result = from, first(from.size(), relax::extent_imm(0));  // of x, before 0 in the padding
  for (size_t n = 0; n < axes.size(); ++n) {
    const auto axis = static_cast<size_t>(checked_axis(axes[n], from.size()));
    const ir::PrimExpr missing = tir::operator-(wanted[n], from[axis]);
    importer.require(node, tir::operator<=(relax::extent_imm(0), relax::as_extent(wanted[n])),
                     "shape is {}, with a negative extent", wanted);
    result[axis] = wanted[n];
    // both halves are rounded down
    const ir::PrimExpr zero = relax::extent_imm(0);
    first[axis] = importer.facts.simplify(
        tir::operator-(tir::floordiv(tir::max(tir::operator-(missing), zero), int64_t{2}),
                       tir::floordiv(tir::max(missing, zero), int64_t{2})));
  }
  const relax::TeFunction compute = [&](const Tensors& args) -> Tensors {
    return {te::compute(result,
                        [&](const std::vector<tir::Var>& i) {
                          std::vector<ir::PrimExpr> at;
                          ir::PrimExpr inside = tir::bool_imm(true);
                          for (size_t n = 0; n < i.size(); ++n) {
                            at.push_back(tir::operator+(i[n], first[n]));
                            inside = tir::logical_and(inside, tir::operator<=(relax::extent_imm(0), at[n]));
                            inside = tir::logical_and(inside, tir::operator<(at[n], from[n]));
                          }
                          const ir::PrimExpr element = args[0].at(at);
                          return tir::call(element->dtype, "if_then_else",
                                           {inside, element, tir::make_const_int(element->dtype, 0)});
                        },
                        {.name = "T_center"})};
  };
  importer.define(node.outputs.at(0), importer.builder.emit_te("center_crop_pad", compute, {x}));
}

// ---- deformable convolution

/// The inputs of DeformConv, and what follows from their shapes.
struct Deformed {
  Expr x, weight, offset, mask;
  relax::Shape shape, weights;
  topi::DeformedWindows windows;
  int64_t groups = 1, elements = 1;
};

int64_t constant_of(const relax::Shape& shape, size_t axis, std::string_view what) {
  int64_t extent;
  if (!tir::as_const_int(shape.at(axis), &extent))
    throw Unsupported("dimension {} of the {} is known only at run time", axis, what);
  return extent;
}

Deformed deformed_of(Importer& importer, const Node& node) {
  Deformed d{importer.value(node, 0),
             importer.value(node, 1),
             importer.value(node, 2),
             importer.value(node, 4),
             {},
             {},
             {}};
  d.shape = shape_of(node, d.x), d.weights = shape_of(node, d.weight);
  const size_t count = num_spatial_of(d.shape);
  if (d.weights.size() != d.shape.size())
    throw UserError("the input has {}, the weight {}", count_text(d.shape.size(), "dimension"),
                    d.weights.size());
  std::vector<int64_t> kernel;
  for (size_t n = 2; n < d.weights.size(); ++n) kernel.push_back(constant_of(d.weights, n, "weight"));
  if (node.find("kernel_shape") && ints_attr(node, "kernel_shape", {}) != kernel)
    throw UserError("attribute \"kernel_shape\" is {}, but the weight has windows of {}",
                    ints_attr(node, "kernel_shape", {}), kernel);
  const Window window = window_of(node, kernel);
  const std::vector<int64_t> pads = numbers_attr(node, "pads", 2 * count, 0);
  d.windows = {window.kernel, window.strides, window.dilations, pads, {}, int_attr(node, "offset_group", 1)};
  d.groups = int_attr(node, "group", 1);
  for (size_t n = 0; n < count; ++n) {
    d.elements *= kernel[n];
    d.windows.extents.push_back(
        num_windows(d.shape[n + 2], pads[n] + pads[n + count], window.covered(n), window.strides[n]));
    importer.require(node, tir::operator<=(relax::extent_imm(0), d.windows.extents[n]),
                     "the window of {} is larger than the input {}", window.covered(n), d.shape);
    importer.require(node, tir::operator<=(relax::extent_imm(1), relax::as_extent(d.shape[n + 2])),
                     "the input is {}, without elements", d.shape);
  }
  return d;
}

// Requires offset or mask to have `per_element` numbers for each element of a window.
void require_field(Importer& importer, const Node& node, const Deformed& d, const Expr& field,
                   int64_t per_element, std::string_view what) {
  relax::Shape expected{d.shape[0], relax::extent_imm(d.windows.groups * d.elements * per_element)};
  expected.insert(expected.end(), d.windows.extents.begin(), d.windows.extents.end());
  importer.require(node, relax::is_same_shape(shape_of(node, field), expected), "the {} is {}, expected {}",
                   what, shape_of(node, field), expected);
}

// The elements of the windows, [n, groups, windows, elements * channels of a group], times the weights.
void deform_conv(Importer& importer, const Node& node) {
  const Deformed d = deformed_of(importer, node);
  const int64_t outputs = constant_of(d.weights, 0, "weight"), channels = constant_of(d.weights, 1, "weight");
  importer.require(node, tir::equal(relax::as_extent(d.shape[1]), relax::extent_imm(channels * d.groups)),
                   "the input is {}, but the weight is {} for {} groups", d.shape, d.weights, d.groups);
  if (outputs % d.groups != 0 || channels * d.groups % d.windows.groups != 0)
    throw UserError("{} outputs in {} groups, {} channels in {} groups of offsets", outputs, d.groups,
                    channels * d.groups, d.windows.groups);
  require_field(importer, node, d, d.offset, static_cast<int64_t>(d.windows.kernel.size()), "offset");
  std::vector<Expr> args{d.x, d.offset};
  if (d.mask) {
    require_field(importer, node, d, d.mask, 1, "mask");
    args.push_back(d.mask);
  }
  const relax::Shape size(d.shape.begin() + 2, d.shape.end());
  const relax::TeFunction compute = [&](const Tensors& tensors) -> Tensors {
    return {
        topi::deformed_columns(tensors[0], size, tensors[1], d.mask ? tensors[2] : te::Tensor(), d.windows)};
  };
  const auto extent = [&](const ir::PrimExpr& given) { return importer.facts.simplify(given); };
  const ir::PrimExpr count = extent(relax::num_elements(d.windows.extents)),
                     places = extent(relax::num_elements(size)), elements = relax::extent_imm(d.elements),
                     groups = relax::extent_imm(d.groups), own = relax::extent_imm(channels),
                     results = relax::extent_imm(outputs / d.groups),
                     sums = relax::extent_imm(channels * d.elements);
  // channels last, in the windows as well as in their elements
  args[0] =
      permuted(importer, node, importer.reshaped(node, d.x, {d.shape[0], d.shape[1], places}), {0, 2, 1});
  Expr columns = importer.builder.emit_te("deformed_columns", compute, args);
  Expr weight = permuted(importer, node, importer.reshaped(node, d.weight, {groups, results, own, elements}),
                         {0, 3, 2, 1});
  weight = importer.reshaped(node, weight, {groups, sums, results});
  columns = importer.reshaped(node, columns, {d.shape[0], count, elements, groups, own});
  if (d.groups > 1) columns = permuted(importer, node, columns, {0, 3, 1, 2, 4});
  columns = importer.reshaped(node, columns, {d.shape[0], groups, count, sums});
  const Expr product =
      permuted(importer, node, importer.bind(node, "relax.matmul", {columns, weight}), {0, 1, 3, 2});
  relax::Shape result{d.shape[0], relax::extent_imm(outputs)};
  result.insert(result.end(), d.windows.extents.begin(), d.windows.extents.end());
  importer.define(node.outputs.at(0), with_channels(importer, node, importer.reshaped(node, product, result),
                                                    importer.value(node, 3)));
}

void image_decoder(Importer&, const Node&) {
  throw Unsupported("a compressed picture (JPEG, PNG, ...) is no tensor to compute with")
      .help("decode it before, e.g. with PIL, and give the model its pixels");
}

constexpr AttributeRule kAffineGrid[] = {flag("align_corners")};
constexpr AttributeRule kCenterCropPad[] = {{"axes", Attribute::kInts}};
constexpr AttributeRule kCol2Im[] = {extents("dilations", 1), extents("pads", 0), extents("strides", 1)};
constexpr AttributeRule kDeformConv[] = {
    extents("dilations", 1),    {"group", Attribute::kInt, 1, kMostExtent},
    extents("kernel_shape", 1), {"offset_group", Attribute::kInt, 1, kMostExtent},
    extents("pads", 0),         extents("strides", 1)};
constexpr AttributeRule kGridSample[] = {
    flag("align_corners"), {"mode", Attribute::kString}, {"padding_mode", Attribute::kString}};
constexpr AttributeRule kImageDecoder[] = {{"pixel_format", Attribute::kString}};
constexpr AttributeRule kMaxRoiPool[] = {
    {"pooled_shape", Attribute::kInts, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"spatial_scale", Attribute::kFloat}};
constexpr AttributeRule kRoiAlign[] = {
    {"coordinate_transformation_mode", Attribute::kString, kAnyLeast, kAnyMost, 16},
    {"mode", Attribute::kString},
    {"output_height", Attribute::kInt, 1, kMostExtent},
    {"output_width", Attribute::kInt, 1, kMostExtent},
    {"sampling_ratio", Attribute::kInt, 0, kMostExtent},
    {"spatial_scale", Attribute::kFloat}};

constexpr ConverterRow kRows[] = {
    {"AffineGrid", affine_grid, 2, 2, kAffineGrid, 1, 20},
    {"CenterCropPad", center_crop_pad, 2, 2, kCenterCropPad, 1, 18},
    {"Col2Im", col_to_im, 3, 3, kCol2Im, 1, 18},
    {"DeformConv", deform_conv, 3, 5, kDeformConv, 1, 19},
    {"GridSample", grid_sample, 2, 2, kGridSample, 1, 16},
    {"ImageDecoder", image_decoder, 1, 1, kImageDecoder, 1, 20},
    {"MaxRoiPool", max_roi_pool, 2, 2, kMaxRoiPool},
    {"RoiAlign", roi_align, 3, 3, kRoiAlign, 1, 10},
};

}  // namespace

extern constinit const ConverterTable picture_info = {kRows};

}  // namespace tilewright::frontend::onnx
