#include "tilewright/relax/products/transposed_conv.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "tilewright/arith/likely.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/target/costs.h"

namespace tilewright::relax {

using Ints = std::vector<int64_t>;

Expr permuted(const Expr& expr, const Ints& axes) {
  Ints same(axes.size());
  std::iota(same.begin(), same.end(), 0);
  if (axes == same) return expr;
  return call_op("relax.permute_dims", {expr}, AttrMap{{"axes", attr(axes)}});
}

Ints order_of(const std::string& layout, const std::string& wanted) {
  Ints axes;
  for (char letter : wanted) axes.push_back(static_cast<int64_t>(layout.find(letter)));
  return axes;
}

std::string spatial_letters(const std::string& layout) {
  std::string letters;
  for (char letter : layout) {
    if (letter == 'D' || letter == 'H' || letter == 'W') letters += letter;
  }
  std::sort(letters.begin(), letters.end());
  return letters;
}

namespace {

bool is_transposed(std::string_view name) {
  return name == "relax.nn.conv1d_transpose" || name == "relax.nn.conv2d_transpose" ||
         name == "relax.nn.conv3d_transpose";
}

}  // namespace

std::optional<Transposed> transposed_of(const Call& call) {
  if (!is_transposed(op_name(call.get()))) return std::nullopt;
  const std::optional<Ints> weight = constant_shape(call->args[1]);
  const Shape* data = known_shape(call->args[0]);
  if (!weight || !data || !known_shape(Expr(call)) ||
      std::find(weight->begin(), weight->end(), 0) != weight->end())
    return std::nullopt;
  Transposed result{call, transposed_options(call), *weight};
  const std::string letters = spatial_letters(result.how.conv.data_layout);
  for (size_t n = 0; n < result.count(); ++n) {
    topi::TransposedAxis& axis = result.how.axes[n];
    axis.window = result.extent(letters[n]);
    // one element of data meets each kernel element once: there is nothing to add up
    const PrimExpr& extent = (*data)[result.how.conv.data_layout.find(letters[n])];
    if (tir::is_one(extent)) axis.stride = std::max(axis.stride, (axis.window - 1) * axis.dilation + 1);
  }
  return result;
}

// ---- stride 1

namespace {

// [i, o, ...] as [groups * o, i / groups, ...], the elements of the window in reverse.
Expr flipped_weight(const Transposed& conv, const std::string& letters) {
  const Ints order = order_of(conv.how.conv.kernel_layout, "IO" + letters);
  Ints window, kernel;
  for (char letter : letters) window.push_back(conv.extent(letter));
  const int64_t groups = conv.how.conv.groups, inputs = conv.extent('I') / groups, outputs = conv.extent('O');
  Expr weight = permuted(conv.call->args[1], order);
  if (groups > 1) {
    Ints divided{groups, inputs, outputs}, axes{0, 2, 1};
    divided.insert(divided.end(), window.begin(), window.end());
    for (size_t n = 3; n < divided.size(); ++n) axes.push_back(static_cast<int64_t>(n));
    weight = permuted(reshaped(weight, divided), axes);
    Ints joined{groups * outputs, inputs};
    joined.insert(joined.end(), window.begin(), window.end());
    weight = reshaped(weight, joined);
  } else {
    Ints axes(window.size() + 2);
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[0], axes[1]);
    weight = permuted(weight, axes);
  }
  for (size_t n = 0; n < window.size(); ++n) {
    if (window[n] > 1)
      weight = call_op("relax.flip", {weight}, AttrMap{{"axis", attr(static_cast<int64_t>(n + 2))}});
  }
  return weight;
}

}  // namespace

Expr conv_of_stride_1(const Transposed& conv) {
  Ints before, after;
  for (const topi::TransposedAxis& axis : conv.how.axes) {
    const int64_t reach = (axis.window - 1) * axis.dilation;
    if (axis.stride != 1) return nullptr;
    before.push_back(reach - axis.before);
    after.push_back(reach - axis.after + axis.output_padding);
  }
  before.insert(before.end(), after.begin(), after.end());
  if (*std::min_element(before.begin(), before.end()) < 0) return nullptr;
  const std::string letters = spatial_letters(conv.how.conv.kernel_layout);
  const AttrMap attrs{
      {"strides", attr(conv.how.conv.strides)},         {"padding", attr(before)},
      {"dilation", attr(conv.how.conv.dilation)},       {"groups", attr(conv.how.conv.groups)},
      {"data_layout", attr(conv.how.conv.data_layout)}, {"kernel_layout", attr("OI" + letters)},
      {"out_dtype", attr(dtype_of(Expr(conv.call)))}};
  return call_op(fmt::format("relax.nn.conv{}d", conv.count()),
                 {conv.call->args[0], flipped_weight(conv, letters)}, attrs, conv.call->span);
}

// ---- few outputs: all phases as channels of one convolution

namespace {

// [i, o, ...] as [o * strides, i, elements of a residue...]: the elements of each residue in reverse, with
// zeros where there are fewer.
Constant weight_of_phases(const runtime::Tensor& weight, const Transposed& conv) {
  const runtime::Tensor source = weight.compact();
  const std::string& layout = conv.how.conv.kernel_layout;
  const std::string letters = spatial_letters(layout);
  const auto bytes = static_cast<size_t>(weight.dtype().num_bytes());
  Ints stride(layout.size(), 1), shape{conv.extent('O')};
  for (size_t dim = layout.size(); dim-- > 1;) stride[dim - 1] = stride[dim] * conv.weight[dim];
  for (const topi::TransposedAxis& axis : conv.how.axes) shape.push_back(axis.stride);
  shape.push_back(conv.extent('I'));
  for (const topi::TransposedAxis& axis : conv.how.axes) shape.push_back((axis.window - 1) / axis.stride + 1);
  const size_t count = conv.count();
  Ints joined{1, conv.extent('I')};
  for (size_t n = 0; n <= count; ++n) joined[0] *= shape[n];
  joined.insert(joined.end(), shape.end() - static_cast<std::ptrdiff_t>(count), shape.end());
  const runtime::Tensor result = runtime::Tensor::empty(joined, weight.dtype());
  const auto* from = static_cast<const char*>(source.data());
  auto* to = static_cast<char*>(result.data());
  Ints index(shape.size());
  for (int64_t place = 0; place < result.num_elements(); ++place, to += bytes) {
    int64_t rest = place;
    for (size_t n = shape.size(); n-- > 0; rest /= shape[n]) index[n] = rest % shape[n];
    int64_t at = index[0] * stride[layout.find('O')] + index[count + 1] * stride[layout.find('I')];
    bool is_there = true;
    for (size_t n = 0; n < count; ++n) {
      const int64_t taps = shape[count + 2 + n],
                    k = index[n + 1] + (taps - 1 - index[count + 2 + n]) * conv.how.axes[n].stride;
      is_there &= k < conv.how.axes[n].window;
      at += k * stride[layout.find(letters[n])];
    }
    if (is_there)
      std::memcpy(to, from + static_cast<size_t>(at) * bytes, bytes);
    else
      std::memset(to, 0, bytes);
  }
  return make_constant(result);
}

// The sums of phases that all have as many kernel elements as the one with the most, relative to what is
// needed.
double share_of_zeros(const Transposed& conv) {
  double share = 1;
  for (const topi::TransposedAxis& axis : conv.how.axes) {
    if (axis.dilation != 1) return std::numeric_limits<double>::infinity();
    const int64_t all = ((axis.window - 1) / axis.stride + 1) * axis.stride;
    share *= static_cast<double>(all) / static_cast<double>(axis.window);
  }
  return share;
}

// True if rows of an image with its channels first fill vectors, so that it need not be permuted.
bool has_full_rows(const Transposed& conv, int64_t columns) {
  constexpr int64_t kFewVectors = 2;
  const int64_t lanes = target::kGraphCosts.widest_lanes, vectors = (columns + lanes - 1) / lanes;
  return share_of_zeros(conv) == 1 && vectors >= kFewVectors && 10 * columns >= 9 * vectors * lanes;
}

// True if vectors along outputs would be emptier than the sums are larger with zeros.
bool has_few_outputs(const Transposed& conv) {
  return 2 * share_of_zeros(conv) * static_cast<double>(conv.extent('O')) <=
         static_cast<double>(target::kGraphCosts.widest_lanes);
}

}  // namespace

Expr phases_as_channels(const Transposed& conv, bool is_alone, const AttrMap& likely_sizes) {
  const std::string letters = spatial_letters(conv.how.conv.data_layout);
  const auto* weight = conv.call->args[1].as<ConstantNode>();
  if (conv.how.conv.groups != 1 || !weight || weight->data.dtype().bits % 8 != 0 || conv.extent('I') == 1 ||
      conv.how.conv.data_layout != "NC" + letters)
    return nullptr;
  Ints before, after, strides, left_out, surplus;
  for (const topi::TransposedAxis& axis : conv.how.axes) {
    const int64_t reach = (axis.window - 1) / axis.stride, begin = std::min(axis.before / axis.stride, reach);
    // the result has (extent - 1) * stride + more elements
    const int64_t more = axis.window - axis.before - axis.after + axis.output_padding;
    const int64_t last = more - 1 + axis.before;  // the place of the last one, beyond those of whole strides
    strides.push_back(axis.stride);
    before.push_back(reach - begin);
    after.push_back(std::max<int64_t>(0, last >= 0 ? last / axis.stride : 0));
    left_out.push_back(axis.before - begin * axis.stride);
    surplus.push_back((1 - begin + after.back()) * axis.stride - left_out.back() - more);
  }
  const int64_t width = arith::likely_value(known_shape(conv.call->args[0])->back(), likely_sizes)
                            .value_or(target::kLoopCosts.likely_extent);
  const int64_t last_reach = (conv.how.axes.back().window - 1) / strides.back(),
                columns = width + before.back() + after.back() - last_reach;
  if (!has_few_outputs(conv) && !(is_alone && has_full_rows(conv, columns))) return nullptr;
  before.insert(before.end(), after.begin(), after.end());
  const AttrMap attrs{{"padding", attr(before)},
                      {"data_layout", attr(conv.how.conv.data_layout)},
                      {"kernel_layout", attr("OI" + letters)},
                      {"out_dtype", attr(dtype_of(Expr(conv.call)))}};
  const Call phases = call_op(fmt::format("relax.nn.conv{}d", conv.count()),
                              {conv.call->args[0], weight_of_phases(weight->data, conv)}, attrs);
  return call_op("relax.nn.interleave_phases", {phases},
                 AttrMap{{"strides", attr(strides)}, {"before", attr(left_out)}, {"after", attr(surplus)}},
                 conv.call->span);
}

// ---- other strides

namespace {

// What nn.phase_weight computes, of a constant.
Constant rearranged(const runtime::Tensor& weight, const Transposed& conv, const std::vector<size_t>& part) {
  const runtime::Tensor source = weight.compact();
  const std::string& layout = conv.how.conv.kernel_layout;
  const size_t count = conv.count(), in = layout.find('I'), out = layout.find('O');
  const int64_t groups = conv.how.conv.groups, inputs = conv.extent('I') / groups, outputs = conv.extent('O');
  Ints shape, stride(layout.size(), 1);
  for (size_t dim = layout.size(); dim-- > 1;) stride[dim - 1] = stride[dim] * conv.weight[dim];
  std::vector<size_t> spatial;
  for (size_t dim = 0; dim < layout.size(); ++dim) {
    if (dim != in && dim != out) spatial.push_back(dim);
  }
  std::vector<topi::Residues> residues;
  for (size_t n = 0; n < count; ++n) residues.push_back(topi::residues_of(conv.how.axes[n])[part[n]]);
  for (const topi::Residues& each : residues) shape.push_back(each.count);
  for (const topi::Residues& each : residues) shape.push_back(each.taps);
  const int64_t num_elements =
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
  shape.push_back(inputs);
  shape.push_back(outputs * groups);
  const runtime::Tensor result = runtime::Tensor::empty(shape, weight.dtype());
  const auto bytes = static_cast<size_t>(weight.dtype().num_bytes());
  const auto* from = static_cast<const char*>(source.data());
  auto* to = static_cast<char*>(result.data());
  for (int64_t place = 0; place < num_elements; ++place) {
    int64_t begin = 0, rest = place;
    Ints index(2 * count);
    for (size_t n = 2 * count; n-- > 0; rest /= shape[n]) index[n] = rest % shape[n];
    for (size_t n = 0; n < count; ++n)
      begin +=
          stride[spatial[n]] * topi::kernel_index(conv.how.axes, n, residues[n], index[n], index[count + n]);
    for (int64_t input = 0; input < inputs; ++input) {
      for (int64_t output = 0; output < outputs * groups; ++output, to += bytes) {
        const int64_t at =
            begin + (output / outputs * inputs + input) * stride[in] + output % outputs * stride[out];
        std::memcpy(to, from + static_cast<size_t>(at) * bytes, bytes);
      }
    }
  }
  return make_constant(result);
}

AttrMap phase_attrs(const Transposed& conv) {
  Ints window, strides, more;
  for (const topi::TransposedAxis& axis : conv.how.axes) {
    window.push_back(axis.window);
    strides.push_back(axis.stride);
    more.push_back(axis.output_padding);
  }
  return AttrMap{{"window", attr(window)},
                 {"strides", attr(strides)},
                 {"padding", attr(conv.how.conv.padding)},
                 {"dilation", attr(conv.how.conv.dilation)},
                 {"output_padding", attr(more)},
                 {"groups", attr(conv.how.conv.groups)}};
}

}  // namespace

Expr conv_by_phase(const Transposed& conv, const Expr& data) {
  AttrMap attrs = phase_attrs(conv);
  std::vector<Expr> weights;
  for (const std::vector<size_t>& part : topi::parts_of(conv.how.axes)) {
    const auto* weight = conv.call->args[1].as<ConstantNode>();
    AttrMap of_weight = attrs;
    of_weight.set("kernel_layout", attr(conv.how.conv.kernel_layout));
    of_weight.set("part", attr(Ints(part.begin(), part.end())));
    weights.push_back(weight && weight->data.dtype().bits % 8 == 0
                          ? Expr(rearranged(weight->data, conv, part))
                          : call_op("relax.nn.phase_weight", {conv.call->args[1]}, of_weight));
  }
  attrs.set("out_dtype", attr(dtype_of(Expr(conv.call))));
  return call_op("relax.nn.conv_transpose_by_phase", {data, TupleNode::make(std::move(weights), Type())},
                 attrs, conv.call->span);
}

}  // namespace tilewright::relax
