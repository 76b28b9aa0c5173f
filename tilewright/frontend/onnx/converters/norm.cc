// Softmax and normalisation.  Source: onnx.ai/onnx/operators, opset 7 to 23.
#include <algorithm>
#include <numeric>

#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

std::vector<int64_t> numbers_from(int64_t first, size_t end) {
  std::vector<int64_t> numbers(end - static_cast<size_t>(first));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// Defines the output with function(x, axis), which computes rows along one dimension.  Before opset 13, all dimensions
// from axis on count as one.
template <class Function>
void along_axis(Importer& importer, const Node& node, const Function& function) {
  const Expr data = importer.value(node, 0);
  const relax::Shape shape = shape_of(node, data);
  const int64_t axis = checked_axis(int_attr(node, "axis", importer.opset >= 13 ? -1 : 1), shape.size());
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  if (importer.opset >= 13 || axis == last) return importer.define(node.outputs.at(0), function(data, axis));
  const relax::Shape head(shape.begin(), shape.begin() + axis), tail(shape.begin() + axis, shape.end());
  const Expr flat = importer.reshaped(node, data, {relax::num_elements(head), relax::num_elements(tail)});
  importer.define(node.outputs.at(0), importer.reshaped(node, function(flat, 1), shape));
}

template <const char* kOp>
void softmax(Importer& importer, const Node& node) {
  along_axis(importer, node, [&](const Expr& x, int64_t axis) {
    return importer.bind(node, kOp, {x}, {{"axis", attr(axis)}});
  });
}

// 1 at the first of the largest elements of each row, 0 elsewhere
void hardmax(Importer& importer, const Node& node) {
  along_axis(importer, node, [&](const Expr& x, int64_t axis) {
    const relax::Shape& shape = shape_of(node, x);
    relax::Shape along(shape.size() - static_cast<size_t>(axis), relax::extent_imm(1));
    along[0] = shape[static_cast<size_t>(axis)];
    const Expr best =
        importer.bind(node, "relax.argmax", {x}, {{"axis", attr(axis)}, {"keepdims", attr(true)}});
    const Expr places = importer.bind(
        node, "relax.arange",
        {scalar_value(relax::extent_imm(0)), scalar_value(along[0]), scalar_value(relax::extent_imm(1))},
        {{"dtype", attr("int64")}});
    const Expr hits = importer.bind(node, "relax.equal", {best, importer.reshaped(node, places, along)});
    return bound_as(importer, hits, relax::dtype_of(x));
  });
}
constexpr char kSoftmax[] = "relax.nn.softmax", kLogSoftmax[] = "relax.nn.log_softmax";

// Attribute training_mode, or, before opset 14, a result beside the first: only training gives those.
bool is_training(const Importer& importer, const Node& node) {
  if (const Attribute* mode = node.find("training_mode")) return mode->integer == 1;
  return importer.opset < 14 && std::any_of(
                                    node.outputs.begin() + 1, node.outputs.end(),
                                    [](const std::string& name) { return !name.empty(); });
}

void require_one_output(Importer& importer, const Node& node) {
  for (size_t n = 1; n < node.outputs.size(); ++n) {
    if (importer.is_used(node.outputs[n]))
      throw UserError("output {} (\"{}\") is used, but only training gives it", n, node.outputs[n])
          .help("set the attribute training_mode, or is_test of early opsets, as in training");
  }
}

// With `spatial` 0 each element of an image has statistics of its own: [n, c, h, w] is [n, c * h * w].
void batch_norm(Importer& importer, const Node& node) {
  const bool trains = is_training(importer, node), has_features = !int_attr(node, "spatial", 1);
  if (!trains) require_one_output(importer, node);
  const relax::Shape shape = shape_of(node, importer.value(node, 0)),
                     own = shape_of(node, importer.value(node, 3));
  if (shape.empty()) throw UserError("input 0 is a number, expected a batch of tensors");
  const ir::PrimExpr count = relax::num_elements({shape.begin() + 1, shape.end()});
  const double momentum = float_attr(node, "momentum", 0.9F), epsilon = float_attr(node, "epsilon", 1e-5);
  std::vector<Expr> args;
  for (size_t n = 0; n < 5; ++n) {
    const Expr value = importer.value(node, n);
    args.push_back(!has_features ? value
                   : n == 0      ? importer.reshaped(node, value, {shape[0], count})
                                 : importer.reshaped(node, value, {count}));
  }
  const Expr all = importer.bind(node, "relax.nn.batch_norm", args,
                                 {{"axis", attr(1)},
                                  {"epsilon", attr(epsilon)},
                                  {"momentum", attr(1 - momentum)},
                                  {"training", attr(trains)}});
  const ir::Type whole = relax::type_of(all);
  const auto* tuple = whole.as<ir::TupleTypeNode>();
  std::vector<int64_t> others(shape_of(node, args[0]).size());
  std::iota(others.begin(), others.end(), 0);
  std::erase(others, 1);
  const auto result = [&](size_t n) {
    if (n > 2) {  // the statistics of the data alone
      const Expr wide = widened(importer, args[0]);
      const Expr found =
          importer.bind(node, n == 3 ? "relax.mean" : "relax.variance", {wide}, {{"axis", attr(others)}});
      return bound_as(importer, found, relax::dtype_of(args[3]));
    }
    return importer.bound(relax::TupleGetItemNode::make(all, static_cast<int64_t>(n), tuple->elements.at(n)));
  };
  for (size_t n = 0; n < (trains ? node.outputs.size() : 1); ++n) {
    if (node.outputs[n].empty()) continue;
    const Expr value = result(n);
    importer.define(node.outputs[n],
                    has_features ? importer.reshaped(node, value, n == 0 ? shape : own) : value);
  }
}

void instance_norm(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  importer.emit(node, "relax.nn.instance_norm", {data, importer.value(node, 1), importer.value(node, 2)},
                {{"channel_axis", attr(1)},
                 {"axes", attr(numbers_from(2, shape_of(node, data).size()))},
                 {"epsilon", attr(float_attr(node, "epsilon", 1e-5))}});
}

void group_norm(Importer& importer, const Node& node) {
  const Expr data = importer.value(node, 0);
  importer.emit(node, "relax.nn.group_norm", {data, importer.value(node, 1), importer.value(node, 2)},
                {{"num_groups", attr(int_attr(node, "num_groups", 1))},
                 {"channel_axis", attr(1)},
                 {"axes", attr(numbers_from(2, shape_of(node, data).size()))},
                 {"epsilon", attr(float_attr(node, "epsilon", 1e-5))}});
}

/// The dimensions from `axis` on, and the scale or bias in input `input` with their shape; null if there is
/// none.
struct LastAxes {
  Importer& importer;
  const Node& node;
  Expr data = importer.value(node, 0);
  const relax::Shape shape = shape_of(node, data);
  int64_t first = checked_axis(int_attr(node, "axis", -1), shape.size());

  ir::ObjectRef axes() const { return attr(numbers_from(first, shape.size())); }
  Expr parameter(size_t input) const {
    const Expr value = importer.value(node, input);
    const relax::Shape own(shape.begin() + first, shape.end());
    if (!value || shape_of(node, value).size() == own.size()) return value;
    return importer.bind(node, "relax.broadcast_to", {value, relax::shape_expr(own)});
  }
};

void layer_norm(Importer& importer, const Node& node) {
  const LastAxes last{importer, node};
  const Expr scale = last.parameter(1);
  Expr bias = last.parameter(2);
  if (!bias) bias = importer.bind(node, "relax.zeros_like", {scale});
  importer.emit(node, "relax.nn.layer_norm", {last.data, scale, bias},
                {{"axes", last.axes()}, {"epsilon", attr(float_attr(node, "epsilon", 1e-5))}});
  // in the dtype that they are computed in (stash_type)
  const auto moment = [&](std::string_view op) {
    return importer.bind(node, op, {widened(importer, last.data)},
                         {{"axis", last.axes()}, {"keepdims", attr(true)}});
  };
  const auto is_wanted = [&](size_t n) { return node.outputs.size() > n && !node.outputs[n].empty(); };
  if (is_wanted(1)) importer.define(node.outputs[1], moment("relax.mean"));
  if (!is_wanted(2)) return;
  const Expr variance = moment("relax.variance");
  const Expr epsilon = importer.bound(number(float_attr(node, "epsilon", 1e-5), relax::dtype_of(variance)));
  importer.define(node.outputs[2], importer.bind(node, "relax.rsqrt",
                                                 {importer.bind(node, "relax.add", {variance, epsilon})}));
}

void rms_norm(Importer& importer, const Node& node) {
  const LastAxes last{importer, node};
  importer.emit(node, "relax.nn.rms_norm", {last.data, last.parameter(1)},
                {{"axes", last.axes()}, {"epsilon", attr(float_attr(node, "epsilon", 1e-5))}});
}

/// Input 0 in the accumulation dtype, and the result rounded to the dtype of the input.
struct Wide {
  Importer& importer;
  const Node& node;
  Expr given = importer.value(node, 0);
  Expr x = widened(importer, given);

  Expr call(std::string_view op, std::vector<Expr> args, ir::AttrMap attrs = {}) const {
    return importer.bind(node, op, std::move(args), std::move(attrs));
  }
  Expr scalar(double value) const { return importer.builder.emit(number(value, relax::dtype_of(x))); }
  void result(const Expr& value) const {
    importer.define(node.outputs.at(0), bound_as(importer, value, relax::dtype_of(given)));
  }
};

// x / (bias + alpha * mean of the squares of the `size` surrounding channels)^beta, where channels outside
// count as 0; computed with channels last, where neighbours are contiguous, as for convolutions
void local_response_norm(Importer& importer, const Node& node) {
  const Wide wide{importer, node};
  const relax::Shape shape = shape_of(node, wide.given);
  if (shape.size() < 3)
    throw UserError("input 0 has {}, expected at least 3", count_text(shape.size(), "dimension"));
  if (shape.size() > 5)
    throw Unsupported("input 0 has {}, expected at most 5", count_text(shape.size(), "dimension"));
  const int64_t size = int_attr(node, "size", 1), ndim = static_cast<int64_t>(shape.size());
  std::vector<int64_t> to_last{0}, from_last{0, ndim - 1};
  for (int64_t axis = 2; axis < ndim; ++axis) to_last.push_back(axis), from_last.push_back(axis - 1);
  to_last.push_back(1);
  const Expr x = wide.call("relax.permute_dims", {wide.x}, {{"axes", attr(to_last)}});
  const auto scalar = [&](std::string_view name, double otherwise) {
    return wide.scalar(float_attr(node, name, otherwise));
  };
  // a window of `size` along the last axis, of 1 along the others
  const size_t num_spatial = shape.size() - 2;
  std::vector<int64_t> window(num_spatial, 1), padding(2 * num_spatial);
  window.back() = size, padding[num_spatial - 1] = (size - 1) / 2, padding.back() = size / 2;
  const Expr means =
      wide.call(fmt::format("relax.nn.avg_pool{}d", num_spatial), {wide.call("relax.multiply", {x, x})},
                {{"pool_size", attr(window)}, {"padding", attr(padding)}, {"count_include_pad", attr(true)}});
  const Expr scaled = wide.call("relax.multiply", {means, scalar("alpha", 0.0001)});
  const Expr power =
      wide.call("relax.power", {wide.call("relax.add", {scaled, scalar("bias", 1)}), scalar("beta", 0.75)});
  const Expr normed = wide.call("relax.divide", {x, power});
  wide.result(wide.call("relax.permute_dims", {normed}, {{"axes", attr(from_last)}}));
}

// x / norm of order p along an axis; 0 if the norm is 0
void lp_norm(Importer& importer, const Node& node) {
  const Wide wide{importer, node};
  const int64_t axis = checked_axis(int_attr(node, "axis", -1), shape_of(node, wide.x).size());
  const int64_t p = int_attr(node, "p", 2);
  if (p != 1 && p != 2) throw UserError("attribute \"p\" is {}, expected 1 or 2", p);
  const Expr terms =
      p == 1 ? wide.call("relax.abs", {wide.x}) : wide.call("relax.multiply", {wide.x, wide.x});
  Expr norm =
      wide.call("relax.sum", {terms}, {{"axis", attr(std::vector<int64_t>{axis})}, {"keepdims", attr(true)}});
  if (p == 2) norm = wide.call("relax.sqrt", {norm});
  const Expr zero = wide.scalar(0);
  wide.result(wide.call("relax.where", {wide.call("relax.equal", {norm, zero}), zero,
                                        wide.call("relax.divide", {wide.x, norm})}));
}

// (x - mean) / (standard deviation + 1e-9)
void mean_variance_norm(Importer& importer, const Node& node) {
  const Wide wide{importer, node};
  const ir::AttrMap attrs{{"axis", attr(ints_attr(node, "axes", {0, 2, 3}))}, {"keepdims", attr(true)}};
  const Expr mean = wide.call("relax.mean", {wide.x}, attrs),
             deviation = wide.call("relax.std", {wide.x}, attrs),
             divisor = wide.call("relax.add", {deviation, wide.scalar(1e-9)});
  wide.result(wide.call("relax.divide", {wide.call("relax.subtract", {wide.x, mean}), divisor}));
}

constexpr AttributeRule kBatchNorm[] = {{"epsilon", Attribute::kFloat, 0},
                                        {"momentum", Attribute::kFloat},
                                        flag("spatial", kFirstOpset, 8),
                                        flag("training_mode", 14)};
constexpr AttributeRule kGroupNormalization[] = {
    {"epsilon", Attribute::kFloat, 0},
    {"num_groups", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    flag("stash_type")};
constexpr AttributeRule kInstanceNormalization[] = {{"epsilon", Attribute::kFloat, 0}};
constexpr AttributeRule kLRN[] = {{"alpha", Attribute::kFloat},
                                  {"beta", Attribute::kFloat},
                                  {"bias", Attribute::kFloat},
                                  {"size", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kLayerNormalization[] = {
    {"axis", Attribute::kInt}, {"epsilon", Attribute::kFloat, 0}, flag("stash_type")};
constexpr AttributeRule kLpNormalization[] = {{"axis", Attribute::kInt}, {"p", Attribute::kInt}};
constexpr AttributeRule kMeanVarianceNormalization[] = {{"axes", Attribute::kInts}};

constexpr ConverterRow kRows[] = {
    {"BatchNormalization", batch_norm, 5, 5, kBatchNorm, 5, kFirstOpset, 13, 5},
    {"BatchNormalization", batch_norm, 5, 5, kBatchNorm, 3, 14, kLastOpset, 3},
    {"GroupNormalization", group_norm, 3, 3, kGroupNormalization, 1, 21},
    {"InstanceNormalization", instance_norm, 3, 3, kInstanceNormalization},
    {"LRN", local_response_norm, 1, 1, kLRN},
    {"LayerNormalization", layer_norm, 2, 3, kLayerNormalization, 3, 17, kLastOpset, 3},
    {"Hardmax", hardmax, 1, 1, kAxis},
    {"LogSoftmax", softmax<kLogSoftmax>, 1, 1, kAxis},
    {"LpNormalization", lp_norm, 1, 1, kLpNormalization},
    {"MeanVarianceNormalization", mean_variance_norm, 1, 1, kMeanVarianceNormalization, 1, 9},
    {"RMSNormalization", rms_norm, 2, 2, kLayerNormalization, 1, 23},
    {"Softmax", softmax<kSoftmax>, 1, 1, kAxis},
};

}  // namespace

extern constinit const ConverterTable norm_info = {kRows};

}  // namespace tilewright::frontend::onnx
