#include "tilewright/te/topi/conv.h"

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/target/costs.h"

namespace tilewright::topi {
using namespace tir;
namespace {

using target::kGraphCosts;

// Positions of the dimensions in a layout.
struct Layout {
  size_t first, channel;        // N or O, and C or I
  std::vector<size_t> spatial;  // D, H, W as far as they are there
};

Layout parse_layout(const std::string& text, char first, char channel) {
  Layout layout{text.find(first), text.find(channel), {}};
  for (char letter : {'D', 'H', 'W'}) {
    if (const size_t at = text.find(letter); at != std::string::npos) layout.spatial.push_back(at);
  }
  if (layout.first == std::string::npos || layout.channel == std::string::npos ||
      layout.spatial.size() + 2 != text.size())
    throw Unsupported("layout \"{}\" is not a permutation of {}, {} and spatial dimensions", text, first,
                      channel);
  return layout;
}

bool has_padding(const std::vector<int64_t>& padding) {
  return std::any_of(padding.begin(), padding.end(), [](int64_t n) { return n != 0; });
}

Tensor padded(const Tensor& data, const Layout& layout, const std::vector<int64_t>& padding) {
  if (!has_padding(padding)) return data;
  std::vector<int64_t> before(data.ndim()), after(data.ndim());
  const size_t num_spatial = layout.spatial.size();
  for (size_t n = 0; n < num_spatial; ++n) {
    before[layout.spatial[n]] = padding[n];
    after[layout.spatial[n]] = padding[num_spatial + n];
  }
  return pad(data, before, after, make_const_int(data.dtype(), 0), "pad_temp");
}

}  // namespace

bool are_groups_apart(int64_t outputs, int64_t terms) {
  const bool has_narrow = outputs % kGraphCosts.group_lanes == 0 || outputs < 2 * kGraphCosts.group_lanes;
  return outputs % kGraphCosts.widest_lanes != 0 && (terms >= kGraphCosts.group_terms || !has_narrow);
}

PrimExpr conv_extent(const PrimExpr& extent, const PrimExpr& kernel, int64_t stride, int64_t pad,
                     int64_t dilation) {
  PrimExpr covered = (kernel - 1) * dilation + 1;
  return arith::simplify(floordiv(extent + pad - covered, stride) + 1);
}

Tensor pad(const Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
           const PrimExpr& value, std::string name) {
  Shape shape;
  for (size_t n = 0; n < x.ndim(); ++n)
    shape.push_back(arith::simplify(x.shape()[n] + (before[n] + after[n])));
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> indices;
                       PrimExpr inside = bool_imm(true);
                       for (size_t n = 0; n < x.ndim(); ++n) {
                         indices.push_back(PrimExpr(i[n]) - before[n]);
                         const PrimExpr axis = i[n];
                         if (before[n] > 0)
                           inside = tir::logical_and(inside, make_const_int(axis->dtype, before[n]) <= axis);
                         if (after[n] > 0) inside = tir::logical_and(inside, axis < x.shape()[n] + before[n]);
                       }
                       PrimExpr element = x.at(indices);
                       if (is_one(inside)) return element;
                       return call(element->dtype, "if_then_else",
                                   {inside, element, tir::cast(element->dtype, value)});
                     },
                     {.name = std::move(name)});
}

namespace {

// True if vectors of channels would cross groups, so that channels are computed group by group.
bool is_by_group(const Tensor& weight, const Layout& data, const Layout& kernel, const ConvOptions& options) {
  int64_t outputs, extent, terms = 1;
  for (size_t dim = 0; dim < weight.ndim(); ++dim) {
    if (dim != kernel.first && as_const_int(weight.shape()[dim], &extent)) terms *= extent;
  }
  const bool is_last = data.channel == data.spatial.size() + 1;
  if (options.groups < 2 || !is_last || !as_const_int(weight.shape()[kernel.first], &outputs)) return false;
  return are_groups_apart(outputs / options.groups, terms);
}

// "group_conv2d_nhwc"
std::string conv_name(const ConvOptions& options, size_t num_spatial, bool is_depthwise) {
  std::string layout = options.data_layout;
  for (char& letter : layout) letter = static_cast<char>(letter - 'A' + 'a');
  const char* kind = is_depthwise ? "depthwise_" : options.groups > 1 ? "group_" : "";
  return fmt::format("{}conv{}d_{}", kind, num_spatial, layout);
}

// x[..., group, channel] as [..., group * channels + channel]
Tensor ungrouped(const Tensor& x, const Shape& shape) {
  const PrimExpr channels = x.shape().back();
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> indices(i.begin(), i.end());
                       const PrimExpr channel = indices.back();
                       indices.back() = floordiv(channel, channels);
                       indices.push_back(floormod(channel, channels));
                       return x.at(indices);
                     },
                     {.name = "ungrouped"});
}

// The sums of conv in `dtype`.
Tensor conv_sums(const Tensor& data, const Tensor& weight, const ConvOptions& options, DataType dtype) {
  const Layout in = parse_layout(options.data_layout, 'N', 'C'),
               kernel = parse_layout(options.kernel_layout, 'O', 'I');
  const size_t num_spatial = in.spatial.size();
  Shape shape(data.ndim());
  shape[in.first] = data.shape()[in.first];
  shape[in.channel] = weight.shape()[kernel.first];
  for (size_t n = 0; n < num_spatial; ++n)
    shape[in.spatial[n]] =
        conv_extent(data.shape()[in.spatial[n]], weight.shape()[kernel.spatial[n]], options.strides[n],
                    options.padding[n] + options.padding[num_spatial + n], options.dilation[n]);
  const Tensor source = padded(data, in, options.padding);
  const PrimExpr group_inputs = weight.shape()[kernel.channel];
  const PrimExpr group_outputs = arith::simplify(floordiv(shape[in.channel], options.groups));
  std::vector<IterVar> reduced;
  const bool is_depthwise =
      options.groups > 1 && is_one(group_inputs);  // one input channel per group: no reduction over channels
  if (!is_depthwise) reduced.push_back(te::reduce_axis(group_inputs, "rc"));
  for (size_t n = 0; n < num_spatial; ++n)
    reduced.push_back(
        te::reduce_axis(weight.shape()[kernel.spatial[n]],
                        num_spatial == 1 ? "rx" : fmt::format("r{}", "zyx"[3 - num_spatial + n])));
  const auto element = [&](const std::vector<Var>& i, const PrimExpr& group, const PrimExpr& channel) {
    std::vector<PrimExpr> at_data(data.ndim()), at_weight(weight.ndim());
    PrimExpr rc = is_depthwise ? make_const_int(channel->dtype, 0) : PrimExpr(reduced[0]->var);
    at_data[in.first] = i[in.first];
    at_data[in.channel] = options.groups == 1 ? rc : group * group_inputs + rc;
    at_weight[kernel.first] = channel;
    at_weight[kernel.channel] = rc;
    for (size_t n = 0; n < num_spatial; ++n) {
      const PrimExpr r = reduced[n + (is_depthwise ? 0 : 1)]->var;
      at_data[in.spatial[n]] = PrimExpr(i[in.spatial[n]]) * options.strides[n] + r * options.dilation[n];
      at_weight[kernel.spatial[n]] = r;
    }
    return te::sum(tir::cast(dtype, source.at(at_data)) * tir::cast(dtype, weight.at(at_weight)), reduced);
  };
  const std::string name = conv_name(options, num_spatial, is_depthwise);
  if (is_depthwise || !is_by_group(weight, in, kernel, options))
    return te::compute(shape,
                       [&](const std::vector<Var>& i) {
                         return element(i, floordiv(i[in.channel], group_outputs), i[in.channel]);
                       },
                       {.name = name});
  Shape grouped = shape;
  grouped.back() = make_const_int(shape.back()->dtype, options.groups);
  grouped.push_back(group_outputs);
  return ungrouped(te::compute(grouped,
                               [&](const std::vector<Var>& i) {
                                 const PrimExpr group = i[in.channel];
                                 return element(i, group, group * group_outputs + i.back());
                               },
                               {.name = name}),
                   shape);
}

DataType result_dtype(const Tensor& data, const ConvOptions& options) {
  return options.out_dtype.is_void() ? data.dtype() : options.out_dtype;
}

}  // namespace

Tensor conv(const Tensor& data, const Tensor& weight, const ConvOptions& options) {
  const DataType dtype = result_dtype(data, options);
  return rounded_to(conv_sums(data, weight, options, dtype_of_sums(dtype)), dtype);
}

Tensor conv_weight_backward(const Tensor& grad, const Tensor& data, const Shape& weight_shape,
                            const ConvOptions& options) {
  const Layout in = parse_layout(options.data_layout, 'N', 'C'),
               kernel = parse_layout(options.kernel_layout, 'O', 'I');
  const size_t num_spatial = in.spatial.size();
  const Tensor source = padded(data, in, options.padding);
  const PrimExpr group_inputs = weight_shape[kernel.channel];
  const PrimExpr group_outputs = floordiv(weight_shape[kernel.first], options.groups);
  std::vector<IterVar> reduced{te::reduce_axis(data.shape()[in.first], "rn")};
  for (size_t n = 0; n < num_spatial; ++n)
    reduced.push_back(te::reduce_axis(grad.shape()[in.spatial[n]], fmt::format("r{}", n)));
  const Tensor sums = te::compute(
      weight_shape,
      [&](const std::vector<Var>& i) {
        std::vector<PrimExpr> at_grad(grad.ndim()), at_data(data.ndim());
        const PrimExpr out_channel = i[kernel.first], in_channel = i[kernel.channel];
        at_grad[in.first] = at_data[in.first] = reduced[0]->var;
        at_grad[in.channel] = out_channel;
        at_data[in.channel] = options.groups == 1
                                  ? in_channel
                                  : floordiv(out_channel, group_outputs) * group_inputs + in_channel;
        for (size_t n = 0; n < num_spatial; ++n) {
          const PrimExpr place = reduced[n + 1]->var, k = i[kernel.spatial[n]];
          at_grad[in.spatial[n]] = place;
          at_data[in.spatial[n]] = place * options.strides[n] + k * options.dilation[n];
        }
        return te::sum(widened(grad.at(at_grad)) * widened(source.at(at_data)), reduced);
      },
      {.name = fmt::format("conv{}d_weight_backward", num_spatial)});
  return rounded_to(sums, data.dtype());
}

namespace {

// The sums of conv_transpose in `dtype`.
Tensor conv_transpose_sums(const Tensor& data, const Tensor& weight, const ConvOptions& options,
                           const std::vector<int64_t>& output_padding, DataType dtype) {
  const Layout in = parse_layout(options.data_layout, 'N', 'C'),
               kernel = parse_layout(options.kernel_layout, 'O', 'I');
  const size_t num_spatial = in.spatial.size();
  const PrimExpr group_outputs = weight.shape()[kernel.first];
  const PrimExpr group_inputs = floordiv(data.shape()[in.channel], options.groups);
  Shape shape(data.ndim());
  shape[in.first] = data.shape()[in.first];
  shape[in.channel] = group_outputs * options.groups;
  for (size_t n = 0; n < num_spatial; ++n) {
    const PrimExpr covered = (weight.shape()[kernel.spatial[n]] - 1) * options.dilation[n] + 1;
    const int64_t pad_both = options.padding[n] + options.padding[num_spatial + n];
    shape[in.spatial[n]] = arith::simplify((data.shape()[in.spatial[n]] - 1) * options.strides[n] + covered -
                                           pad_both + output_padding[n]);
  }
  std::vector<IterVar> reduced{te::reduce_axis(group_inputs, "rc")};
  for (size_t n = 0; n < num_spatial; ++n)
    reduced.push_back(te::reduce_axis(weight.shape()[kernel.spatial[n]], fmt::format("r{}", n)));
  return te::compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<PrimExpr> at_data(data.ndim()), at_weight(weight.ndim());
        const PrimExpr channel = i[in.channel];
        PrimExpr in_channel = reduced[0]->var;
        if (options.groups > 1) in_channel = floordiv(channel, group_outputs) * group_inputs + in_channel;
        at_data[in.first] = i[in.first];
        at_data[in.channel] = in_channel;
        at_weight[kernel.channel] = in_channel;
        at_weight[kernel.first] = options.groups > 1 ? floormod(channel, group_outputs) : channel;
        PrimExpr hit =
            bool_imm(true);  // output y reads data (y + pad - r * dilation) / stride if that is an integer
        for (size_t n = 0; n < num_spatial; ++n) {
          const PrimExpr r = reduced[n + 1]->var;
          PrimExpr shifted = PrimExpr(i[in.spatial[n]]) + options.padding[n] - r * options.dilation[n];
          PrimExpr index = floordiv(shifted, options.strides[n]);
          if (options.strides[n] > 1)
            hit = tir::logical_and(
                hit, tir::equal(floormod(shifted, options.strides[n]), make_const_int(shifted->dtype, 0)));
          hit = tir::logical_and(hit, tir::logical_and(make_const_int(shifted->dtype, 0) <= shifted,
                                                       index < data.shape()[in.spatial[n]]));
          at_data[in.spatial[n]] = index;
          at_weight[kernel.spatial[n]] = r;
        }
        PrimExpr term = tir::cast(dtype, data.at(at_data)) * tir::cast(dtype, weight.at(at_weight));
        return te::sum(call(dtype, "if_then_else", {hit, term, make_const_int(dtype, 0)}), reduced);
      },
      {.name = fmt::format("conv{}d_transpose", num_spatial)});
}

}  // namespace

Tensor conv_transpose(const Tensor& data, const Tensor& weight, const ConvOptions& options,
                      const std::vector<int64_t>& output_padding) {
  const DataType dtype = result_dtype(data, options);
  return rounded_to(conv_transpose_sums(data, weight, options, output_padding, dtype_of_sums(dtype)), dtype);
}

}  // namespace tilewright::topi
