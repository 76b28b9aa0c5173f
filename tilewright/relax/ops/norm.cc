// Normalizations, softmax and dropout in their inference form.
#include "tilewright/te/topi/norm.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/softmax.h"

namespace tilewright::relax {
namespace {

void require_float(const Call& call) {
  const TensorTypeNode* data = tensor_arg(call, 0);
  if (!data->dtype.is_void() && !data->dtype.is_float())
    fail(call, "{} is {}, expected a floating-point tensor", arg_name(call, 0), short_text(data));
}

// Requires argument `n` to have the extents of data along `axes`.
void require_shape_of_axes(const Call& call, size_t n, const std::vector<int64_t>& axes,
                           Requirements& require) {
  const TensorTypeNode *data = tensor_arg(call, 0), *arg = tensor_arg(call, n);
  require_ndim(call, n, static_cast<int64_t>(axes.size()));
  const Shape *shape = known_shape(data), *mine = known_shape(arg);
  if (!shape || !mine) return;
  Shape expected;
  for (int64_t axis : axes) expected.push_back((*shape)[static_cast<size_t>(axis)]);
  require.equal(*mine, expected, "{} is {}, expected {} as {} is {}", arg_name(call, n), *mine, expected,
                arg_name(call, 0), *shape);
}

struct AxisAttrs {
  int64_t axis = -1;
  static constexpr auto fields() {
    return std::tuple{field<&AxisAttrs::axis>("axis", "the dimension whose values sum to 1")};
  }
};
Type infer_softmax(const Call& call, const AxisAttrs& attrs) {
  require_float(call);
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim >= 0) normalize_axis(call, attrs.axis, x->ndim);
  return Type(x);
}
te::Tensor lower_softmax(const LowerInput& in, const AxisAttrs& attrs) {
  return topi::softmax(in[0], normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim())));
}
te::Tensor lower_log_softmax(const LowerInput& in, const AxisAttrs& attrs) {
  return topi::log_softmax(in[0], normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim())));
}

struct BatchNormAttrs {
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true, scale = true;
  double momentum = 0.1;
  bool training = false;
  static constexpr auto fields() {
    return std::tuple{field<&BatchNormAttrs::axis>("axis", "the dimension that the statistics belong to"),
                      field<&BatchNormAttrs::epsilon>("epsilon", "added to the variance"),
                      field<&BatchNormAttrs::center>("center", "whether beta is added"),
                      field<&BatchNormAttrs::scale>("scale", "whether gamma is multiplied"),
                      field<&BatchNormAttrs::momentum>("momentum", "weight of new statistics; training only"),
                      field<&BatchNormAttrs::training>("training", "whether statistics come from data")};
  }
};
// (normalized data, mean, variance): the statistics are returned unchanged; in
// training, mixed with the data's
Type infer_batch_norm(const Call& call, const BatchNormAttrs& attrs, Requirements& require) {
  require_float(call);
  const TensorTypeNode* data = tensor_arg(call, 0);
  if (data->ndim >= 0) {
    const int64_t axis = normalize_axis(call, attrs.axis, data->ndim);
    for (size_t n = 1; n < 5; ++n) require_shape_of_axes(call, n, {axis}, require);
  }
  return tuple_type({Type(data), Type(tensor_arg(call, 3)), Type(tensor_arg(call, 4))});
}
std::vector<te::Tensor> lower_batch_norm(const LowerInput& in, const BatchNormAttrs& attrs) {
  const int64_t axis = normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim()));
  if (attrs.training) {
    topi::Axes others;
    for (size_t n = 0; n < in[0].ndim(); ++n)
      if (static_cast<int64_t>(n) != axis) others.push_back(static_cast<int64_t>(n));
    const auto [mean, variance] = topi::moments(in[0], others, false);
    auto mixed = [&](const te::Tensor& old, const te::Tensor& now) {
      return topi::binary(old, now, "T_moving", [&](PrimExpr a, PrimExpr b) {
        return tir::cast(a->dtype, topi::widened(a) * tir::make_const(b->dtype, 1 - attrs.momentum) +
                                       b * tir::make_const(b->dtype, attrs.momentum));
      });
    };
    return {
        topi::batch_norm(in[0], in[1], in[2], mean, variance, axis, attrs.epsilon, attrs.center, attrs.scale),
        mixed(in[3], mean), mixed(in[4], variance)};
  }
  return {topi::batch_norm(in[0], in[1], in[2], in[3], in[4], axis, attrs.epsilon, attrs.center, attrs.scale),
          in[3], in[4]};
}

struct LayerNormAttrs {
  std::vector<int64_t> axes = {-1};
  double epsilon = 1e-5;
  bool center = true, scale = true;
  static constexpr auto fields() {
    return std::tuple{field<&LayerNormAttrs::axes>("axes", "the dimensions normalized together"),
                      field<&LayerNormAttrs::epsilon>("epsilon", "added to the variance"),
                      field<&LayerNormAttrs::center>("center", "whether beta is added"),
                      field<&LayerNormAttrs::scale>("scale", "whether gamma is multiplied")};
  }
};
Type infer_layer_norm(const Call& call, const LayerNormAttrs& attrs, Requirements& require) {
  require_float(call);
  const TensorTypeNode* data = tensor_arg(call, 0);
  if (data->ndim >= 0) {
    const std::vector<int64_t> axes = normalize_axes(call, attrs.axes, data->ndim);
    for (size_t n = 1; n < 3; ++n) require_shape_of_axes(call, n, axes, require);
  }
  return Type(data);
}
te::Tensor lower_layer_norm(const LowerInput& in, const LayerNormAttrs& attrs) {
  return topi::layer_norm(in[0], in[1], in[2],
                          normalize_axes(in.call, attrs.axes, static_cast<int64_t>(in[0].ndim())),
                          attrs.epsilon, attrs.center, attrs.scale);
}

struct RmsNormAttrs {
  std::vector<int64_t> axes = {-1};
  double epsilon = 1e-5;
  static constexpr auto fields() {
    return std::tuple{field<&RmsNormAttrs::axes>("axes", "the dimensions normalized together"),
                      field<&RmsNormAttrs::epsilon>("epsilon", "added to the mean square")};
  }
};
Type infer_rms_norm(const Call& call, const RmsNormAttrs& attrs, Requirements& require) {
  require_float(call);
  const TensorTypeNode* data = tensor_arg(call, 0);
  if (data->ndim >= 0) require_shape_of_axes(call, 1, normalize_axes(call, attrs.axes, data->ndim), require);
  return Type(data);
}
te::Tensor lower_rms_norm(const LowerInput& in, const RmsNormAttrs& attrs) {
  return topi::rms_norm(in[0], in[1], normalize_axes(in.call, attrs.axes, static_cast<int64_t>(in[0].ndim())),
                        attrs.epsilon);
}

struct DropoutAttrs {
  double rate = 0.5;
  static constexpr auto fields() {
    return std::tuple{field<&DropoutAttrs::rate>("rate", "share of the values set to zero in training")};
  }
};
// (data, mask): in inference the unchanged data, and ones
Type infer_dropout(const Call& call, const DropoutAttrs&) {
  const Type data(tensor_arg(call, 0));
  return tuple_type({data, data});
}
std::vector<te::Tensor> lower_dropout(const LowerInput& in, const DropoutAttrs&) {
  return {in[0],
          topi::elementwise(in[0], "T_mask", [](PrimExpr v) { return tir::make_const_int(v->dtype, 1); })};
}

constexpr OpInfo kOps[] = {
    op<infer_softmax, lower_softmax, AxisAttrs>(
        "relax.nn.softmax", "data", "exp(x) / sum(exp(x)) along an axis.", FusePattern::kOutFusable),
    op<infer_softmax, lower_log_softmax, AxisAttrs>("relax.nn.log_softmax", "data", "log(softmax(x)).",
                                                    FusePattern::kOutFusable),
    op<infer_batch_norm, lower_batch_norm, BatchNormAttrs>(
        "relax.nn.batch_norm", "data, gamma, beta, moving_mean, moving_var",
        "(data - mean) / sqrt(var + epsilon) * gamma + beta, with given statistics.",
        FusePattern::kBroadcast),
    op<infer_layer_norm, lower_layer_norm, LayerNormAttrs>(
        "relax.nn.layer_norm", "data, gamma, beta", "Normalizes over axes, with the statistics of the data.",
        FusePattern::kOutFusable),
    op<infer_rms_norm, lower_rms_norm, RmsNormAttrs>("relax.nn.rms_norm", "data, weight",
                                                     "Divides by the root of the mean square.",
                                                     FusePattern::kOutFusable),
    op<infer_dropout, lower_dropout, DropoutAttrs>("relax.nn.dropout", "data",
                                                   "The data unchanged, and the mask of ones: inference.",
                                                   FusePattern::kElementwise),
};

}  // namespace

extern constinit const OpTable norm_info =
    op_table(kOps,
             "Ioffe and Szegedy, arXiv 1502.03167 (batch_norm); Ba et al., arXiv 1607.06450 (layer_norm); "
             "Zhang and Sennrich, arXiv 1910.07467 (rms_norm)");

}  // namespace tilewright::relax
