// Products of float32 as sums of products of bfloat16 parts, which the pass `precision`
// makes from other products.
#include "tilewright/te/topi/split_floats.h"

#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"
#include "tilewright/tir/text.h"

namespace tilewright::relax {
namespace {

struct MatmulAttrs {
  int64_t order = 0;
  static constexpr auto fields() {
    return std::tuple{field<&MatmulAttrs::order>(
        "order", "products of part a of x and part b of w are added if a + b <= order")};
  }
};

struct ConvAttrs {
  std::vector<int64_t> strides, padding, dilation;
  int64_t order = 0;
  static constexpr auto fields() {
    return std::tuple{
        field<&ConvAttrs::strides>("strides", "step of the window, one per dimension"),
        field<&ConvAttrs::padding>("padding", "zeros before each dimension, then after each"),
        field<&ConvAttrs::dilation>("dilation", "distance of kernel elements, per dimension"),
        field<&ConvAttrs::order>(
            "order", "products of part a of data and part b of weight are added if a + b <= order")};
  }
};

// Raises UserError unless the number of parts of the second argument, and `order`, are in range.
void check_parts(const Call& call, const Shape& second, int64_t order) {
  constexpr int64_t kMostParts = 8;
  int64_t parts = 0;
  if (!tir::as_const_int(second[0], &parts) || parts < 1 || parts > kMostParts || order < 0 ||
      order > 2 * (parts - 1))
    fail(call, "{} is {} and order is {}, expected 1 to {} parts and an order of 0 to 2 (parts - 1)",
         arg_name(call, 1), shape_text(second), order, kMostParts);
}

// Raises UserError unless `inner`, a reduction extent of the first argument, equals `own` of the second.
void check_inner(const Call& call, const Shape& second, const PrimExpr& inner, const PrimExpr& own) {
  int64_t has = 0, expected = 0;
  if (!tir::as_const_int(inner, &has) || !tir::as_const_int(own, &expected) || has != expected)
    fail(call, "{} has {} elements, {} is {}: expected {}, both known", arg_name(call, 0),
         tir::expr_text(inner), arg_name(call, 1), shape_text(second), tir::expr_text(own));
}

// Raises UserError unless argument `n` is a float of at most 32 bits, whose products float32 represents.
void check_dtype(const Call& call, size_t n) {
  const DataType dtype = tensor_arg(call, n)->dtype;
  if (!dtype.is_void() && (!dtype.is_float() || dtype.bits > 32))
    fail(call, "{} is {}, expected a float of at most 32 bits", arg_name(call, n), dtype.str());
}

void check_ndim(const Call& call, int64_t ndim, size_t n, int64_t least) {
  if (ndim < least)
    fail(call, "{} has {}, expected {} or more", arg_name(call, n), count_text(ndim, "dimension"), least);
}

Type infer_matmul(const Call& call, const MatmulAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *w = tensor_arg(call, 1);
  check_dtype(call, 0), check_dtype(call, 1);
  const Shape *left = known_shape(x), *right = known_shape(w);
  if (!left || !right) return tensor_type_of_ndim(-1, kFloat32);
  check_ndim(call, x->ndim, 0, 2);
  check_ndim(call, w->ndim, 1, 3);
  check_parts(call, *right, attrs.order);
  check_inner(call, *right, left->back(), (*right)[right->size() - 2]);
  Shape result =
      broadcast_shapes({left->begin(), left->end() - 2}, {right->begin() + 1, right->end() - 2}, require);
  result.push_back((*left)[left->size() - 2]);
  result.push_back(right->back());
  return tensor_type(std::move(result), kFloat32);
}

topi::ConvOptions options_of(const Call& call, const ConvAttrs& attrs, size_t num_spatial) {
  const auto check = [&](const std::vector<int64_t>& values, std::string_view name, size_t count,
                         int64_t least) {
    if (values.size() != count) fail(call, "{} has {} numbers, expected {}", name, values.size(), count);
    constexpr int64_t kMost = int64_t{1} << 30;
    for (const int64_t value : values) {
      if (value < least || value > kMost) fail(call, "{} is {}, expected {} to 2^30", name, value, least);
    }
  };
  check(attrs.strides, "strides", num_spatial, 1);
  check(attrs.padding, "padding", 2 * num_spatial, 0);
  check(attrs.dilation, "dilation", num_spatial, 1);
  topi::ConvOptions options;
  options.strides = attrs.strides, options.padding = attrs.padding, options.dilation = attrs.dilation;
  options.out_dtype = kFloat32;
  return options;
}

Type infer_conv(const Call& call, const ConvAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *w = tensor_arg(call, 1);
  check_dtype(call, 0), check_dtype(call, 1);
  const Shape *data = known_shape(x), *weight = known_shape(w);
  if (!data || !weight) return tensor_type_of_ndim(x->ndim, kFloat32);
  check_ndim(call, x->ndim, 0, 3);
  require_ndim(call, 1, x->ndim + 1);
  const size_t num_spatial = data->size() - 2;
  const topi::ConvOptions options = options_of(call, attrs, num_spatial);
  check_parts(call, *weight, attrs.order);
  check_inner(call, *weight, data->back(), (*weight)[num_spatial + 1]);
  Shape result{(*data)[0]};
  for (size_t n = 0; n < num_spatial; ++n) {
    const int64_t pad = options.padding[n] + options.padding[num_spatial + n];
    result.push_back(
        topi::conv_extent((*data)[n + 1], (*weight)[n + 1], options.strides[n], pad, options.dilation[n]));
    require.holds(tir::operator>=(as_extent(result.back()), 1),
                  "the window of weight {} is larger than data {} with padding {}", *weight, *data, pad);
  }
  result.push_back(weight->back());
  return tensor_type(std::move(result), kFloat32);
}

te::Tensor lower_matmul(const LowerInput& in, const MatmulAttrs& attrs) {
  return topi::matmul_of_parts(in[0], in[1], attrs.order, kFloat32);
}

te::Tensor lower_conv(const LowerInput& in, const ConvAttrs& attrs) {
  return topi::conv_of_parts(in[0], in[1], attrs.order, options_of(in.call, attrs, in[0].ndim() - 2));
}

constexpr OpInfo kOps[] = {
    op<&infer_matmul, &lower_matmul, MatmulAttrs>(
        "relax.matmul_of_parts", "x, w",
        "Matrix product in float32 of x [.., m, k], as a sum of parts, and w [parts, .., k, n].",
        FusePattern::kOutFusable),
    op<&infer_conv, &lower_conv, ConvAttrs>(
        "relax.nn.conv_of_parts", "data, weight",
        "Convolution in float32 of data [n, .., c], as a sum of parts, and weight [parts, .., c, o].",
        FusePattern::kOutFusable),
};

}  // namespace

extern constinit const OpTable split_floats_info =
    op_table(kOps,
             "Henry, Tang and Heinecke, Leveraging the bfloat16 Artificial Intelligence Datatype For "
             "Higher-Precision Computations, arXiv 1904.06376");

}  // namespace tilewright::relax
