// Folds scales and shifts by constants into the constant weights before them.
//   y = batch_norm(x, gamma, beta, mean, var)[0]  =>  y = x * scale + shift
//       scale = gamma / sqrt(var + epsilon), shift = beta - mean * scale, shaped [1, c, 1, 1]
//   conv(x, W) * s        =>  conv(x, W * s)               s: one number, or one per channel
//   (conv(x, W) + b) * s  =>  conv(x, W * s) + b * s
//   (conv(x, W) + b) + c  =>  conv(x, W) + (b + c)
// The same for matmul with a weight [k, n] and one number per column.  A value with other uses is left alone.
// The new arithmetic on constants is left to fold_constant, which runs before (so that weights are constants)
// and after.  Results differ from the unfused ones by rounding.
// Source: Jacob et al., arXiv 1712.05877, section 3.2
#include <algorithm>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

// A linear operator with a constant weight, and the bias that is added to it.
struct Linear {
  Call call;
  Expr weight;             // a constant expression
  Expr bias;               // a constant expression that broadcasts to the result; or null
  size_t channel = 0;      // the dimension of the result ...
  size_t weight_axis = 0;  // ... and the corresponding one of the weight
  size_t ndim = 0;
  int64_t num_channels = 0;
};

Expr add(const Expr& a, const Expr& b) { return call_op("relax.add", {a, b}); }
Expr subtract(const Expr& a, const Expr& b) { return call_op("relax.subtract", {a, b}); }
Expr multiply(const Expr& a, const Expr& b) { return call_op("relax.multiply", {a, b}); }

// [1, c, 1, 1]: `size` along `axis`
std::vector<int64_t> along(size_t ndim, size_t axis, int64_t size) {
  std::vector<int64_t> shape(ndim, 1);
  shape[axis] = size;
  return shape;
}

std::optional<Linear> linear_of(const CallNode* call) {
  const std::string_view name = op_name(call);
  if (call->args.size() < 2 || !is<ConstantNode>(call->args[1])) return std::nullopt;
  const auto weight = constant_shape(call->args[1]);
  const auto* result = call->type.as<TensorTypeNode>();
  if (!weight || !result || !result->dtype.is_float() || result->dtype != dtype_of(call->args[1]))
    return std::nullopt;
  Linear linear{.call = Call(call), .weight = call->args[1], .bias = {}, .ndim = weight->size()};
  if (name == "relax.nn.conv1d" || name == "relax.nn.conv2d" || name == "relax.nn.conv3d") {
    const std::string data_layout = call->attrs.get_string("data_layout", ""),
                      kernel_layout = call->attrs.get_string("kernel_layout", "");
    if (data_layout.size() != linear.ndim || kernel_layout.size() != linear.ndim) return std::nullopt;
    linear.channel = data_layout.find('C');
    linear.weight_axis = kernel_layout.find('O');
  } else if (name == "relax.matmul" && weight->size() == 2 && result->ndim >= 2) {
    linear.ndim = static_cast<size_t>(result->ndim);
    linear.channel = linear.ndim - 1;
    linear.weight_axis = 1;
  } else {
    return std::nullopt;
  }
  if (linear.channel >= linear.ndim || linear.weight_axis >= weight->size()) return std::nullopt;
  linear.num_channels = (*weight)[linear.weight_axis];
  return linear;
}

// True if `value` is a constant that holds one number, or one per channel of `linear`.
bool is_per_channel(const Expr& value, const Linear& linear) {
  const auto shape = is<ConstantNode>(value) ? constant_shape(value) : std::nullopt;
  if (!shape || shape->size() > linear.ndim || dtype_of(value) != dtype_of(linear.call->args[1]))
    return false;
  for (size_t n = 0; n < shape->size(); ++n) {
    const int64_t extent = (*shape)[shape->size() - 1 - n];
    const bool is_channel = linear.ndim - 1 - n == linear.channel;
    if (extent != 1 && !(is_channel && extent == linear.num_channels)) return false;
  }
  return true;
}

class Folding {
 public:
  explicit Folding(const Function& func) : num_uses_(count_uses(func)) {}

  /// Forgets values of earlier blocks: they may use variables that are not visible in the next one.
  void begin_block() {
    linears_.clear();
    norms_.clear();
  }

  /// The new value of `var`: `value` itself if nothing is folded.
  Expr visit(const AnyVar& var, const Expr& value) {
    if (const auto* item = value.as<TupleGetItemNode>()) {
      auto found = norms_.find(item->tuple.get());
      if (found == norms_.end()) return value;
      const CallNode* norm = found->second.get();
      if (item->index > 0) return norm->args[static_cast<size_t>(item->index) + 2];
      return normalized(var, norm, num_uses_[item->tuple.as<VarBaseNode>()] == 1);
    }
    const auto* call = value.as<CallNode>();
    if (!call) return value;
    const std::string_view name = op_name(call);
    if (name == "relax.nn.batch_norm") {
      if (has_constant_statistics(call) && call->attrs.get_int("training", 0) == 0)
        norms_[var.get()] = Call(call);
      return value;
    }
    if (auto linear = linear_of(call)) {
      linears_[var.get()] = *linear;
      return value;
    }
    if (call->args.size() != 2) return value;
    for (size_t n = 0; n < 2; ++n) {
      const Linear* linear = foldable(call->args[n]);
      const Expr& other = call->args[1 - n];
      if (!linear || !is_per_channel(other, *linear)) continue;
      if (name == "relax.multiply") return scaled(var, *linear, other);
      if (name == "relax.add") return shifted(var, *linear, other, value);
    }
    return value;
  }

 private:
  static bool has_constant_statistics(const CallNode* call) {
    const Type type = type_of(call->args[0]);
    const auto* data = type.as<TensorTypeNode>();
    if (data->ndim <= 0 || (data->dtype != kFloat32 && data->dtype != DataType::float_(64))) return false;
    // the other operands have as many channels; data might broadcast when the graph runs
    return std::all_of(call->args.begin() + 1, call->args.end(), [&](const Expr& arg) {
      return is<ConstantNode>(arg) && dtype_of(arg) == data->dtype &&
             constant_shape(arg) == constant_shape(call->args[1]);
    });
  }

  // The linear operator that `expr` is, if it has no other use.
  const Linear* foldable(const Expr& expr) const {
    auto found = linears_.find(expr.get());
    auto uses = num_uses_.find(expr.as<VarBaseNode>());
    return found != linears_.end() && uses->second == 1 ? &found->second : nullptr;
  }

  Expr normalized(const AnyVar& var, const CallNode* norm, bool is_only_use) {
    const Type data = type_of(norm->args[0]);
    const auto* type = data.as<TensorTypeNode>();
    int64_t axis = norm->attrs.get_int("axis", 1);
    if (axis < 0) axis += type->ndim;
    const int64_t size = constant_shape(norm->args[1])->at(0);
    const std::vector<int64_t> shape =
        along(static_cast<size_t>(type->ndim), static_cast<size_t>(axis), size);
    const Constant epsilon = make_scalar(norm->attrs.get_float("epsilon", 1e-5), type->dtype);
    const Expr deviation = call_op("relax.sqrt", {add(norm->args[4], epsilon)});
    const bool has_scale = norm->attrs.get_bool("scale", true),
               has_shift = norm->attrs.get_bool("center", true);
    const Expr one = make_scalar(1.0, type->dtype);
    Expr scale = call_op("relax.divide", {has_scale ? norm->args[1] : one, deviation});
    Expr shift = multiply(norm->args[3], scale);
    shift = has_shift ? subtract(norm->args[2], shift) : Expr(call_op("relax.negative", {shift}));
    const Linear* linear = is_only_use ? foldable(norm->args[0]) : nullptr;
    if (linear && linear->channel == static_cast<size_t>(axis)) {
      const Linear scaled = with_scale(*linear, scale);
      return result(var, with_bias(scaled, reshaped(shift, shape)));
    }
    return add(multiply(norm->args[0], reshaped(scale, shape)), reshaped(shift, shape));
  }

  // `scale`: any shape that holds one number, or one per channel
  static Linear with_scale(const Linear& linear, const Expr& scale) {
    Linear result = linear;
    const auto shape = constant_shape(scale);
    int64_t size = linear.num_channels;
    if (shape) {
      size = 1;
      for (int64_t extent : *shape) size *= extent;
    }
    const size_t weight_ndim = constant_shape(linear.call->args[1])->size();
    result.weight = multiply(linear.weight, reshaped(scale, along(weight_ndim, linear.weight_axis, size)));
    if (linear.bias)
      result.bias = multiply(linear.bias, reshaped(scale, along(linear.ndim, linear.channel, size)));
    return result;
  }

  static Linear with_bias(const Linear& linear, const Expr& bias) {
    Linear result = linear;
    result.bias = linear.bias ? add(linear.bias, bias) : bias;
    return result;
  }

  Expr scaled(const AnyVar& var, const Linear& linear, const Expr& scale) {
    return result(var, with_scale(linear, scale));
  }

  Expr shifted(const AnyVar& var, const Linear& linear, const Expr& bias, const Expr& value) {
    const bool is_first = !linear.bias;
    const Linear sum = with_bias(linear, bias);
    if (!is_first) return result(var, sum);
    linears_[var.get()] = sum;  // the addition stays
    return value;
  }

  Expr result(const AnyVar& var, const Linear& linear) {
    linears_[var.get()] = linear;
    const Expr call = with(linear.call, [&](CallNode& changed) {
      changed.args[1] = linear.weight;
      changed.type = nullptr;
    });
    return linear.bias ? add(call, linear.bias) : call;
  }

  NumUses num_uses_;
  std::unordered_map<const Object*, Linear> linears_;
  std::unordered_map<const Object*, Call> norms_;
};

// Bindings that only the replaced forms used are dropped by dead_code_elimination.
Function fold_function(const Function& func, const IRModule& module) {
  const Function folded = rewrite(func, [&](auto& self, const FunctionNode* node) -> Function {
    Folding folding{Function(node)};
    const Function inner(node);
    return rewrite(inner, [&](auto& rewriter, const DataflowBlockNode* block) -> BindingBlock {
      std::vector<Binding> bindings;
      bool changed = false;
      folding.begin_block();
      for (const Binding& binding : block->bindings) {
        const auto* bound = ObjectRef(binding).as<VarBindingNode>();
        const Expr value = bound ? folding.visit(binding->var, binding->value) : binding->value;
        changed |= value != binding->value;
        bindings.push_back(value == binding->value
                               ? binding
                               : with(VarBinding(bound), [&](VarBindingNode& b) { b.value = value; }));
      }
      return changed ? BindingBlock(DataflowBlockNode::make(std::move(bindings))) : BindingBlock(block);
    });
  });
  return folded == func ? func : BlockBuilder(module).normalize_function(folded);
}

IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module,
                                     [&](const Function& func) { return fold_function(func, module); });
}

}  // namespace

extern constinit const PassInfo fold_batch_norm_info = module_pass<run>(
    "fold_batch_norm", "Folds scales and shifts by constants into the constant weights before them.", 2);

}  // namespace tilewright::relax
