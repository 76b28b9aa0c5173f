// Elementwise operators of two (or three) tensors that broadcast.
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/broadcast.h"

namespace tilewright::relax {
namespace {

using Binary = te::Tensor (*)(const te::Tensor&, const te::Tensor&);

Type infer_arithmetic(const Call& call, Requirements& require) {
  return broadcast_type(call, {0, 1}, common_dtype(call, 0, 1), require);
}
Type infer_compare(const Call& call, Requirements& require) {
  common_dtype(call, 0, 1);
  return broadcast_type(call, {0, 1}, kBoolType, require);
}
Type infer_bits(const Call& call, Requirements& require) {
  const DataType dtype = common_dtype(call, 0, 1);
  if (dtype.is_float()) fail(call, "the arguments are {}, expected integers or bool", dtype.str());
  return broadcast_type(call, {0, 1}, dtype, require);
}

Type infer_float(const Call& call, Requirements& require) {
  const DataType dtype = common_dtype(call, 0, 1);
  if (!dtype.is_void() && !dtype.is_float())
    fail(call, "the arguments are {}, expected floating-point tensors", dtype.str());
  return broadcast_type(call, {0, 1}, dtype, require);
}

template <Binary kFunction>
te::Tensor lower_binary(const LowerInput& in) {
  return kFunction(in[0], in[1]);
}

Type infer_where(const Call& call, Requirements& require) {
  const DataType condition = tensor_arg(call, 0)->dtype;
  if (!condition.is_void() && !condition.is_bool())
    fail(call, "condition is {}, expected bool", condition.str());
  return broadcast_type(call, {0, 1, 2}, common_dtype(call, 1, 2), require);
}
te::Tensor lower_where(const LowerInput& in) { return topi::where(in[0], in[1], in[2]); }

Type infer_fma(const Call& call, Requirements& require) {
  common_dtype(call, 0, 1);
  return broadcast_type(call, {0, 1, 2}, common_dtype(call, 0, 2), require);
}
te::Tensor lower_fma(const LowerInput& in) { return topi::add(topi::multiply(in[0], in[1]), in[2]); }

struct PreluAttrs {
  int64_t axis = 1;
  static constexpr auto fields() {
    return std::tuple{field<&PreluAttrs::axis>("axis", "the dimension that alpha has a slope for")};
  }
};
Type infer_prelu(const Call& call, const PreluAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *alpha = tensor_arg(call, 1);
  common_dtype(call, 0, 1);
  if (x->ndim < 0) return Type(x);
  const auto axis = static_cast<size_t>(normalize_axis(call, attrs.axis, x->ndim));
  const Shape *shape = known_shape(x), *own = known_shape(alpha);
  if (shape && own)
    require.holds(broadcasts_to(*own, own->size() == 1 ? Shape{(*shape)[axis]} : *shape),
                  "alpha is {}, which does not broadcast to dimension {} of data {}", *own, axis, *shape);
  return Type(x);
}
te::Tensor lower_prelu(const LowerInput& in, const PreluAttrs& attrs) {
  const te::Tensor &x = in[0], &alpha = in[1];
  const auto axis = static_cast<size_t>(normalize_axis(in.call, attrs.axis, static_cast<int64_t>(x.ndim())));
  if (alpha.ndim() != 1) return topi::prelu(x, alpha);
  return te::compute(x.shape(),
                     [&](const std::vector<tir::Var>& i) {
                       const PrimExpr v = x.at({i.begin(), i.end()});
                       const PrimExpr slope =
                           alpha(topi::broadcast_index(alpha.shape()[0], x.shape()[axis], i[axis]));
                       return tir::select(tir::operator>(v, tir::make_const_int(v->dtype, 0)), v, v * slope);
                     },
                     {.name = "T_prelu"});
}

constexpr FusePattern kBroadcast = FusePattern::kBroadcast;

template <Binary kFunction, auto kInfer = &infer_arithmetic>
constexpr OpInfo row(std::string_view name, std::string_view doc) {
  return op<kInfer, &lower_binary<kFunction>>(name, "x1, x2", doc, kBroadcast);
}

constexpr OpInfo kOps[] = {
    row<topi::add>("relax.add", "x1 + x2."),
    row<topi::subtract>("relax.subtract", "x1 - x2."),
    row<topi::multiply>("relax.multiply", "x1 * x2."),
    row<topi::divide>("relax.divide", "x1 / x2; of integers, rounded towards zero."),
    row<topi::floor_divide>("relax.floor_divide", "x1 // x2."),
    row<topi::truncmod>("relax.mod", "The remainder with the sign of x1."),
    row<topi::mod>("relax.floor_mod", "The remainder with the sign of x2."),
    row<topi::power>("relax.power", "x1 to the x2."),
    row<topi::log_add_exp, &infer_float>("relax.log_add_exp", "log(exp(x1) + exp(x2)), without overflow."),
    row<topi::atan2, &infer_float>("relax.atan2", "The angle of the point (x2, x1), from -pi to pi."),
    row<topi::maximum>("relax.maximum", "The larger."),
    row<topi::minimum>("relax.minimum", "The smaller."),
    row<topi::equal, &infer_compare>("relax.equal", "x1 == x2."),
    row<topi::not_equal, &infer_compare>("relax.not_equal", "x1 != x2."),
    row<topi::less, &infer_compare>("relax.less", "x1 < x2."),
    row<topi::less_equal, &infer_compare>("relax.less_equal", "x1 <= x2."),
    row<topi::greater, &infer_compare>("relax.greater", "x1 > x2."),
    row<topi::greater_equal, &infer_compare>("relax.greater_equal", "x1 >= x2."),
    row<topi::logical_and, &infer_compare>("relax.logical_and", "x1 and x2."),
    row<topi::logical_or, &infer_compare>("relax.logical_or", "x1 or x2."),
    row<topi::logical_xor, &infer_compare>("relax.logical_xor", "True where exactly one of x1 and x2 is."),
    row<topi::bitwise_and, &infer_bits>("relax.bitwise_and", "x1 & x2."),
    row<topi::bitwise_or, &infer_bits>("relax.bitwise_or", "x1 | x2."),
    row<topi::bitwise_xor, &infer_bits>("relax.bitwise_xor", "x1 ^ x2."),
    row<topi::left_shift, &infer_bits>("relax.left_shift", "x1 << x2."),
    row<topi::right_shift, &infer_bits>("relax.right_shift", "x1 >> x2."),
    op<infer_where, lower_where>("relax.where", "condition, x1, x2", "x1 where condition, else x2.",
                                 kBroadcast),
    op<infer_fma, lower_fma>("relax.ewise_fma", "x1, x2, x3", "x1 * x2 + x3.", kBroadcast),
    op<infer_prelu, lower_prelu, PreluAttrs>("relax.nn.prelu", "data, alpha",
                                             "data where positive, else alpha * data.", kBroadcast),
};

}  // namespace

extern constinit const OpTable binary_info =
    op_table(kOps, "numpy.org/doc/stable/reference/ufuncs.html, torch.nn.PReLU");

}  // namespace tilewright::relax
