// Pools.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <cmath>
#include <limits>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/convert_window.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/topi/pool_indices.h"

namespace tilewright::frontend::onnx {
namespace {

ir::AttrMap pool_attrs(const Node& node, const Window& window, const std::vector<int64_t>& padding) {
  return {{"pool_size", attr(window.kernel)},
          {"strides", attr(window.strides)},
          {"dilation", attr(window.dilations)},
          {"padding", attr(padding)},
          {"ceil_mode", attr(int_attr(node, "ceil_mode", 0) != 0)}};
}

Window pool_window(const Node& node, const relax::Shape& data) {
  return window_of(node, numbers_attr(node, "kernel_shape", num_spatial_of(data), 1));
}

std::vector<int64_t> spatial_axes(const relax::Shape& shape) {
  std::vector<int64_t> axes;
  for (size_t axis = 2; axis < shape.size(); ++axis) axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

// The smallest value of `dtype`, which is never the maximum of other values.
double least_number(DataType dtype) {
  if (dtype.is_float()) return -std::numeric_limits<double>::infinity();
  return dtype.is_uint() ? 0 : -std::ldexp(1.0, dtype.bits - 1);
}

// The windows of `node` over `data`; `pooled` has their number.
topi::Windows windows_of(const Node& node, const relax::Shape& data, const Window& window,
                         const Expr& pooled) {
  const relax::Shape& shape = shape_of(node, pooled);
  return {window.kernel, window.strides, window.dilations, padding_before(node, data, window),
          relax::Shape(shape.begin() + 2, shape.end())};
}

void max_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  const relax::Shape shape = shape_of(node, data);
  const Window window = pool_window(node, shape);
  const Padded around = padded(importer, node, data, window, least_number(relax::dtype_of(data)));
  const Expr largest = importer.bind(node, op_for("max_pool", window.num_spatial()), {around.data},
                                     pool_attrs(node, window, around.padding));
  if (node.outputs.size() < 2 || node.outputs[1].empty()) return importer.define(node.outputs.at(0), largest);
  // `largest` is for its extents and what it requires of them
  const topi::Windows windows = windows_of(node, shape, window, largest);
  const bool is_column_major = int_attr(node, "storage_order", 0) != 0;
  const relax::TeFunction compute = [&](const std::vector<te::Tensor>& args) {
    return topi::max_pool_with_indices(args[0], windows, is_column_major);
  };
  importer.define_fields(node, importer.builder.emit_te("max_pool_with_indices", compute, {data}));
}

void average_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  const relax::Shape shape = shape_of(node, data);
  const Window window = pool_window(node, shape);
  const bool counts_padding = int_attr(node, "count_include_pad", 0) != 0;
  const auto averages = [&](const Padded& around, bool counts) {
    ir::AttrMap attrs = pool_attrs(node, window, around.padding);
    attrs.set("count_include_pad", attr(counts));
    return importer.bind(node, op_for("avg_pool", window.num_spatial()), {around.data}, std::move(attrs));
  };
  const Padded around = padded(importer, node, data, window, 0);
  if (around.data == data) return importer.define(node.outputs.at(0), averages(around, counts_padding));
  // the operator does not know this padding: corrects for the part of each window that is data
  const Expr means = averages(around, true);
  if (counts_padding) return importer.define(node.outputs.at(0), means);
  relax::Shape plane = shape;
  plane[0] = plane[1] = relax::extent_imm(1);
  const Expr ones =
      importer.bind(node, "relax.full", {relax::shape_expr(plane), number(1, relax::dtype_of(data))});
  importer.emit(node, "relax.divide", {means, averages(padded(importer, node, ones, window, 0), true)});
}

// x^p of numbers that are not negative
Expr raised(Importer& importer, const Node& node, const Expr& x, double p) {
  if (p == 1) return x;
  if (p == 2) return importer.bind(node, "relax.multiply", {x, x});
  if (p == 0.5) return importer.bind(node, "relax.sqrt", {x});
  return importer.bind(node, "relax.power", {x, importer.builder.emit(number(p, relax::dtype_of(x)))});
}

Expr sums_of_windows(Importer& importer, const Node& node, const Expr& terms, const Window& window) {
  const Padded around = padded(importer, node, terms, window, 0);
  ir::AttrMap attrs = pool_attrs(node, window, around.padding);
  attrs.set("count_include_pad", attr(true));
  const Expr means =
      importer.bind(node, op_for("avg_pool", window.num_spatial()), {around.data}, std::move(attrs));
  if (int_attr(node, "ceil_mode", 0)) {  // means leave out what ceil_mode adds beyond the padding
    const topi::Windows windows = windows_of(node, shape_of(node, terms), window, means);
    const relax::TeFunction compute = [&](const std::vector<te::Tensor>& args) -> std::vector<te::Tensor> {
      return {topi::window_sums(args[0], windows)};
    };
    return importer.builder.emit_te("window_sums", compute, {terms});
  }
  double count = 1;
  for (int64_t extent : window.kernel) count *= static_cast<double>(extent);
  return importer.bind(node, "relax.multiply",
                       {means, importer.builder.emit(number(count, relax::dtype_of(means)))});
}

// (the sum of |x|^p)^(1 / p), of each window or of each picture
template <bool kIsGlobal>
void lp_pool(Importer& importer, const Node& node) {
  const Expr given = importer.value(node, 0), x = widened(importer, given);
  const auto p = static_cast<double>(int_attr(node, "p", 2));
  const relax::Shape shape = shape_of(node, x);
  const Expr terms = raised(importer, node, p == 2 ? x : importer.bind(node, "relax.abs", {x}), p);
  const Expr sums = kIsGlobal ? importer.bind(node, "relax.sum", {terms},
                                              {{"axis", attr(spatial_axes(shape))}, {"keepdims", attr(true)}})
                              : sums_of_windows(importer, node, terms, pool_window(node, shape));
  importer.define(node.outputs.at(0),
                  bound_as(importer, raised(importer, node, sums, 1 / p), relax::dtype_of(given)));
}

template <const char* kOp>
void global_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  importer.emit(node, kOp, {data},
                {{"axis", attr(spatial_axes(shape_of(node, data)))}, {"keepdims", attr(true)}});
}
constexpr char kMean[] = "relax.mean", kMax[] = "relax.max";

// The extents that MaxPool had before: each window begins a stride after the one before it.
relax::Shape unpooled_shape(const Node& node, const relax::Shape& data, const Window& window) {
  const size_t count = window.num_spatial();
  const std::vector<int64_t> pads = numbers_attr(node, "pads", 2 * count, 0);
  relax::Shape shape{data[0], data[1]};
  for (size_t n = 0; n < count; ++n) {
    const int64_t beyond = window.kernel[n] - window.strides[n] - pads[n] - pads[n + count];
    shape.push_back(arith::simplify(tir::operator+(tir::operator*(data[n + 2], window.strides[n]), beyond)));
  }
  return shape;
}

// `x` with zeros after it, or cropped, in each dimension.
Expr with_zeros_after(Importer& importer, const Expr& x, const relax::Shape& result) {
  const relax::TeFunction compute = [&](const std::vector<te::Tensor>& args) -> std::vector<te::Tensor> {
    return {te::compute(result,
                        [&](const std::vector<tir::Var>& i) {
                          ir::PrimExpr inside = tir::bool_imm(true);
                          for (size_t n = 0; n < i.size(); ++n)
                            inside = tir::logical_and(inside, tir::operator<(i[n], args[0].shape()[n]));
                          const ir::PrimExpr element = args[0].at({i.begin(), i.end()});
                          return tir::call(element->dtype, "if_then_else",
                                           {inside, element, tir::make_const_int(element->dtype, 0)});
                        },
                        {.name = "T_zeros_after"})};
  };
  return importer.builder.emit_te("zeros_after", compute, {x});
}

// Elements at their places, zeros elsewhere.
void max_unpool(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0), places = importer.value(node, 1);
  const relax::Shape data = shape_of(node, x), given = shape_of(node, places);
  importer.require(node, relax::is_same_shape(data, given), "the input is {}, but its indices are {}", data,
                   given);
  const relax::Shape shape = unpooled_shape(node, data, pool_window(node, data));
  for (const ir::PrimExpr& extent : shape)
    importer.require(node, tir::operator<=(relax::extent_imm(0), extent),
                     "the result would be {}, with a negative extent", shape);
  const ir::PrimExpr count = importer.facts.simplify(relax::num_elements(data)),
                     size = importer.facts.simplify(relax::num_elements(shape));
  const Expr list =
      importer.bind(node, "relax.require_indices",
                    {importer.reshaped(node, places, {count}), relax::shape_expr({size}),
                     scalar_value(relax::extent_imm(0)), relax::StringValueNode::make(node.shown())});
  const relax::TeFunction compute = [&](const std::vector<te::Tensor>& args) -> std::vector<te::Tensor> {
    return {topi::spread(args[0], args[1], size)};
  };
  const Expr spread =
      importer.builder.emit_te("spread", compute, {importer.reshaped(node, x, {count}), list});
  const Expr whole = importer.reshaped(node, spread, shape);
  if (!importer.has_input(node, 2)) return importer.define(node.outputs.at(0), whole);
  const relax::Shape wanted = importer.require_known(node, 2);
  if (wanted.size() != shape.size())
    throw UserError("output_shape has {}, expected {}", count_text(wanted.size(), "number"), shape.size());
  importer.define(node.outputs.at(0), with_zeros_after(importer, whole, wanted));
}

constexpr AttributeRule kKernelShape = {"kernel_shape", Attribute::kInts, 1,   kMostExtent,
                                        kFirstOpset,    kLastOpset,       true};
constexpr AttributeRule kMaxPool[] = {
    kAutoPad,           flag("ceil_mode", 10),    extents("dilations", 1, 10), kKernelShape,
    extents("pads", 0), flag("storage_order", 8), extents("strides", 1)};
constexpr AttributeRule kAveragePool[] = {
    kAutoPad,     flag("ceil_mode", 10), flag("count_include_pad"), extents("dilations", 1, 19),
    kKernelShape, extents("pads", 0),    extents("strides", 1)};
constexpr AttributeRule kLpPool[] = {
    kAutoPad,     flag("ceil_mode", 18), extents("dilations", 1, 18), {"p", Attribute::kInt, 1},
    kKernelShape, extents("pads", 0),    extents("strides", 1)};

constexpr AttributeRule kGlobalLpPool[] = {{"p", Attribute::kInt, 1}};
constexpr AttributeRule kMaxUnpool[] = {kKernelShape, extents("pads", 0), extents("strides", 1)};

constexpr ConverterRow kRows[] = {
    {"AveragePool", average_pool, 1, 1, kAveragePool},
    {"GlobalAveragePool", global_pool<kMean>, 1, 1},
    {"GlobalMaxPool", global_pool<kMax>, 1, 1},
    {"GlobalLpPool", lp_pool<true>, 1, 1, kGlobalLpPool},
    {"LpPool", lp_pool<false>, 1, 1, kLpPool},
    {"MaxPool", max_pool, 1, 1, kMaxPool, 1, kFirstOpset, 7},
    {"MaxPool", max_pool, 1, 1, kMaxPool, 2, 8, kLastOpset, 2},
    {"MaxUnpool", max_unpool, 2, 3, kMaxUnpool, 1, 9},
};

}  // namespace

extern constinit const ConverterTable pool_info = {kRows};

}  // namespace tilewright::frontend::onnx
