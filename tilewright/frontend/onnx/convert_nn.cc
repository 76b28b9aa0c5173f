// Convolutions, pooling, Gemm.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/frontend/onnx/convert.h"
#include "tilewright/relax/op_util.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::frontend::onnx {
namespace {

int64_t constant_extent(const relax::Shape& shape, size_t axis) {
  int64_t extent;
  if (!tir::as_const_int(shape.at(axis), &extent))
    throw Unsupported("dimension {} is known only at run time, which auto_pad needs", axis);
  return extent;
}

// An attribute with `count` numbers, e.g. one per spatial dimension.
std::vector<int64_t> numbers_attr(const Node& node, std::string_view name, size_t count, int64_t otherwise) {
  const std::vector<int64_t> numbers = ints_attr(node, name, std::vector<int64_t>(count, otherwise));
  if (numbers.size() != count)
    throw UserError("attribute \"{}\" has {} number{}, expected {}", name, numbers.size(),
                    numbers.size() == 1 ? "" : "s", count);
  return numbers;
}

/// How a window moves over the spatial dimensions of `data`, [n, c, spatial ...].
struct Window {
  std::vector<int64_t> kernel, strides, dilations;
  size_t num_spatial() const { return kernel.size(); }
};

Window window_of(const Node& node, std::vector<int64_t> kernel) {
  const size_t count = kernel.size();
  return {std::move(kernel), numbers_attr(node, "strides", count, 1),
          numbers_attr(node, "dilations", count, 1)};
}

// `total` on both sides of each dimension; the odd one is after with SAME_UPPER, before with SAME_LOWER.
std::vector<int64_t> halved(const std::vector<int64_t>& total, bool is_lower) {
  std::vector<int64_t> pads(2 * total.size());
  for (size_t n = 0; n < total.size(); ++n) {
    const int64_t smaller = total[n] / 2, larger = total[n] - smaller;
    pads[n] = is_lower ? larger : smaller;
    pads[n + total.size()] = is_lower ? smaller : larger;
  }
  return pads;
}

std::string auto_pad_of(const Node& node) {
  const std::string mode = string_attr(node, "auto_pad", "NOTSET");
  require_known_text("auto_pad", mode, {"NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID"});
  return mode;
}

// All before, then all after: [top, left, bottom, right]
std::vector<int64_t> padding_of(const Node& node, const relax::Shape& data, const Window& window) {
  const std::string mode = auto_pad_of(node);
  const size_t count = window.num_spatial();
  if (mode == "VALID") return std::vector<int64_t>(2 * count);
  if (mode == "NOTSET") return numbers_attr(node, "pads", 2 * count, 0);
  std::vector<int64_t> total;
  for (size_t axis = 0; axis < count; ++axis) {
    const int64_t extent = constant_extent(data, axis + 2), stride = window.strides[axis];
    const int64_t outputs = (extent + stride - 1) / stride;
    const int64_t reach = (outputs - 1) * stride + (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    total.push_back(std::max<int64_t>(0, reach - extent));
  }
  return halved(total, mode == "SAME_LOWER");
}

size_t num_spatial_of(const relax::Shape& shape, std::string_view what = "input") {
  if (shape.size() < 3 || shape.size() > 5)
    throw Unsupported("the {} has {} dimensions, expected 3 to 5 ([n, c, ...])", what, shape.size());
  return shape.size() - 2;
}

// "relax.nn.conv" + "2d"
std::string op_for(std::string_view stem, size_t num_spatial, std::string_view ending = "") {
  return fmt::format("relax.nn.{}{}d{}", stem, num_spatial, ending);
}

std::vector<int64_t> kernel_of_weight(const Node& node, const relax::Shape& weight) {
  std::vector<int64_t> kernel;
  for (size_t axis = 2; axis < weight.size(); ++axis) kernel.push_back(constant_extent(weight, axis));
  if (node.find("kernel_shape") && ints_attr(node, "kernel_shape", {}) != kernel)
    throw UserError("attribute \"kernel_shape\" is {}, but the weight has windows of {}",
                    ints_attr(node, "kernel_shape", {}), kernel);
  return kernel;
}

Window window_of_weight(const Node& node, const relax::Shape& data, const relax::Shape& weight) {
  if (num_spatial_of(weight, "weight") != num_spatial_of(data))
    throw UserError("the input has {} dimensions, the weight {}", data.size(), weight.size());
  return window_of(node, kernel_of_weight(node, weight));
}

void conv(Importer& importer, const Node& node) {
  const Expr sums = convolution(importer, node, importer.value(node, 0), importer.value(node, 1));
  importer.define(node.outputs.at(0), with_channels(importer, node, sums, importer.value(node, 2)));
}

// Without padding the extent is stride * (extent - 1) + (kernel - 1) * dilation + 1 + output_padding.  What a
// wanted extent lacks goes into *output_padding.
std::vector<int64_t> transposed_padding(const Node& node, const relax::Shape& data, const Window& window,
                                        std::vector<int64_t>* output_padding) {
  const std::string mode = auto_pad_of(node);
  const size_t count = window.num_spatial();
  const bool has_shape = node.find("output_shape") != nullptr, is_same = mode.starts_with("SAME");
  if (!has_shape && mode == "VALID") return std::vector<int64_t>(2 * count);
  if (!has_shape && !is_same) return numbers_attr(node, "pads", 2 * count, 0);
  const std::vector<int64_t> wanted = numbers_attr(node, "output_shape", count, 0);
  std::vector<int64_t> total;
  for (size_t axis = 0; axis < count; ++axis) {
    const int64_t extent = constant_extent(data, axis + 2), stride = window.strides[axis];
    const int64_t whole = stride * (extent - 1) + (window.kernel[axis] - 1) * window.dilations[axis] + 1 +
                          (*output_padding)[axis];
    const int64_t surplus = whole - (has_shape ? wanted[axis] : extent * stride);
    total.push_back(std::max<int64_t>(0, surplus));
    (*output_padding)[axis] += std::max<int64_t>(0, -surplus);
  }
  return halved(total, mode != "SAME_UPPER");
}

void conv_transpose(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0), weight = importer.value(node, 1);
  const relax::Shape shape = shape_of(node, data);
  const Window window = window_of_weight(node, shape, shape_of(node, weight));
  std::vector<int64_t> output_padding = numbers_attr(node, "output_padding", window.num_spatial(), 0);
  const std::vector<int64_t> padding = transposed_padding(node, shape, window, &output_padding);
  const Expr sums = importer.bind(node, op_for("conv", window.num_spatial(), "_transpose"), {data, weight},
                                  {{"strides", attr(window.strides)},
                                   {"dilation", attr(window.dilations)},
                                   {"groups", attr(int_attr(node, "group", 1))},
                                   {"output_padding", attr(output_padding)},
                                   {"padding", attr(padding)}});
  importer.define(node.outputs.at(0), with_channels(importer, node, sums, importer.value(node, 2)));
}

ir::AttrMap pool_attrs(const Node& node, const relax::Shape& data) {
  const Window window = window_of(node, numbers_attr(node, "kernel_shape", num_spatial_of(data), 1));
  return {{"pool_size", attr(window.kernel)},
          {"strides", attr(window.strides)},
          {"dilation", attr(window.dilations)},
          {"padding", attr(padding_of(node, data, window))},
          {"ceil_mode", attr(int_attr(node, "ceil_mode", 0) != 0)}};
}

void max_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  const relax::Shape shape = shape_of(node, data);
  importer.emit(node, op_for("max_pool", num_spatial_of(shape)), {data}, pool_attrs(node, shape));
}

void average_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  const relax::Shape shape = shape_of(node, data);
  ir::AttrMap attrs = pool_attrs(node, shape);
  attrs.set("count_include_pad", attr(int_attr(node, "count_include_pad", 0) != 0));
  importer.emit(node, op_for("avg_pool", num_spatial_of(shape)), {data}, std::move(attrs));
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

// alpha * A' * B' + beta * C
void gemm(Importer& importer, const Node& node) {
  auto operand = [&](size_t input, const char* transposed) {
    const Expr value = importer.value(node, input);
    return int_attr(node, transposed, 0) ? importer.bind(node, "relax.permute_dims", {value},
                                                         {{"axes", attr(std::vector<int64_t>{1, 0})}})
                                         : value;
  };
  auto scaled = [&](Expr value, double factor) {
    return factor == 1.0
               ? value
               : importer.bind(node, "relax.multiply", {value, number(factor, relax::dtype_of(value))});
  };
  const Expr a = operand(0, "transA"), b = operand(1, "transB");
  const double alpha = float_attr(node, "alpha", 1);
  const DataType dtype = relax::dtype_of(a), sums = topi::dtype_of_sums(dtype);
  ir::AttrMap attrs;
  // sums that alpha makes small may be larger than what the dtype holds
  if (alpha != 1 && sums != dtype) attrs.set("out_dtype", attr(sums.str()));
  Expr result = scaled(importer.bind(node, "relax.matmul", {a, b}, std::move(attrs)), alpha);
  result = bound_as(importer, result, dtype);
  if (const Expr c = importer.value(node, 2)) {
    const relax::Shape &given = shape_of(node, c), &shape = shape_of(node, result);
    importer.require(node, relax::broadcasts_to(given, shape), "C is {}, which does not broadcast to {}",
                     given, shape);
    result = importer.bind(node, "relax.add", {result, scaled(c, float_attr(node, "beta", 1))});
  }
  importer.define(node.outputs.at(0), result);
}

constexpr ConverterRow kConverters[] = {
    {"AveragePool", average_pool},
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"Gemm", gemm},
    {"GlobalAveragePool", global_pool<kMean>},
    {"GlobalMaxPool", global_pool<kMax>},
    {"MaxPool", max_pool},
};

}  // namespace

Expr convolution(Importer& importer, const Node& node, const Expr& data, const Expr& weight) {
  const relax::Shape shape = shape_of(node, data);
  const Window window = window_of_weight(node, shape, shape_of(node, weight));
  return importer.bind(node, op_for("conv", window.num_spatial()), {data, weight},
                       {{"strides", attr(window.strides)},
                        {"dilation", attr(window.dilations)},
                        {"groups", attr(int_attr(node, "group", 1))},
                        {"padding", attr(padding_of(node, shape, window))}});
}

Expr with_channels(Importer& importer, const Node& node, const Expr& value, const Expr& bias) {
  if (!bias) return value;
  const relax::Shape &given = shape_of(node, bias), &shape = shape_of(node, value);
  importer.require(node, relax::is_same_shape(given, {shape[1]}),
                   "the bias is {}, expected one number for each of {} channels", given, shape[1]);
  std::vector<int64_t> axes{0};
  for (size_t axis = 2; axis < shape_of(node, value).size(); ++axis)
    axes.push_back(static_cast<int64_t>(axis));
  const Expr channels = importer.bind(node, "relax.expand_dims", {bias}, {{"axis", attr(axes)}});
  return importer.bind(node, "relax.add", {value, channels});
}

std::span<const ConverterRow> nn_converters() { return kConverters; }

}  // namespace tilewright::frontend::onnx
