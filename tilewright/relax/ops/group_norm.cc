// Normalizations over groups of channels of each sample.
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/norm.h"

namespace tilewright::relax {
namespace {

struct InstanceAttrs {
  int64_t channel_axis = 1;
  std::vector<int64_t> axes;
  double epsilon = 1e-5;
  bool center = true, scale = true;
  static constexpr auto fields() {
    return std::tuple{
        field<&InstanceAttrs::channel_axis>("channel_axis", "the dimension of channels"),
        field<&InstanceAttrs::axes>("axes", "other dimensions normalized together, e.g. [2, 3]"),
        field<&InstanceAttrs::epsilon>("epsilon", "added to the variance"),
        field<&InstanceAttrs::center>("center", "whether beta is added"),
        field<&InstanceAttrs::scale>("scale", "whether gamma is multiplied")};
  }
};
struct GroupAttrs : InstanceAttrs {
  int64_t num_groups = 1;
  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{field<&GroupAttrs::num_groups>("num_groups", "number of groups of channels")},
        InstanceAttrs::fields());
  }
};

Type infer(const Call& call, const InstanceAttrs& attrs, Requirements& require) {
  const TensorTypeNode* data = tensor_arg(call, 0);
  if (!data->dtype.is_void() && !data->dtype.is_float())
    fail(call, "data is {}, expected a floating-point tensor", short_text(data));
  for (size_t n = 1; n < 3; ++n) require_ndim(call, n, 1);
  if (data->ndim < 0) return Type(data);
  const int64_t channel = normalize_axis(call, attrs.channel_axis, data->ndim);
  for (int64_t axis : normalize_axes(call, attrs.axes, data->ndim)) {
    if (axis == channel) fail(call, "axes contain the channel axis {}", channel);
  }
  const Shape* shape = known_shape(data);
  for (size_t n = 1; shape && n < 3; ++n) {
    const Shape* given = known_shape(tensor_arg(call, n));
    const PrimExpr& channels = (*shape)[static_cast<size_t>(channel)];
    if (given)
      require.equal((*given)[0], channels, "{} is {}, expected one value for each of {} channels",
                    arg_name(call, n), *given, channels);
  }
  return Type(data);
}
Type infer_group(const Call& call, const GroupAttrs& attrs, Requirements& require) {
  if (attrs.num_groups < 1) fail(call, "num_groups is {}, expected at least 1", attrs.num_groups);
  const Type type = infer(call, attrs, require);
  const TensorTypeNode* data = tensor_arg(call, 0);
  if (const Shape* shape = known_shape(data)) {
    const PrimExpr& channels =
        (*shape)[static_cast<size_t>(normalize_axis(call, attrs.channel_axis, data->ndim))];
    require.equal(tir::floormod(as_extent(channels), attrs.num_groups), extent_imm(0),
                  "{} channels do not divide into {} groups", channels, attrs.num_groups);
  }
  return type;
}

te::Tensor lower_groups(const LowerInput& in, const InstanceAttrs& attrs, const PrimExpr& num_groups) {
  const auto ndim = static_cast<int64_t>(in[0].ndim());
  return topi::group_norm(in[0], in[1], in[2], num_groups, normalize_axis(in.call, attrs.channel_axis, ndim),
                          normalize_axes(in.call, attrs.axes, ndim), attrs.epsilon, attrs.center,
                          attrs.scale);
}
te::Tensor lower_group(const LowerInput& in, const GroupAttrs& attrs) {
  return lower_groups(in, attrs, extent_imm(attrs.num_groups));
}
te::Tensor lower_instance(const LowerInput& in, const InstanceAttrs& attrs) {
  const auto axis = normalize_axis(in.call, attrs.channel_axis, static_cast<int64_t>(in[0].ndim()));
  return lower_groups(in, attrs, in[0].shape()[static_cast<size_t>(axis)]);
}

constexpr OpInfo kOps[] = {
    op<infer_group, lower_group, GroupAttrs>("relax.nn.group_norm", "data, gamma, beta",
                                             "Normalized over groups of channels of each sample.",
                                             FusePattern::kOutFusable),
    op<infer, lower_instance, InstanceAttrs>("relax.nn.instance_norm", "data, gamma, beta",
                                             "Normalized over each channel of each sample.",
                                             FusePattern::kOutFusable),
};

}  // namespace

extern constinit const OpTable group_norm_info =
    op_table(kOps,
             "Wu and He, Group Normalization, arXiv 1803.08494; Ulyanov et al., Instance Normalization, "
             "arXiv 1607.08022");

}  // namespace tilewright::relax
