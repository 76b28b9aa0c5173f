// Convolutions, Gemm.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/graphs/convert_window.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::frontend::onnx {
namespace {

int64_t constant_extent(const relax::Shape& weight, size_t axis) {
  int64_t extent;
  if (!tir::as_const_int(weight.at(axis), &extent))
    throw Unsupported("dimension {} of the weight is known only at run time", axis);
  return extent;
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
    throw UserError("the input has {}, the weight {}", count_text(data.size(), "dimension"), weight.size());
  return window_of(node, kernel_of_weight(node, weight));
}

void conv(Importer& importer, const Node& node) {
  const Expr sums = convolution(importer, node, importer.value(node, 0), importer.value(node, 1));
  importer.define(node.outputs.at(0), with_channels(importer, node, sums, importer.value(node, 2)));
}

/// The padding that a transposed convolution removes; output_padding adds what a requested extent lacks.
struct Transposed {
  std::vector<int64_t> padding, output_padding;
};

// Without padding the extent is stride * (extent - 1) + covered + output_padding; SAME requires extent *
// stride.
Transposed transposed_padding(const Node& node, const Window& window, std::vector<int64_t> output_padding,
                              const std::vector<int64_t>& surplus) {
  std::vector<int64_t> total;
  for (size_t axis = 0; axis < window.num_spatial(); ++axis) {
    total.push_back(std::max<int64_t>(0, surplus[axis]));
    output_padding[axis] += std::max<int64_t>(0, -surplus[axis]);
  }
  return {halved(total, auto_pad_of(node) != "SAME_UPPER"), std::move(output_padding)};
}

// Crops `whole`, a transposed convolution without padding, to the extents of attribute "output_shape".
Expr with_wanted_shape(Importer& importer, const Node& node, const Expr& whole,
                       const std::vector<int64_t>& wanted) {
  const relax::Shape& shape = shape_of(node, whole);
  const bool is_lower = auto_pad_of(node) != "SAME_UPPER";
  OpenPadding open;
  for (size_t axis = 0; axis < wanted.size(); ++axis) {
    const ir::PrimExpr surplus =
        tir::max(tir::operator-(shape[axis + 2], relax::extent_imm(wanted[axis])), relax::extent_imm(0));
    const ir::PrimExpr gone =
        tir::floordiv(is_lower ? tir::operator+(surplus, int64_t{1}) : surplus, int64_t{2});
    open.before.push_back(arith::simplify(tir::operator-(relax::extent_imm(0), gone)));
    open.most_before.push_back(0);
    open.most_after.push_back(wanted[axis]);
    open.size.push_back(relax::extent_imm(wanted[axis]));
  }
  return with_open_padding(importer, node, whole, open, 0);
}

void conv_transpose(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0), weight = importer.value(node, 1);
  const relax::Shape shape = shape_of(node, data);
  const Window window = window_of_weight(node, shape, shape_of(node, weight));
  const size_t count = window.num_spatial();
  const std::string mode = auto_pad_of(node);
  Transposed how{std::vector<int64_t>(2 * count), numbers_attr(node, "output_padding", count, 0)};
  const bool has_shape = node.find("output_shape") != nullptr;
  const std::vector<int64_t> wanted = numbers_attr(node, "output_shape", count, 0);
  std::vector<int64_t> surplus;
  for (size_t axis = 0; axis < count; ++axis) {
    const int64_t stride = window.strides[axis];
    const int64_t beyond = window.covered(axis) - stride + how.output_padding[axis];
    int64_t extent;
    if (!has_shape)
      surplus.push_back(beyond);
    else if (tir::as_const_int(shape[axis + 2], &extent))
      surplus.push_back(stride * extent + beyond - wanted[axis]);
  }
  const bool is_open = surplus.size() != count;
  if (has_shape || mode.starts_with("SAME")) {
    if (!is_open) how = transposed_padding(node, window, how.output_padding, surplus);
  } else if (mode == "NOTSET") {
    how.padding = numbers_attr(node, "pads", 2 * count, 0);
  }
  Expr sums = importer.bind(node, op_for("conv", count, "_transpose"), {data, weight},
                            {{"strides", attr(window.strides)},
                             {"dilation", attr(window.dilations)},
                             {"groups", attr(int_attr(node, "group", 1))},
                             {"output_padding", attr(how.output_padding)},
                             {"padding", attr(how.padding)}});
  if (is_open) sums = with_wanted_shape(importer, node, sums, wanted);
  importer.define(node.outputs.at(0), with_channels(importer, node, sums, importer.value(node, 2)));
}

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
  // sums that alpha scales down may be too large for the dtype before
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

constexpr AttributeRule kGemm[] = {
    {"alpha", Attribute::kFloat}, {"beta", Attribute::kFloat}, flag("transA"), flag("transB")};
constexpr AttributeRule kConvTranspose[] = {kAutoPad,
                                            extents("dilations", 1),
                                            {"group", Attribute::kInt, 1, kMostExtent},
                                            extents("kernel_shape", 1),
                                            extents("output_padding", 0),
                                            extents("output_shape", 1),
                                            extents("pads", 0),
                                            extents("strides", 1)};

constexpr ConverterRow kRows[] = {
    {"Conv", conv, 2, 3, kConv},
    {"ConvTranspose", conv_transpose, 2, 3, kConvTranspose},
    {"Gemm", gemm, 3, 3, kGemm, 1, kFirstOpset, 10},
    {"Gemm", gemm, 2, 3, kGemm, 1, 11},
};

}  // namespace

Expr convolution(Importer& importer, const Node& node, const Expr& data, const Expr& weight) {
  const Window window = window_of_weight(node, shape_of(node, data), shape_of(node, weight));
  const Padded around = padded(importer, node, data, window, 0);
  return importer.bind(node, op_for("conv", window.num_spatial()), {around.data, weight},
                       {{"strides", attr(window.strides)},
                        {"dilation", attr(window.dilations)},
                        {"groups", attr(int_attr(node, "group", 1))},
                        {"padding", attr(around.padding)}});
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

extern constinit const ConverterTable nn_info = {kRows};

}  // namespace tilewright::frontend::onnx
