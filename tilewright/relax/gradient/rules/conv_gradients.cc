// Convolutions and pooling.  The gradient of a convolution with respect to its data is the transposed
// convolution with the same weight, and vice versa; with respect to its weight it is a sum over batch and
// positions.
#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {
namespace {

constexpr std::string_view kSpatialLetters = "DHW";

// An attribute that holds one number, or one per spatial dimension, or (padding) before and after each.
std::vector<int64_t> numbers(const AttrMap& attrs, std::string_view name, size_t count) {
  std::vector<int64_t> values = attrs.get_ints(name, {});
  if (values.size() == 1) values.assign(count, values[0]);
  const size_t given = values.size();
  while (values.size() < count) values.push_back(values[values.size() - given]);
  return values;
}

// The attributes of the transposed convolution: input and output channels of the kernel are exchanged.
AttrMap turned(const AttrMap& attrs, size_t num_spatial) {
  std::string kernel = attrs.get_string("kernel_layout", "");
  for (char& letter : kernel) letter = letter == 'O' ? 'I' : letter == 'I' ? 'O' : letter;
  return {{"strides", attr(numbers(attrs, "strides", num_spatial))},
          {"padding", attr(numbers(attrs, "padding", 2 * num_spatial))},
          {"dilation", attr(numbers(attrs, "dilation", num_spatial))},
          {"groups", attrs.get("groups")},
          {"data_layout", attrs.get("data_layout")},
          {"kernel_layout", attr(kernel)}};
}

// The number of elements at the end of each dimension of data that no window reaches.
std::vector<int64_t> unreached(const Backward& b, const AttrMap& attrs, size_t num_spatial) {
  const std::string data = attrs.get_string("data_layout", ""),
                    kernel = attrs.get_string("kernel_layout", "");
  const Shape result = b.shape_of(type_of(b.out().expr));
  const std::vector<int64_t> strides = numbers(attrs, "strides", num_spatial),
                             padding = numbers(attrs, "padding", 2 * num_spatial),
                             dilation = numbers(attrs, "dilation", num_spatial);
  std::vector<int64_t> more;
  for (size_t n = 0; n < num_spatial; ++n) {
    const char letter = kSpatialLetters[3 - num_spatial + n];
    const size_t at = data.find(letter);
    const PrimExpr covered = (b.shape(1)[kernel.find(letter)] - 1) * dilation[n] + 1;
    const PrimExpr reached =
        (result[at] - 1) * strides[n] + covered - (padding[n] + padding[num_spatial + n]);
    const PrimExpr rest = arith::simplify(b.shape(0)[at] - reached);
    const auto* number = rest.as<IntImmNode>();
    if (!number)
      b.refuse(fmt::format("extent {} of its data is not known to be a multiple of stride {}",
                           tir::expr_text(b.shape(0)[at]), strides[n]));
    more.push_back(number->value);
  }
  return more;
}

Value same_dtype(const Backward& b) {
  const Value grad = b.grad();
  return type_of(grad.expr).as<TensorTypeNode>()->dtype == b.dtype(0) ? grad : b.bind(cast(grad, b.dtype(0)));
}

template <int kSpatial>
void of_conv(Backward& b) {
  const AttrMap& attrs = b.call()->attrs;
  const Value grad = same_dtype(b);
  if (b.needs(0)) {
    AttrMap transposed = turned(attrs, kSpatial);
    transposed.set("output_padding", attr(unreached(b, attrs, kSpatial)));
    b.add(0, apply(fmt::format("nn.conv{}d_transpose", kSpatial), {grad, b.x(1)}, transposed));
  }
  AttrMap same = attrs;
  same.set("out_dtype", attr(DataType::void_()));
  b.add(1, apply(fmt::format("grad.conv{}d_weight_backward", kSpatial), {grad, b.x(0), b.x(1)}, same));
}

template <int kSpatial>
void of_transposed(Backward& b) {
  const AttrMap& attrs = b.call()->attrs;
  const std::vector<int64_t> strides = numbers(attrs, "strides", kSpatial),
                             more = numbers(attrs, "output_padding", kSpatial);
  for (size_t n = 0; n < kSpatial; ++n) {
    if (more[n] >= strides[n])
      b.refuse(fmt::format("output_padding {} is not smaller than stride {}", more[n], strides[n]));
  }
  const AttrMap forward = turned(attrs, kSpatial);
  const Value grad = same_dtype(b);
  b.add(0, apply(fmt::format("nn.conv{}d", kSpatial), {grad, b.x(1)}, forward));
  b.add(1, apply(fmt::format("grad.conv{}d_weight_backward", kSpatial), {b.x(0), grad, b.x(1)}, forward));
}

// relax.nn.max_pool2d -> relax.grad.max_pool2d_backward
void of_pool(Backward& b) {
  const std::string_view name = name_of(b.call());
  b.add(0, apply(fmt::format("grad.{}_backward", name.substr(name.find('.') + 1)), {b.grad(), b.x(0)},
                 b.call()->attrs));
}

constexpr GradientRow kRows[] = {
    {"relax.nn.conv1d", of_conv<1>},
    {"relax.nn.conv2d", of_conv<2>},
    {"relax.nn.conv3d", of_conv<3>},
    {"relax.nn.conv1d_transpose", of_transposed<1>},
    {"relax.nn.conv2d_transpose", of_transposed<2>},
    {"relax.nn.conv3d_transpose", of_transposed<3>},
    {"relax.nn.max_pool1d", of_pool},
    {"relax.nn.max_pool2d", of_pool},
    {"relax.nn.max_pool3d", of_pool},
    {"relax.nn.avg_pool1d", of_pool},
    {"relax.nn.avg_pool2d", of_pool},
    {"relax.nn.avg_pool3d", of_pool},
    {"relax.nn.adaptive_avg_pool1d", of_pool},
    {"relax.nn.adaptive_avg_pool2d", of_pool},
    {"relax.nn.adaptive_avg_pool3d", of_pool},
};

}  // namespace

extern constinit const GradientTable conv_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
