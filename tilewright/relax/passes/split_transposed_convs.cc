// Computes transposed convolutions as ordinary ones, which need no conditions in their sums.
//   y = R.nn.conv2d_transpose(x, W)             stride 1
//   ->  y = R.nn.conv2d(x, flipped W, padding=window - 1 - padding)
//   y = R.nn.conv2d_transpose(x, W, strides=2)  other strides: each phase of y takes its own elements of W
//   ->  t = R.nn.conv_transpose_by_phase(channels last x, R.nn.phase_weight(W), ...)
//       y = R.permute_dims(t), channels where they were
//   t = R.nn.conv_transpose_by_phase(R.permute_dims(x), ...)      a permute that puts channels last
//   ->  t = R.nn.conv_transpose_by_phase(x, ..., channel_first=True)
// Operators that work element by element on such a y are computed with its channels last, so that they can be
// fused with it.  The shape of the weight must be known; constant weights are rearranged here.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/conv_options.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/target/costs.h"

namespace tilewright::relax {
namespace {

using Ints = std::vector<int64_t>;

Expr permuted(const Expr& expr, const Ints& axes) {
  Ints same(axes.size());
  std::iota(same.begin(), same.end(), 0);
  if (axes == same) return expr;
  return call_op("relax.permute_dims", {expr}, AttrMap{{"axes", attr(axes)}});
}

Expr reshaped(const Expr& expr, const Ints& shape) {
  return call_op("relax.reshape", {expr, shape_expr(extents(shape))});
}

bool is_transposed(const CallNode* call) {
  const std::string_view name = op_name(call);
  return name == "relax.nn.conv1d_transpose" || name == "relax.nn.conv2d_transpose" ||
         name == "relax.nn.conv3d_transpose";
}

// The letters of spatial dimensions, in order.
std::string spatial_letters(const std::string& layout) {
  std::string letters;
  for (char letter : layout) {
    if (letter == 'D' || letter == 'H' || letter == 'W') letters += letter;
  }
  std::sort(letters.begin(), letters.end());
  return letters;
}

// A transposed convolution whose weight has a known shape.
struct Transposed {
  Call call;
  TransposedOptions how;
  Ints weight;  // its extents
  size_t count() const { return how.axes.size(); }
  int64_t extent(char letter) const { return weight[how.conv.kernel_layout.find(letter)]; }
};

std::optional<Transposed> transposed_of(const Call& call) {
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

// The order in which dimensions of `layout` are those of `wanted`.
Ints order_of(const std::string& layout, const std::string& wanted) {
  Ints axes;
  for (char letter : wanted) axes.push_back(static_cast<int64_t>(layout.find(letter)));
  return axes;
}

// ---- stride 1

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

// The ordinary convolution for stride 1; null if it would have to leave out elements of data.
Expr as_conv(const Transposed& conv) {
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

// True if vectors along outputs would be emptier than the sums are larger with zeros for all residues.
bool has_few_outputs(const Transposed& conv) {
  const auto* weight = conv.call->args[1].as<ConstantNode>();
  if (conv.how.conv.groups != 1 || !weight || weight->data.dtype().bits % 8 != 0 || conv.extent('I') == 1)
    return false;
  double larger = 1;
  for (const topi::TransposedAxis& axis : conv.how.axes) {
    if (axis.dilation != 1) return false;
    larger *= static_cast<double>((axis.window - 1) / axis.stride * axis.stride + axis.stride) /
              static_cast<double>(axis.window);
  }
  return 2 * larger * static_cast<double>(conv.extent('O')) <=
         static_cast<double>(target::kGraphCosts.widest_lanes);
}

// Null unless data has its channels first.
Expr by_channels(const Transposed& conv) {
  const std::string letters = spatial_letters(conv.how.conv.data_layout);
  if (!has_few_outputs(conv) || conv.how.conv.data_layout != "NC" + letters) return nullptr;
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
  before.insert(before.end(), after.begin(), after.end());
  const AttrMap attrs{{"padding", attr(before)},
                      {"data_layout", attr(conv.how.conv.data_layout)},
                      {"kernel_layout", attr("OI" + letters)},
                      {"out_dtype", attr(dtype_of(Expr(conv.call)))}};
  const auto* weight = conv.call->args[1].as<ConstantNode>();
  const Call phases = call_op(fmt::format("relax.nn.conv{}d", conv.count()),
                              {conv.call->args[0], weight_of_phases(weight->data, conv)}, attrs);
  return call_op("relax.nn.interleave_phases", {phases},
                 AttrMap{{"strides", attr(strides)}, {"before", attr(left_out)}, {"after", attr(surplus)}},
                 conv.call->span);
}

// ---- other strides

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

// The result of `conv` with its channels last.
Expr by_phase(const Transposed& conv, const Ints& to_last) {
  AttrMap attrs = phase_attrs(conv);
  std::vector<Expr> args{permuted(conv.call->args[0], to_last)};
  for (const std::vector<size_t>& part : topi::parts_of(conv.how.axes)) {
    const auto* weight = conv.call->args[1].as<ConstantNode>();
    AttrMap of_weight = attrs;
    of_weight.set("kernel_layout", attr(conv.how.conv.kernel_layout));
    of_weight.set("part", attr(Ints(part.begin(), part.end())));
    args.push_back(weight && weight->data.dtype().bits % 8 == 0
                       ? Expr(rearranged(weight->data, conv, part))
                       : call_op("relax.nn.phase_weight", {conv.call->args[1]}, of_weight));
  }
  attrs.set("out_dtype", attr(dtype_of(Expr(conv.call))));
  return call_op("relax.nn.conv_transpose_by_phase", std::move(args), attrs, conv.call->span);
}

// ---- a block

Ints inverse(const Ints& axes) {
  Ints result(axes.size());
  for (size_t n = 0; n < axes.size(); ++n) result[static_cast<size_t>(axes[n])] = static_cast<int64_t>(n);
  return result;
}

class Splitter {
 public:
  bool is_changed = false;

  DataflowBlock run(const DataflowBlockNode* block) {
    for (const Binding& binding : block->bindings) {
      const auto* bound = binding.as<VarBindingNode>();
      const auto* call = bound ? bound->value.as<CallNode>() : nullptr;
      if (call && op_name(call) == "relax.permute_dims") permutes_[binding->var.get()] = call;
      const bool is_done = call && (convert_conv(binding->var, call) || reads_in_place(binding->var, call) ||
                                    convert_elements(binding->var, call));
      if (!is_done) bindings_.push_back(binding);
    }
    return DataflowBlockNode::make(std::move(bindings_));
  }

 private:
  // A value with its channels last.
  struct Twin {
    AnyVar var;
    Ints to_last;
  };

  bool convert_conv(const AnyVar& var, const CallNode* call) {
    const std::optional<Transposed> conv =
        is_transposed(call) ? transposed_of(Call(call)) : std::optional<Transposed>();
    if (!conv) return false;
    is_changed = true;
    Expr plain = as_conv(*conv);
    if (!plain) plain = by_channels(*conv);
    if (plain) {
      bindings_.push_back(VarBindingNode::make(var, plain));
      return true;
    }
    const std::string& layout = conv->how.conv.data_layout;
    const Ints to_last = order_of(layout, "N" + spatial_letters(layout) + "C");
    bind(var, by_phase(*conv, to_last), to_last);
    return true;
  }

  // Sums whose data a permute would move for them: they read it where it is.
  bool reads_in_place(const AnyVar& var, const CallNode* call) {
    if (op_name(call) != "relax.nn.conv_transpose_by_phase" || call->attrs.get_int("channel_first", 0) != 0)
      return false;
    const auto found = permutes_.find(call->args[0].get());
    const std::optional<Ints> weight = constant_shape(call->args[1]);
    // vectors along channels, where no others are added up, need them last
    if (found == permutes_.end() || !weight || (*weight)[weight->size() - 2] == 1) return false;
    Ints to_last(weight->size() / 2 + 1);
    std::iota(to_last.begin(), to_last.end(), 0);
    std::rotate(to_last.begin() + 1, to_last.begin() + 2, to_last.end());
    if (permutation_of(found->second) != to_last) return false;
    is_changed = true;
    const Call in_place = with(Call(call), [&](CallNode& node) {
      node.args[0] = found->second->args[0];
      node.attrs.set("channel_first", attr(true));
    });
    bindings_.push_back(VarBindingNode::make(var, Expr(in_place)));
    return true;
  }

  // An operator element by element on such a result, and constants or values of one element.
  bool convert_elements(const AnyVar& var, const CallNode* call) {
    const OpInfo* info = op_of(call);
    if (!info || info->pattern > FusePattern::kBroadcast || !info->lower || call->args.empty()) return false;
    const Twin* twin = nullptr;
    for (const Expr& arg : call->args) {
      if (const auto found = twins_.find(arg.get()); found != twins_.end()) twin = &found->second;
    }
    const auto* type = var->type.as<TensorTypeNode>();
    if (!twin || !type || type->ndim != static_cast<int64_t>(twin->to_last.size()) || has_axis(*info))
      return false;
    const Ints to_last = twin->to_last;
    std::vector<Expr> args;
    for (const Expr& arg : call->args) {
      const Expr last = with_channels_last(arg, to_last);
      if (!last) return false;
      args.push_back(last);
    }
    bind(var, call_op(op_name(call), std::move(args), call->attrs, call->span), to_last);
    return true;
  }

  static bool has_axis(const OpInfo& info) {
    const std::vector<OptionInfo> options = info.attrs ? info.attrs() : std::vector<OptionInfo>();
    return std::any_of(options.begin(), options.end(),
                       [](const OptionInfo& option) { return option.name == std::string_view("axis"); });
  }

  // Null if that is not known, or would take a copy.
  Expr with_channels_last(const Expr& arg, const Ints& to_last) const {
    const auto found = twins_.find(arg.get());
    if (found != twins_.end()) return found->second.to_last == to_last ? Expr(found->second.var) : Expr();
    if (is<PrimTypeNode>(type_of(arg))) return arg;
    std::optional<Ints> shape = constant_shape(arg);
    if (!shape || shape->size() > to_last.size()) return nullptr;
    if (shape->empty()) return arg;
    if (!is<ConstantNode>(arg)) return nullptr;
    shape->insert(shape->begin(), to_last.size() - shape->size(), 1);
    return permuted(reshaped(arg, *shape), to_last);
  }

  void bind(const AnyVar& var, const Expr& value, const Ints& to_last) {
    const AnyVar twin = DataflowVarNode::make(var->name_hint, Type());
    bindings_.push_back(VarBindingNode::make(twin, value));
    twins_[var.get()] = {twin, to_last};
    bindings_.push_back(VarBindingNode::make(var, permuted(twin, inverse(to_last))));
  }

  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, Twin> twins_;
  std::unordered_map<const Object*, const CallNode*> permutes_;  // by the variable that is bound to it
};

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    bool is_changed = false;
    const Function changed = rewrite(func, [&](auto& self, const DataflowBlockNode* node) -> DataflowBlock {
      const DataflowBlock block = self.children(node);
      Splitter splitter;
      const DataflowBlock split = splitter.run(block.get());
      if (!splitter.is_changed) return block;
      is_changed = true;
      return split;
    });
    return is_changed ? BlockBuilder(module).normalize_function(changed) : func;
  });
}

}  // namespace

extern constinit const PassInfo split_transposed_convs_info = module_pass<run>(
    "split_transposed_convs",
    "Computes transposed convolutions as ordinary ones, one for each phase of the result.", 2);

}  // namespace tilewright::relax
