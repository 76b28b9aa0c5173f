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
#include <numeric>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/products/transposed_conv.h"

namespace tilewright::relax {
namespace {

using Ints = std::vector<int64_t>;

Ints inverse(const Ints& axes) {
  Ints result(axes.size());
  for (size_t n = 0; n < axes.size(); ++n) result[static_cast<size_t>(axes[n])] = static_cast<int64_t>(n);
  return result;
}

class Splitter {
 public:
  bool is_changed = false;
  /// is_alone  the function has no convolutions but transposed ones
  /// likely_sizes  of extents that are not known
  Splitter(bool is_alone, const AttrMap& likely_sizes) : is_alone_(is_alone), likely_sizes_(likely_sizes) {}

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
    const std::optional<Transposed> conv = transposed_of(Call(call));
    if (!conv) return false;
    is_changed = true;
    Expr plain = conv_of_stride_1(*conv);
    if (!plain) plain = phases_as_channels(*conv, is_alone_ || conv->count() == 1, likely_sizes_);
    if (plain) {
      bindings_.push_back(VarBindingNode::make(var, plain));
      return true;
    }
    const std::string& layout = conv->how.conv.data_layout;
    const Ints to_last = order_of(layout, "N" + spatial_letters(layout) + "C");
    bind(var, conv_by_phase(*conv, permuted(conv->call->args[0], to_last)), to_last);
    return true;
  }

  // Sums whose data a permute would move for them: they read it where it is.
  bool reads_in_place(const AnyVar& var, const CallNode* call) {
    if (op_name(call) != "relax.nn.conv_transpose_by_phase" || call->attrs.get_int("channel_first", 0) != 0)
      return false;
    const auto found = permutes_.find(call->args[0].get());
    const auto* weights = call->args[1].as<TupleNode>();
    const std::optional<Ints> weight = weights ? constant_shape(weights->elements[0]) : std::nullopt;
    // vectors along channels, where no others are added up, need them last
    if (found == permutes_.end() || !weight || (*weight)[weight->size() - 2] == 1 ||
        !is_near(found->second->args[0]))
      return false;
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

  // True if neighbouring channels are in one page: each step of a sum reads another channel.  Where extents are
  // open, a permute would take longer.
  static bool is_near(const Expr& data) {
    constexpr int64_t kPageBytes = 4096;
    const std::optional<Ints> shape = constant_shape(data);
    if (!shape) return true;
    int64_t bytes = dtype_of(data).num_bytes();
    for (size_t n = 2; n < shape->size(); ++n) bytes *= std::max<int64_t>(1, (*shape)[n]);
    return bytes <= kPageBytes;
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

  bool is_alone_;
  const AttrMap& likely_sizes_;
  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, Twin> twins_;
  std::unordered_map<const Object*, const CallNode*> permutes_;  // by the variable that is bound to it
};

bool has_convs(const Function& func) {
  bool found = false;
  ir::walk(func, [&](const CallNode* call) {
    const std::string_view name = op_name(call);
    found |= name == "relax.nn.conv2d" || name == "relax.nn.conv3d";
  });
  return found;
}

IRModule run(const IRModule& module, const NoOptions&, PassContext& context) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    bool is_changed = false;
    const Function changed = rewrite(func, [&](auto& self, const DataflowBlockNode* node) -> DataflowBlock {
      const DataflowBlock block = self.children(node);
      Splitter splitter(!has_convs(func), context.likely_sizes);
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
