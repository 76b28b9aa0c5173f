// Replaces composite operators by simple ones.
//   (y, mean, var) = R.nn.batch_norm(x, gamma, beta, mean, var)
//   ->  y = (x - mean) / sqrt(var + epsilon) * gamma + beta           mean, var, gamma, beta: [1, c, 1, 1]
//       in training: with mean and var of x, and moving statistics old * (1 - momentum) + new * momentum
//   R.nn.layer_norm(x, gamma, beta)  ->  (x - mean(x)) * rsqrt(variance(x) + epsilon) * gamma + beta
//   R.nn.rms_norm(x, w)              ->  x * rsqrt(mean(x * x) + epsilon) * w
//   R.nn.softmax(x)                  ->  e = exp(x - max(x));  e / sum(e)
//   R.nn.log_softmax(x)              ->  x - max(x) - log(sum(exp(x - max(x))))
//   R.nn.silu(x)                     ->  x * sigmoid(x)
//   R.nn.dropout(x)                  ->  (x, ones)
// Also instance_norm and group_norm.  For float16 and bfloat16 they compute in float32 and round the result,
// as the composite operators do (docs/precision.md); silu and dropout keep their dtype.  This pass is not
// part of the default pipeline, because folding and kernels work on the composite forms.
// canonicalize_bindings replaces t[0] by the field of the tuple.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::relax {
namespace {

struct Options {
  bool training = false;
  std::vector<std::string> ops;
  std::string func_name;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::training>("training", "every batch norm uses the statistics of its data"),
        field<&Options::ops>("ops", "only these, e.g. [\"relax.nn.batch_norm\"]; none: all"),
        field<&Options::func_name>("func_name", "only this function; empty: all")};
  }
};

using Axes = std::vector<int64_t>;

// The decomposition of one call: intermediate values are bound in order, and a rule
// returns the value of the call.
class Decomposition {
 public:
  Decomposition(const Call& call, bool training, bool in_dataflow)
      : call_(call), training_(training), in_dataflow_(in_dataflow), args_(call->args) {
    const Type type = type_of(call->args[0]);
    const auto* tensor = type.as<TensorTypeNode>();
    const Shape* shape = known_shape(tensor);
    if (shape) shape_ = *shape, dtype_ = tensor->dtype;
  }
  bool is_known() const { return !shape_.empty() && !dtype_.is_void(); }

  /// The result of `rule` on the arguments in the accumulator dtype, rounded; the call
  /// itself if it changes nothing.
  Expr rounded(Expr (Decomposition::*rule)()) {
    const DataType given = dtype_, wide = topi::dtype_of_sums(given);
    if (wide == given) return (this->*rule)();
    for (Expr& each : args_) each = as_dtype(each, wide);
    dtype_ = wide;
    const Expr value = (this->*rule)();
    if (value == Expr(call_)) return value;
    const auto* fields = value.as<TupleNode>();
    if (!fields) return as_dtype(value, given);
    std::vector<Expr> results;
    for (const Expr& field : fields->elements) results.push_back(as_dtype(field, given));
    return TupleNode::make(std::move(results));
  }

  /// `value` with the bindings of its intermediate values.
  Expr with_parts(Expr value) {
    if (!bindings_.empty() && value == Expr(bindings_.back()->var)) {
      value = bindings_.back()->value;
      bindings_.pop_back();
    }
    BindingBlock block;
    if (in_dataflow_)
      block = DataflowBlockNode::make(std::move(bindings_));
    else
      block = PlainBlockNode::make(std::move(bindings_));
    return SeqExprNode::make(std::vector<BindingBlock>{block}, value, Type());
  }

  Expr batch_norm() {
    const size_t axis = axis_of("axis", 1);
    Axes others;
    for (size_t n = 0; n < shape_.size(); ++n)
      if (n != axis) others.push_back(static_cast<int64_t>(n));
    const bool from_data = training_ || call_->attrs.get_int("training", 0);
    if (others.empty()) return call_;  // an empty list of axes means all of them
    const Expr mean = from_data ? reduce("mean", x(), others, false) : arg(3);
    const Expr variance = from_data ? reduce("variance", x(), others, false) : arg(4);
    const auto along = [&](const Expr& value) { return spread(value, {axis}); };
    const Expr root = op("sqrt", {op("add", {along(variance), epsilon()})});
    const Expr y = scaled(op("divide", {op("subtract", {x(), along(mean)}), root}), along);
    const double momentum = call_->attrs.get_float("momentum", 0.1);
    const auto moved = [&](const Expr& old, const Expr& now) {
      if (!from_data) return old;
      return op("add",
                {op("multiply", {old, number(1 - momentum)}), op("multiply", {now, number(momentum)})});
    };
    return TupleNode::make(std::vector<Expr>{y, moved(arg(3), mean), moved(arg(4), variance)});
  }

  Expr layer_norm() {
    const Axes axes = sorted_axes("axes", {-1});
    std::vector<size_t> kept(axes.begin(), axes.end());
    return scaled(normalized(x(), axes), [&](const Expr& value) { return spread(value, kept); });
  }

  Expr instance_norm() {
    const size_t channel = axis_of("channel_axis", 1);
    const Axes axes = sorted_axes("axes", {});
    if (axes.empty()) return call_;
    return scaled(normalized(x(), axes), [&](const Expr& value) { return spread(value, {channel}); });
  }

  // the channels as [groups, channels per group]
  Expr group_norm() {
    const size_t channel = axis_of("channel_axis", 1);
    const int64_t groups = call_->attrs.get_int("num_groups", 1);
    Shape split = shape_;
    split[channel] = extent_imm(groups);
    split.insert(split.begin() + static_cast<int64_t>(channel) + 1,
                 arith::simplify(tir::floordiv(shape_[channel], extent_imm(groups))));
    Axes axes{static_cast<int64_t>(channel) + 1};
    for (int64_t axis : sorted_axes("axes", {}))
      axes.push_back(axis > static_cast<int64_t>(channel) ? axis + 1 : axis);
    std::sort(axes.begin(), axes.end());
    const Expr whole = reshape(normalized(reshape(x(), split), axes), shape_);
    return scaled(whole, [&](const Expr& value) { return spread(value, {channel}); });
  }

  Expr rms_norm() {
    const Axes axes = sorted_axes("axes", {-1});
    const Expr power = reduce("mean", op("multiply", {x(), x()}), axes, true);
    const Expr root = op("rsqrt", {op("add", {power, epsilon()})});
    const std::vector<size_t> kept(axes.begin(), axes.end());
    return op("multiply", {op("multiply", {x(), root}), spread(arg(1), kept)});
  }

  Expr softmax() {
    const Expr exps = op("exp", {shifted()});
    return op("divide", {exps, reduce("sum", exps, {softmax_axis()}, true)});
  }

  Expr log_softmax() {
    const Expr distance = shifted();
    const Expr sum = reduce("sum", op("exp", {distance}), {softmax_axis()}, true);
    return op("subtract", {distance, op("log", {sum})});
  }

  Expr silu() { return op("multiply", {x(), op("sigmoid", {x()})}); }

  Expr dropout() { return TupleNode::make(std::vector<Expr>{x(), op("ones_like", {x()})}); }

 private:
  const Expr& x() const { return args_[0]; }
  const Expr& arg(size_t n) const { return args_.at(n); }
  Expr as_dtype(const Expr& value, DataType dtype) {
    return define(call_op("relax.astype", {value}, {{"dtype", attr(dtype)}}));
  }
  Expr define(const Expr& value) {
    AnyVar var;
    if (in_dataflow_)
      var = DataflowVar(DataflowVarNode::make("lv", Type()));
    else
      var = Var(VarNode::make("gv", Type()));
    bindings_.push_back(VarBindingNode::make(var, value));
    return var;
  }
  Expr op(const std::string& name, std::vector<Expr> args) {
    return define(call_op("relax." + name, std::move(args), {}, call_->span));
  }
  Expr reduce(const std::string& name, const Expr& value, const Axes& axes, bool keepdims) {
    AttrMap attrs;
    attrs.set("axis", attr(axes));
    attrs.set("keepdims", attr(keepdims));
    return define(call_op("relax." + name, {value}, attrs, call_->span));
  }
  Expr reshape(const Expr& value, const Shape& shape) { return op("reshape", {value, shape_expr(shape)}); }

  // `value`, which has the extents of `axes`, with extent 1 along all others.
  Expr spread(const Expr& value, const std::vector<size_t>& axes) {
    Shape shape(shape_.size(), extent_imm(1));
    for (size_t axis : axes) shape[axis] = shape_[axis];
    return reshape(value, shape);
  }

  // `value` multiplied by gamma and shifted by beta, where the call asks for it.
  template <class Spread>
  Expr scaled(Expr value, const Spread& spread) {
    if (call_->attrs.get_int("scale", 1)) value = op("multiply", {value, spread(arg(1))});
    if (call_->attrs.get_int("center", 1)) value = op("add", {value, spread(arg(2))});
    return value;
  }

  Expr normalized(const Expr& value, const Axes& axes) {
    const Expr distance = op("subtract", {value, reduce("mean", value, axes, true)});
    const Expr variance = reduce("variance", value, axes, true);
    return op("multiply", {distance, op("rsqrt", {op("add", {variance, epsilon()})})});
  }

  Expr shifted() { return op("subtract", {x(), reduce("max", x(), {softmax_axis()}, true)}); }

  int64_t softmax_axis() const { return static_cast<int64_t>(axis_of("axis", -1)); }
  size_t axis_of(const char* name, int64_t otherwise) const {
    const int64_t axis = call_->attrs.get_int(name, otherwise);
    return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape_.size()) : axis);
  }
  Axes sorted_axes(const char* name, const Axes& otherwise) const {
    Axes axes = call_->attrs.get_ints(name, otherwise);
    for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(shape_.size()) : 0;
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  Expr epsilon() { return number(call_->attrs.get_float("epsilon", 1e-5)); }

  // A constant without dimensions of the call's dtype.
  Expr number(double value) {
    if (dtype_ == kFloat32 || dtype_ == DataType::float_(64)) return make_scalar(value, dtype_);
    return as_dtype(make_scalar(value, kFloat32), dtype_);
  }

  const Call& call_;
  const bool training_, in_dataflow_;
  std::vector<Expr> args_;
  std::vector<Binding> bindings_;
  Shape shape_;
  DataType dtype_ = DataType::void_();
};

struct Rule {
  std::string_view name;
  Expr (Decomposition::*apply)();
  bool has_sums = true;
};
constexpr Rule kRules[] = {
    {"relax.nn.batch_norm", &Decomposition::batch_norm},
    {"relax.nn.layer_norm", &Decomposition::layer_norm},
    {"relax.nn.instance_norm", &Decomposition::instance_norm},
    {"relax.nn.group_norm", &Decomposition::group_norm},
    {"relax.nn.rms_norm", &Decomposition::rms_norm},
    {"relax.nn.softmax", &Decomposition::softmax},
    {"relax.nn.log_softmax", &Decomposition::log_softmax},
    {"relax.nn.silu", &Decomposition::silu, false},
    {"relax.nn.dropout", &Decomposition::dropout, false},
};

const Rule* find_rule(std::string_view name) {
  for (const Rule& rule : kRules) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

void check_ops(const Options& options) {
  std::vector<std::string_view> names;
  for (const Rule& rule : kRules) names.push_back(rule.name);
  for (const std::string& name : options.ops) {
    if (!find_rule(name))
      throw UserError("there is no decomposition of \"{}\"", name)
          .help("{}", nearest_names_text(name, names));
  }
}

Function decomposed(const IRModule& module, const Function& func, const Options& options) {
  bool in_dataflow = false;
  const auto visit_block = [&](auto& self, const DataflowBlockNode* block) -> DataflowBlock {
    in_dataflow = true;
    const DataflowBlock result = self.children(block);
    in_dataflow = false;
    return result;
  };
  const Function changed = rewrite(func, visit_block, [&](auto& self, const CallNode* node) -> Expr {
    const Call call = self.children(node);
    const std::string_view name = op_name(node);
    const Rule* rule = find_rule(name);
    const bool is_meant =
        options.ops.empty() || std::find(options.ops.begin(), options.ops.end(), name) != options.ops.end();
    if (!rule || !is_meant) return call;
    Decomposition decomposition(call, options.training, in_dataflow);
    if (!decomposition.is_known()) return call;
    const Expr value = rule->has_sums ? decomposition.rounded(rule->apply) : (decomposition.*rule->apply)();
    return value == Expr(call) ? value : decomposition.with_parts(value);
  });
  return changed == func ? func : BlockBuilder(module).normalize_function(changed);
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  check_ops(options);
  Function only;
  if (!options.func_name.empty()) {
    only = ref_as<FunctionNode>(module->lookup(options.func_name));
    if (!only) throw UserError("\"{}\" is not a graph function", options.func_name);
  }
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    return only && func != only ? func : decomposed(module, func, options);
  });
}

}  // namespace

extern constinit const PassInfo decompose_ops_info = module_pass<run, Options>(
    "decompose_ops", "Replaces norms, softmax and other composite operators by simple ones.");

}  // namespace tilewright::relax
