// Pools.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <cmath>
#include <limits>

#include "tilewright/frontend/onnx/convert_window.h"
#include "tilewright/frontend/onnx/converters/attributes.h"

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

// The smallest value of `dtype`, which is never the maximum of other values.
double least_number(DataType dtype) {
  if (dtype.is_float()) return -std::numeric_limits<double>::infinity();
  return dtype.is_uint() ? 0 : -std::ldexp(1.0, dtype.bits - 1);
}

void max_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  const Window window = pool_window(node, shape_of(node, data));
  const Padded around = padded(importer, node, data, window, least_number(relax::dtype_of(data)));
  importer.emit(node, op_for("max_pool", window.num_spatial()), {around.data},
                pool_attrs(node, window, around.padding));
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

// (the sum of |x|^p of each window)^(1 / p), from the mean times the number of elements, padding included
void lp_pool(Importer& importer, const Node& node) {
  if (int_attr(node, "ceil_mode", 0)) throw Unsupported("ceil_mode = 1 is not supported");
  const Expr given = importer.value(node, 0), x = widened(importer, given);
  const Window window = pool_window(node, shape_of(node, x));
  const int64_t p = int_attr(node, "p", 2);
  const auto scalar = [&](double value) { return importer.builder.emit(number(value, relax::dtype_of(x))); };
  Expr terms = p == 2 ? importer.bind(node, "relax.multiply", {x, x}) : importer.bind(node, "relax.abs", {x});
  if (p > 2) terms = importer.bind(node, "relax.power", {terms, scalar(static_cast<double>(p))});
  const Padded around = padded(importer, node, terms, window, 0);
  ir::AttrMap attrs = pool_attrs(node, window, around.padding);
  attrs.set("count_include_pad", attr(true));
  const Expr means =
      importer.bind(node, op_for("avg_pool", window.num_spatial()), {around.data}, std::move(attrs));
  double count = 1;
  for (int64_t extent : window.kernel) count *= static_cast<double>(extent);
  const Expr sums = importer.bind(node, "relax.multiply", {means, scalar(count)});
  const Expr norm = p == 1   ? sums
                    : p == 2 ? importer.bind(node, "relax.sqrt", {sums})
                             : importer.bind(node, "relax.power", {sums, scalar(1 / static_cast<double>(p))});
  importer.define(node.outputs.at(0), bound_as(importer, norm, relax::dtype_of(given)));
}

template <const char* kOp>
void global_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  std::vector<int64_t> axes;
  for (size_t axis = 2; axis < shape_of(node, data).size(); ++axis)
    axes.push_back(static_cast<int64_t>(axis));
  importer.emit(node, kOp, {data}, {{"axis", attr(axes)}, {"keepdims", attr(true)}});
}
constexpr char kMean[] = "relax.mean", kMax[] = "relax.max";

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

constexpr ConverterRow kRows[] = {
    {"AveragePool", average_pool, 1, 1, kAveragePool},
    {"GlobalAveragePool", global_pool<kMean>, 1, 1},
    {"GlobalMaxPool", global_pool<kMax>, 1, 1},
    {"LpPool", lp_pool, 1, 1, kLpPool},
    {"MaxPool", max_pool, 1, 1, kMaxPool, 1, kFirstOpset, 7},
    {"MaxPool", max_pool, 1, 1, kMaxPool, 2, 8},
};

}  // namespace

extern constinit const ConverterTable pool_info = {kRows};

}  // namespace tilewright::frontend::onnx
