// Convolutions, pooling, normalisation, Gemm.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/frontend/onnx/convert.h"
#include "tilewright/support/near.h"

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

// [top, left, bottom, right] from pads or auto_pad
std::vector<int64_t> padding_of(const Node& node, const relax::Shape& data,
                                const std::vector<int64_t>& kernel, const std::vector<int64_t>& strides,
                                const std::vector<int64_t>& dilations) {
  const std::string mode = string_attr(node, "auto_pad", "NOTSET");
  const std::vector<std::string_view> modes{"NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID"};
  if (std::find(modes.begin(), modes.end(), mode) == modes.end())
    throw UserError("auto_pad is \"{}\"", mode).help("{}", nearest_names_text(mode, modes));
  if (mode == "VALID") return {0, 0, 0, 0};
  if (mode == "NOTSET") return numbers_attr(node, "pads", 4, 0);
  std::vector<int64_t> pads(4);
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t extent = constant_extent(data, axis + 2);
    const int64_t outputs = (extent + strides[axis] - 1) / strides[axis];
    const int64_t total = std::max<int64_t>(
        0, (outputs - 1) * strides[axis] + (kernel[axis] - 1) * dilations[axis] + 1 - extent);
    const int64_t smaller = total / 2, larger = total - smaller;
    pads[axis] = mode == "SAME_LOWER" ? larger : smaller;
    pads[axis + 2] = mode == "SAME_LOWER" ? smaller : larger;
  }
  return pads;
}

void require_two_dims(const relax::Shape& shape, std::string_view what = "input") {
  if (shape.size() != 4)
    throw Unsupported("the {} has {} dimensions, expected 4 ([n, c, h, w])", what, shape.size());
}

ir::AttrMap pool_attrs(const Node& node, const relax::Shape& data) {
  const std::vector<int64_t> kernel = numbers_attr(node, "kernel_shape", 2, 1),
                             strides = numbers_attr(node, "strides", 2, 1),
                             dilations = numbers_attr(node, "dilations", 2, 1);
  return {{"pool_size", int_list(kernel)},
          {"strides", int_list(strides)},
          {"dilation", int_list(dilations)},
          {"padding", int_list(padding_of(node, data, kernel, strides, dilations))},
          {"ceil_mode", ir::IntImmNode::make(kBoolType, int_attr(node, "ceil_mode", 0))}};
}

}  // namespace

void convert_conv(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0), weight = importer.value(node, 1), bias = importer.value(node, 2);
  const relax::Shape& weight_shape = shape_of(node, weight);
  require_two_dims(shape_of(node, data));
  require_two_dims(weight_shape, "weight");
  const std::vector<int64_t> kernel{constant_extent(weight_shape, 2), constant_extent(weight_shape, 3)};
  if (node.find("kernel_shape") && ints_attr(node, "kernel_shape", {}) != kernel)
    throw UserError("attribute \"kernel_shape\" is {}, but the weight has windows of {}",
                    ints_attr(node, "kernel_shape", {}), kernel);
  const std::vector<int64_t> strides = numbers_attr(node, "strides", 2, 1),
                             dilations = numbers_attr(node, "dilations", 2, 1);
  ir::AttrMap attrs{
      {"strides", int_list(strides)},
      {"dilation", int_list(dilations)},
      {"groups", integer(int_attr(node, "group", 1))},
      {"padding", int_list(padding_of(node, shape_of(node, data), kernel, strides, dilations))}};
  if (!bias) return importer.emit(node, "relax.nn.conv2d", {data, weight}, std::move(attrs));
  const Expr conv = importer.bind(node, "relax.nn.conv2d", {data, weight}, std::move(attrs));
  const Expr channels = importer.bind(node, "relax.expand_dims", {bias}, {{"axis", int_list({0, 2, 3})}});
  importer.emit(node, "relax.add", {conv, channels});
}

void convert_max_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  require_two_dims(shape_of(node, data));
  importer.emit(node, "relax.nn.max_pool2d", {data}, pool_attrs(node, shape_of(node, data)));
}

void convert_average_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  require_two_dims(shape_of(node, data));
  ir::AttrMap attrs = pool_attrs(node, shape_of(node, data));
  attrs.set("count_include_pad", ir::IntImmNode::make(kBoolType, int_attr(node, "count_include_pad", 0)));
  importer.emit(node, "relax.nn.avg_pool2d", {data}, std::move(attrs));
}

void convert_global_average_pool(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  std::vector<int64_t> axes;
  for (size_t axis = 2; axis < shape_of(node, data).size(); ++axis)
    axes.push_back(static_cast<int64_t>(axis));
  importer.emit(node, "relax.mean", {data},
                {{"axis", int_list(axes)}, {"keepdims", ir::IntImmNode::make(kBoolType, int64_t{1})}});
}

void convert_batch_norm(Importer& importer, const Node& node) {
  if (int_attr(node, "training_mode", 0))
    throw Unsupported("training_mode is 1, only inference is supported");
  if (!int_attr(node, "spatial", 1))
    throw Unsupported("spatial is 0, only one mean per channel is supported");
  std::vector<Expr> args;
  for (size_t n = 0; n < 5; ++n) args.push_back(importer.value(node, n));
  const Expr all =
      importer.bind(node, "relax.nn.batch_norm", std::move(args),
                    {{"axis", integer(1)}, {"epsilon", real(float_attr(node, "epsilon", 1e-5))}});
  const auto* tuple = relax::type_of(all).as<ir::TupleTypeNode>();
  if (!tuple) return importer.define(node.outputs.at(0), all);
  importer.define(node.outputs.at(0), importer.builder.emit(relax::TupleGetItemNode::make(
                                          all, int64_t{0}, tuple->elements.at(0))));
}

// alpha * A' * B' + beta * C
void convert_gemm(Importer& importer, const Node& node) {
  auto operand = [&](size_t input, const char* transposed) {
    const Expr value = importer.value(node, input);
    return int_attr(node, transposed, 0)
               ? importer.bind(node, "relax.permute_dims", {value}, {{"axes", int_list({1, 0})}})
               : value;
  };
  auto scaled = [&](Expr value, double factor) {
    if (factor == 1.0) return value;
    const float number = static_cast<float>(factor);
    return importer.bind(
        node, "relax.multiply",
        {value, constant_of(runtime::Tensor::copy_of(&number, 4, std::vector<int64_t>{}, kFloat32))});
  };
  const Expr a = operand(0, "transA");
  Expr result =
      scaled(importer.bind(node, "relax.matmul", {a, operand(1, "transB")}), float_attr(node, "alpha", 1));
  if (const Expr c = importer.value(node, 2))
    result = importer.bind(node, "relax.add", {result, scaled(c, float_attr(node, "beta", 1))});
  importer.define(node.outputs.at(0), result);
}

}  // namespace tilewright::frontend::onnx
