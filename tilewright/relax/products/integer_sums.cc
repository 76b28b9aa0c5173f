#include "tilewright/relax/products/integer_sums.h"

#include <algorithm>

#include "tilewright/relax/infer/conv_options.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/products/mixed_precision.h"

namespace tilewright::relax {
namespace {

// Up to this number of channels it costs little to add some.
constexpr int64_t kFewChannels = 4;
constexpr int64_t kGroup = 4;  // bytes that instructions add at once

bool is_conv(std::string_view name) {
  return name == "relax.nn.conv1d" || name == "relax.nn.conv2d" || name == "relax.nn.conv3d";
}

Expr with_more(const Expr& x, const std::vector<int64_t>& width, int64_t value) {
  if (std::all_of(width.begin(), width.end(), [](int64_t n) { return n == 0; })) return x;
  AttrMap attrs;
  attrs.set("pad_width", attr(width));
  attrs.set("pad_value", attr(static_cast<double>(value)));
  return call_op("relax.nn.pad", {x}, attrs);
}

// Moves padding other than zeros from the attributes of a convolution to its image, and adds the channels
// missing in a group if they are few.
void pad_operands(const topi::ConvOptions& conv, Expr& x, Expr& weight, int64_t zero, const Product& product,
                  AttrMap& attrs) {
  std::vector<int64_t> width(2 * product.ndim, 0), weight_width = width;
  if (zero != 0) {
    const size_t num_spatial = product.ndim - 2;
    size_t spatial = 0;
    for (char letter : std::string_view("DHW")) {
      const size_t dim = conv.data_layout.find(letter);
      if (dim == std::string::npos) continue;
      width[2 * dim] = conv.padding[spatial];
      width[2 * dim + 1] = conv.padding[num_spatial + spatial];
      ++spatial;
    }
    attrs.set("padding", attr(std::vector<int64_t>(2 * num_spatial, 0)));
  }
  const size_t inputs = conv.kernel_layout.find('I');
  const int64_t num_inputs = product.weight_shape[inputs];
  if (conv.groups == 1 && num_inputs < kFewChannels)
    width[2 * product.channel + 1] = weight_width[2 * inputs + 1] = kGroup - num_inputs;
  x = with_more(x, width, zero);
  weight = with_more(weight, weight_width, 0);
}

// dtype(int16(x) + moved)
Expr moved_by(const Expr& x, int64_t moved, DataType dtype) {
  const DataType wide = DataType::int_(16);
  return astype(call_op("relax.add", {astype(x, wide), make_scalar(static_cast<double>(moved), wide)}),
                dtype);
}

// zero * (the sum of each output's weights), in a shape that broadcasts to the result
Expr correction(const Expr& weight, const Product& product, int64_t zero) {
  std::vector<int64_t> axes, shape(product.ndim, 1);
  for (size_t axis = 0; axis < product.weight_shape.size(); ++axis) {
    if (axis != product.weight_axis) axes.push_back(static_cast<int64_t>(axis));
  }
  shape[product.channel] = product.num_outputs();
  AttrMap attrs;
  attrs.set("axis", attr(axes));
  const Expr sums = call_op("relax.sum", {astype(weight, kInt32)}, attrs);
  return reshaped(call_op("relax.multiply", {sums, make_scalar(static_cast<double>(zero), kInt32)}), shape);
}

}  // namespace

int64_t Product::num_terms() const {
  int64_t count = 1;
  for (size_t axis = 0; axis < weight_shape.size(); ++axis)
    count *= axis == weight_axis ? 1 : weight_shape[axis];
  return count;
}

std::optional<Product> product_of(const CallNode* call) {
  const std::string_view name = op_name(call);
  if ((!is_conv(name) && name != "relax.matmul") || call->args.size() != 2) return std::nullopt;
  const auto* result = call->type.as<TensorTypeNode>();
  const auto weight = constant_shape(call->args[1]);
  if (!result || result->ndim < 1 || !weight) return std::nullopt;
  Product product{.ndim = static_cast<size_t>(result->ndim), .weight_shape = *weight};
  if (name == "relax.matmul") {
    if (weight->size() != 2) return std::nullopt;
    product.channel = product.ndim - 1;
    product.weight_axis = 1;
    return product;
  }
  product.channel = call->attrs.get_string("data_layout", "").find('C');
  product.weight_axis = call->attrs.get_string("kernel_layout", "").find('O');
  return product;
}

int64_t zero_offset(DataType from, DataType to) { return from == to ? 0 : from == kInt8 ? 128 : -128; }

Expr integer_sums(const CallNode* call, const Product& product, Bytes x, Expr weight, DataType activations) {
  AttrMap attrs = call->attrs;
  attrs.set("out_dtype", attr(std::string("int32")));
  if (x.dtype != activations) {
    const int64_t moved = zero_offset(x.dtype, activations);
    x = {moved_by(x.values, moved, activations), activations, x.zero + moved};
  }
  const Expr own_weight = weight;
  if (is_conv(op_name(call)))
    pad_operands(conv_options(Call(call)), x.values, weight, x.zero, product, attrs);
  const Expr sums = call_op(op_name(call), {x.values, weight}, attrs, call->span);
  if (x.zero == 0) return sums;
  return call_op("relax.subtract", {sums, correction(own_weight, product, x.zero)});
}

Expr window_sums(const CallNode* call, Product product, const Bytes& x, DataType activations) {
  // one output has all there is to know, unless groups of channels have windows of their own
  if (!is_conv(op_name(call)) || conv_options(Call(call)).groups == 1)
    product.weight_shape[product.weight_axis] = 1;
  runtime::Tensor ones = runtime::Tensor::empty(product.weight_shape, kInt8);
  std::fill_n(static_cast<int8_t*>(ones.data()), ones.num_elements(), int8_t{1});
  return integer_sums(call, product, x, make_constant(ones), activations);
}

Constant make_integers(const std::vector<double>& values) {
  const std::vector<int64_t> shape{static_cast<int64_t>(values.size())};
  runtime::Tensor result = runtime::Tensor::empty(shape, kInt32);
  std::copy(values.begin(), values.end(), static_cast<int32_t*>(result.data()));
  return make_constant(result);
}

}  // namespace tilewright::relax
