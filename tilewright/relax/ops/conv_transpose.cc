// Transposed convolutions as sums without gaps, which the pass split_transposed_convs makes from others.
#include "tilewright/te/topi/conv_transpose.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"

namespace tilewright::relax {
namespace {

struct PhaseAttrs {
  std::vector<int64_t> window, strides, padding, dilation, output_padding;
  int64_t groups = 1;
  bool channel_first = false;
  DataType out_dtype = DataType::void_();
  static constexpr auto fields() {
    using A = PhaseAttrs;
    return std::tuple{
        field<&A::window>("window", "extents of the kernel"),
        field<&A::strides>("strides", "step of the window: one per dimension"),
        field<&A::padding>("padding", "elements left out before each dimension, then after each"),
        field<&A::dilation>("dilation", "distance of kernel elements: one per dimension"),
        field<&A::output_padding>("output_padding", "additional elements at the end of each dimension"),
        field<&A::groups>("groups", "channels are split into this many independent convolutions"),
        field<&A::channel_first>("channel_first", "data is [n, c, spatial...], not [n, spatial..., c]"),
        field<&A::out_dtype>("out_dtype", "dtype of the result; void: that of data")};
  }
};

struct PhaseWeightAttrs : PhaseAttrs {
  std::string kernel_layout;
  std::vector<int64_t> part;
  static constexpr auto fields() {
    using A = PhaseWeightAttrs;
    return std::tuple_cat(
        std::tuple{field<&A::kernel_layout>("kernel_layout", "order of dimensions, e.g. \"IOHW\""),
                   field<&A::part>("part", "for each dimension 0, or 1 for the residues of fewer elements")},
        PhaseAttrs::fields());
  }
};

void check_numbers(const Call& call, const std::vector<int64_t>& values, std::string_view name, size_t size,
                   int64_t least) {
  if (values.size() != size) fail(call, "{} has {} numbers, expected {}", name, values.size(), size);
  for (int64_t value : values) {
    if (value < least) fail(call, "{} is {}, expected at least {}", name, value, least);
  }
}

std::vector<topi::TransposedAxis> axes_of(const Call& call, const PhaseAttrs& attrs, size_t count) {
  check_numbers(call, attrs.window, "window", count, 1);
  check_numbers(call, attrs.strides, "strides", count, 1);
  check_numbers(call, attrs.dilation, "dilation", count, 1);
  check_numbers(call, attrs.padding, "padding", 2 * count, 0);
  check_numbers(call, attrs.output_padding, "output_padding", count, 0);
  if (attrs.groups < 1) fail(call, "groups is {}, expected at least 1", attrs.groups);
  std::vector<topi::TransposedAxis> axes;
  for (size_t n = 0; n < count; ++n)
    axes.push_back({attrs.window[n], attrs.strides[n], attrs.dilation[n], attrs.padding[n],
                    attrs.padding[count + n], attrs.output_padding[n]});
  return axes;
}

std::vector<size_t> part_of(const Call& call, const PhaseWeightAttrs& attrs,
                            const std::vector<topi::TransposedAxis>& axes) {
  const std::vector<size_t> part(attrs.part.begin(), attrs.part.end());
  const auto parts = topi::parts_of(axes);
  if (std::find(parts.begin(), parts.end(), part) == parts.end())
    fail(call, "part [{}] is none of the {} of the sums", fmt::join(attrs.part, ", "), parts.size());
  return part;
}

Shape weight_shape(const Shape& weight, const PhaseWeightAttrs& attrs,
                   const std::vector<topi::TransposedAxis>& axes, const std::vector<size_t>& part) {
  Shape shape;
  for (size_t n = 0; n < axes.size(); ++n)
    shape.push_back(extent_imm(topi::residues_of(axes[n])[part[n]].count));
  for (size_t n = 0; n < axes.size(); ++n)
    shape.push_back(extent_imm(topi::residues_of(axes[n])[part[n]].taps));
  shape.push_back(tir::floordiv(weight[attrs.kernel_layout.find('I')], extent_imm(attrs.groups)));
  shape.push_back(weight[attrs.kernel_layout.find('O')] * extent_imm(attrs.groups));
  for (PrimExpr& extent : shape) extent = arith::simplify(extent);
  return shape;
}

Type infer_weight(const Call& call, const PhaseWeightAttrs& attrs) {
  const size_t ndim = attrs.kernel_layout.size();
  require_ndim(call, 0, static_cast<int64_t>(ndim));
  const TensorTypeNode* weight = tensor_arg(call, 0);
  const bool has_channels = attrs.kernel_layout.find('I') != std::string::npos &&
                            attrs.kernel_layout.find('O') != std::string::npos;
  if (!has_channels || ndim < 3)
    fail(call, "kernel_layout is \"{}\", expected dimensions I, O and spatial ones", attrs.kernel_layout);
  const std::vector<topi::TransposedAxis> axes = axes_of(call, attrs, ndim - 2);
  const std::vector<size_t> part = part_of(call, attrs, axes);
  const Shape* shape = known_shape(weight);
  if (!shape) return tensor_type_of_ndim(static_cast<int64_t>(2 * axes.size() + 2), weight->dtype);
  return tensor_type(weight_shape(*shape, attrs, axes, part), weight->dtype);
}

te::Tensor lower_weight(const LowerInput& in, const PhaseWeightAttrs& attrs) {
  const std::vector<topi::TransposedAxis> axes = axes_of(in.call, attrs, attrs.kernel_layout.size() - 2);
  return topi::phase_weight(in[0], attrs.kernel_layout, axes, attrs.groups, part_of(in.call, attrs, axes));
}

// ---- the sums

Type infer_sums(const Call& call, const PhaseAttrs& attrs) {
  const size_t count = attrs.window.size();
  const std::vector<topi::TransposedAxis> axes = axes_of(call, attrs, count);
  require_ndim(call, 0, static_cast<int64_t>(count + 2));
  const auto parts = topi::parts_of(axes);
  const std::vector<const TensorTypeNode*> weights = tensors_arg(call, 1);
  if (weights.size() != parts.size())
    fail(call, "{}, expected {}", count_text(weights.size(), "weight"), parts.size());
  const TensorTypeNode* data = tensor_arg(call, 0);
  const auto ndim = static_cast<int64_t>(2 * count + 2);
  for (const TensorTypeNode* weight : weights) {
    if (weight->ndim != ndim && weight->ndim >= 0)
      fail(call, "a weight is {}, expected {} dimensions", short_text(weight), ndim);
  }
  const DataType dtype = attrs.out_dtype.is_void() ? data->dtype : attrs.out_dtype;
  const Shape *shape = known_shape(data), *weight = known_shape(weights[0]);
  if (!shape || !weight) return tensor_type_of_ndim(static_cast<int64_t>(count + 2), dtype);
  Shape result{(*shape)[0]};
  for (size_t n = 0; n < count; ++n)
    result.push_back(topi::conv_transpose_extent((*shape)[n + (attrs.channel_first ? 2 : 1)], axes[n]));
  result.push_back(weight->back());
  return tensor_type(std::move(result), dtype);
}

te::Tensor lower_sums(const LowerInput& in, const PhaseAttrs& attrs) {
  return topi::conv_transpose_by_phase(in[0], in.args[1],
                                       {.axes = axes_of(in.call, attrs, attrs.window.size()),
                                        .groups = attrs.groups,
                                        .is_channel_first = attrs.channel_first,
                                        .dtype = in.out_dtype()});
}

// ---- phases that lie in channels

struct InterleaveAttrs {
  std::vector<int64_t> strides, before, after;
  static constexpr auto fields() {
    using A = InterleaveAttrs;
    return std::tuple{field<&A::strides>("strides", "phases of each spatial dimension"),
                      field<&A::before>("before", "elements left out before each spatial dimension"),
                      field<&A::after>("after", "elements left out after each spatial dimension")};
  }
};

Shape interleaved_extents(const Shape& data, const InterleaveAttrs& attrs) {
  Shape result;
  for (size_t n = 0; n < attrs.strides.size(); ++n)
    result.push_back(arith::simplify(data[n + 2] * attrs.strides[n] - (attrs.before[n] + attrs.after[n])));
  return result;
}

Type infer_interleaved(const Call& call, const InterleaveAttrs& attrs, Requirements& require) {
  const size_t count = attrs.strides.size();
  require_ndim(call, 0, static_cast<int64_t>(count + 2));
  check_numbers(call, attrs.strides, "strides", count, 1);
  check_numbers(call, attrs.before, "before", count, 0);
  check_numbers(call, attrs.after, "after", count, 0);
  const TensorTypeNode* data = tensor_arg(call, 0);
  const Shape* shape = known_shape(data);
  if (!shape) return tensor_type_of_ndim(static_cast<int64_t>(count + 2), data->dtype);
  int64_t phases = 1;
  for (int64_t stride : attrs.strides) phases *= stride;
  require.equal(tir::floormod(as_extent((*shape)[1]), phases), extent_imm(0),
                "{} channels do not divide into {} phases", (*shape)[1], phases);
  Shape result{(*shape)[0], arith::simplify(tir::floordiv((*shape)[1], extent_imm(phases)))};
  for (const PrimExpr& extent : interleaved_extents(*shape, attrs)) {
    require.holds(tir::operator>=(as_extent(extent), 0), "data {} leaves {} elements of a dimension", *shape,
                  extent);
    result.push_back(extent);
  }
  return tensor_type(std::move(result), data->dtype);
}

te::Tensor lower_interleaved(const LowerInput& in, const InterleaveAttrs& attrs) {
  return topi::interleave_phases(in[0], attrs.before, attrs.strides,
                                 interleaved_extents(in[0].shape(), attrs));
}

constexpr OpInfo kOps[] = {
    op<infer_weight, lower_weight, PhaseWeightAttrs>(
        "relax.nn.phase_weight", "weight",
        "The kernel elements of one part of the sums of nn.conv_transpose_by_phase.",
        FusePattern::kInjective),
    op<infer_sums, lower_sums, PhaseAttrs>(
        "relax.nn.conv_transpose_by_phase", "data, weights",
        "Transposed convolution by nn.phase_weight of each part of its sums, with channels last.",
        FusePattern::kOutFusable),
    op<infer_interleaved, lower_interleaved, InterleaveAttrs>(
        "relax.nn.interleave_phases", "data",
        "Phases that lie in channels of [n, c * phases, spatial...] next to each other.",
        FusePattern::kInjective),
};

}  // namespace

extern constinit const OpTable conv_transpose_info = op_table(
    kOps, "Dumoulin and Visin, A guide to convolution arithmetic for deep learning, arXiv 1603.07285");

}  // namespace tilewright::relax
