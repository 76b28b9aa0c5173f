// Elementwise operators of one tensor.
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::relax {
namespace {

// A function's name as a template argument.
template <size_t N>
struct Text {
  char data[N];
  constexpr Text(const char (&text)[N]) { std::copy_n(text, N, data); }
};

TensorType same_shape(const TensorTypeNode* x, DataType dtype) {
  const Shape* shape = known_shape(x);
  return shape ? tensor_type(*shape, dtype, x->device) : tensor_type_of_ndim(x->ndim, dtype, x->device);
}

Type infer_same(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  return same_shape(x, x->dtype);
}

Type infer_bits(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->dtype.is_float()) fail(call, "x is {}, expected integers or bool", short_text(x));
  return infer_same(call);
}

Type infer_float(const Call& call) {
  require_float(call, 0);
  return infer_same(call);
}

Type infer_bool(const Call& call) { return same_shape(tensor_arg(call, 0), kBoolType); }

template <Text kName>
te::Tensor lower_math(const LowerInput& in) {
  return topi::math(in[0], kName.data);
}
template <te::Tensor (*kFunction)(const te::Tensor&)>
te::Tensor lower_with(const LowerInput& in) {
  return kFunction(in[0]);
}

// floor, ceil and round do not change integers
template <Text kName>
te::Tensor lower_rounding(const LowerInput& in) {
  return in[0].dtype().is_float() ? topi::math(in[0], kName.data) : topi::cast(in[0], in[0].dtype());
}

constexpr FusePattern kElementwise = FusePattern::kElementwise;

template <Text kName>
constexpr OpInfo math(std::string_view name, std::string_view doc) {
  return op<infer_float, &lower_math<kName>>(name, "x", doc, kElementwise);
}
template <Text kName>
constexpr OpInfo rounding(std::string_view name, std::string_view doc) {
  return op<infer_same, &lower_rounding<kName>>(name, "x", doc, kElementwise);
}
template <te::Tensor (*kFunction)(const te::Tensor&), auto kInfer = &infer_same>
constexpr OpInfo with_topi(std::string_view name, std::string_view doc, std::string_view arg = "x") {
  return op<kInfer, &lower_with<kFunction>>(name, arg, doc, kElementwise);
}

// ---- with attributes or scalars

struct CastAttrs {
  DataType dtype = DataType::void_();
  static constexpr auto fields() {
    return std::tuple{field<&CastAttrs::dtype>("dtype", "the new element type")};
  }
};
Type infer_astype(const Call& call, const CastAttrs& attrs) {
  if (attrs.dtype.is_void()) fail(call, "dtype is not given");
  return same_shape(tensor_arg(call, 0), attrs.dtype);
}
te::Tensor lower_astype(const LowerInput& in, const CastAttrs& attrs) {
  return topi::cast(in[0], attrs.dtype);
}

Type infer_bitcast(const Call& call, const CastAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const bool has_all_bits = !x->dtype.is_bool() && !attrs.dtype.is_bool();
  if (!x->dtype.is_void() && (!has_all_bits || attrs.dtype.bits != x->dtype.bits))
    fail(call, "x is {}, whose elements do not have as many bits as {}", short_text(x), attrs.dtype.str());
  return same_shape(x, attrs.dtype);
}
te::Tensor lower_bitcast(const LowerInput& in, const CastAttrs& attrs) {
  if (in[0].dtype() == attrs.dtype) return in[0];
  return te::compute(in[0].shape(),
                     [&](const std::vector<tir::Var>& i) {
                       return tir::call(attrs.dtype, "reinterpret", {in[0].at({i.begin(), i.end()})});
                     },
                     {.name = "T_bitcast"});
}

struct WrapAttrs {
  DataType dtype = kFloat32;
  static constexpr auto fields() {
    return std::tuple{field<&WrapAttrs::dtype>("dtype", "the element type of the computation")};
  }
};
Type infer_wrap(const Call& call, const WrapAttrs& attrs) {
  return same_shape(tensor_arg(call, 0), attrs.dtype);
}
te::Tensor lower_wrap(const LowerInput& in, const WrapAttrs& attrs) { return topi::cast(in[0], attrs.dtype); }

struct AlphaAttrs {
  double alpha = 0.01;
  static constexpr auto fields() {
    return std::tuple{field<&AlphaAttrs::alpha>("alpha", "slope below zero")};
  }
};
Type infer_alpha(const Call& call, const AlphaAttrs&) { return infer_float(call); }
te::Tensor lower_leaky_relu(const LowerInput& in, const AlphaAttrs& attrs) {
  return topi::leaky_relu(in[0], attrs.alpha);
}

struct SoftplusAttrs {
  double beta = 1, threshold = 20;
  static constexpr auto fields() {
    return std::tuple{
        field<&SoftplusAttrs::beta>("beta", "sharpness of the bend at 0"),
        field<&SoftplusAttrs::threshold>("threshold", "beta * data above which data is the result")};
  }
};
Type infer_softplus(const Call& call, const SoftplusAttrs& attrs) {
  if (attrs.beta == 0) fail(call, "beta is 0");
  return infer_float(call);
}
te::Tensor lower_softplus(const LowerInput& in, const SoftplusAttrs& attrs) {
  return topi::softplus(in[0], attrs.beta, attrs.threshold);
}

te::Tensor lower_relu6(const LowerInput& in) {
  return topi::clip(in[0], tir::make_const_int(in[0].dtype(), 0), tir::make_const_int(in[0].dtype(), 6));
}

Type infer_clip(const Call& call) {
  scalar_arg(call, 1);
  scalar_arg(call, 2);
  return infer_same(call);
}
te::Tensor lower_clip(const LowerInput& in) { return topi::clip(in[0], in.scalar(1), in.scalar(2)); }

constexpr OpInfo kOps[] = {
    math<"exp">("relax.exp", "e to the x."),
    math<"log">("relax.log", "Natural logarithm."),
    math<"log2">("relax.log2", "Logarithm to base 2."),
    math<"log10">("relax.log10", "Logarithm to base 10."),
    math<"sqrt">("relax.sqrt", "Square root."),
    math<"rsqrt">("relax.rsqrt", "1 / sqrt(x)."),
    math<"sin">("relax.sin", "Sine."),
    math<"cos">("relax.cos", "Cosine."),
    math<"tan">("relax.tan", "Tangent."),
    math<"asin">("relax.asin", "Inverse sine."),
    math<"acos">("relax.acos", "Inverse cosine."),
    math<"atan">("relax.atan", "Inverse tangent."),
    math<"sinh">("relax.sinh", "Hyperbolic sine."),
    math<"cosh">("relax.cosh", "Hyperbolic cosine."),
    math<"tanh">("relax.tanh", "Hyperbolic tangent."),
    math<"asinh">("relax.asinh", "Inverse hyperbolic sine."),
    math<"acosh">("relax.acosh", "Inverse hyperbolic cosine."),
    math<"atanh">("relax.atanh", "Inverse hyperbolic tangent."),
    math<"sigmoid">("relax.sigmoid", "1 / (1 + exp(-x))."),
    math<"erf">("relax.erf", "Error function."),
    rounding<"floor">("relax.floor", "Largest integer <= x."),
    rounding<"ceil">("relax.ceil", "Smallest integer >= x."),
    rounding<"round">("relax.round", "Nearest integer, ties to even."),
    rounding<"trunc">("relax.trunc", "Integer part."),
    with_topi<topi::abs>("relax.abs", "Absolute value."),
    with_topi<topi::negative>("relax.negative", "-x."),
    with_topi<topi::sign>("relax.sign", "-1, 0 or 1."),
    with_topi<topi::square>("relax.square", "x * x."),
    with_topi<topi::bitwise_not, &infer_bits>("relax.bitwise_not", "All bits flipped."),
    with_topi<topi::logical_not, &infer_bool>("relax.logical_not", "True where x is zero."),
    with_topi<topi::isnan, &infer_bool>("relax.isnan", "True where x is NaN."),
    with_topi<topi::isinf, &infer_bool>("relax.isinf", "True where x is infinite."),
    with_topi<topi::isfinite, &infer_bool>("relax.isfinite", "True where x is neither NaN nor infinite."),
    with_topi<topi::relu>("relax.nn.relu", "max(data, 0).", "data"),
    with_topi<topi::gelu, &infer_float>("relax.nn.gelu", "data / 2 * (1 + erf(data / sqrt(2))).", "data"),
    with_topi<topi::gelu_tanh, &infer_float>("relax.nn.gelu_tanh", "gelu, approximated by tanh.", "data"),
    with_topi<topi::silu, &infer_float>("relax.nn.silu", "data * sigmoid(data).", "data"),
    with_topi<topi::selu, &infer_float>(
        "relax.nn.selu", "1.0507 * (data where positive, else 1.67326 * (exp(data) - 1)).", "data"),
    op<infer_same, lower_relu6>("relax.nn.relu6", "data", "min(max(data, 0), 6).", kElementwise),
    op<infer_softplus, lower_softplus, SoftplusAttrs>("relax.nn.softplus", "data",
                                                      "log(1 + exp(beta * data)) / beta.", kElementwise),
    op<infer_alpha, lower_leaky_relu, AlphaAttrs>("relax.nn.leakyrelu", "data",
                                                  "data where positive, else alpha * data.", kElementwise),
    op<infer_astype, lower_astype, CastAttrs>(
        "relax.astype", "x", "The values as another dtype; float to int truncates.", kElementwise),
    op<infer_bitcast, lower_bitcast, CastAttrs>(
        "relax.bitcast", "x", "The bits of the elements as another dtype of equal size.", kElementwise),
    op<infer_wrap, lower_wrap, WrapAttrs>("relax.wrap_param", "data",
                                          "A parameter in the dtype of the model.", kElementwise),
    op<infer_clip, lower_clip>("relax.clip", "x, min, max", "min(max(x, min), max).", kElementwise),
};

}  // namespace

extern constinit const OpTable unary_info = op_table(
    kOps, "numpy.org/doc/stable/reference/ufuncs.html, torch.nn.functional (gelu, selu, silu, softplus)");

}  // namespace tilewright::relax
