// Moves the channels of images to the last dimension where that fills vectors better.
//   y = conv2d(x, W)     =>  x1 = permute_dims(x, [0, 2, 3, 1])
//                            W1 = permute_dims(W, [2, 3, 1, 0])
//                            y1 = conv2d(x1, W1, data_layout="NHWC", kernel_layout="HWIO")
//   z = relu(y)              z1 = relu(y1)
//   u = max_pool2d(z)        u1 = max_pool2d(z1, layout="NHWC")
//                            u = permute_dims(u1, [0, 3, 1, 2])
// Each value has a twin with its channels last as long as operators can use it; a value is permuted from its
// twin where something else needs it (later passes drop dead code and fold the weights).
// A function is converted if its convolutions, weighted by their work, then fill more lanes: with channels
// first, vectors run along rows of an image, which get short deep in a network.  Dot product instructions,
// which add bytes in groups of four, and Winograd's convolutions need channels last.
#include <algorithm>
#include <unordered_map>

#include "tilewright/arith/likely.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/conv_options.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/target/costs.h"
#include "tilewright/te/topi/winograd.h"

namespace tilewright::relax {
namespace {

using target::kGraphCosts;

// The default is the number of float32 lanes of the widest vectors of any machine, not of the target:
// channels last have advantages besides whole vectors, which the estimate does not count.  With the 4 lanes
// of 128 bits, networks with wide rows would not be converted: ShuffleNet 5.5 -> 14.8 ms, ultraface 4.1 ->
// 4.5; with the 8 of AVX2, ultraface 2.2 -> 3.0 and ShuffleNet 3.6 -> 3.3 (one thread of a Zen 4).
struct Options {
  int64_t lanes = kGraphCosts.widest_lanes;
  bool always = false;
  std::string kernel_layout = "HWIO";
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::lanes>("lanes", "elements of a vector that rows or channels should fill"),
        field<&Options::always>("always", "convert every function, whatever fills vectors better"),
        field<&Options::kernel_layout>("kernel_layout", "of weights: \"HWIO\" or \"OHWI\"")};
  }
};

const std::vector<int64_t> kToLast = {0, 2, 3, 1}, kToFirst = {0, 3, 1, 2}, kToHwio = {2, 3, 1, 0};

// The position of dimension n of [n, c, h, w] in [n, h, w, c].
int64_t last_position(int64_t axis) { return axis == 0 ? 0 : axis == 1 ? 3 : axis - 1; }

bool is_convertible_conv(const CallNode* call) {
  return op_name(call) == "relax.nn.conv2d" && call->attrs.get_string("data_layout", "") == "NCHW" &&
         call->attrs.get_string("kernel_layout", "") == "OIHW" &&
         call->attrs.get_string("out_layout", "").empty();
}

// The estimated work of all convolutions, in whole vectors.
struct Work {
  double channels_first = 0, channels_last = 0;
};

double filled(int64_t extent, int64_t lanes) {
  return static_cast<double>(extent) / static_cast<double>((extent + lanes - 1) / lanes * lanes);
}

// True if passes/winograd.cc will take the convolution, with weights [o, i, h, w],
// once its channels are last.
bool is_winograd_if_last(const Call& call, const std::vector<int64_t>& weight, int64_t pixels) {
  return dtype_of(call) == kFloat32 && dtype_of(call->args[0]) == kFloat32 &&
         is<ConstantNode>(call->args[1]) &&
         topi::is_worth_winograd(conv_options(call), weight[2], weight[3], weight[1], weight[0], pixels);
}

Work work_of(const Function& func, int64_t lanes, const AttrMap& likely_sizes) {
  Work work;
  walk(func, [&](const CallNode* call) {
    if (!is_convertible_conv(call)) return;
    const auto weight = constant_shape(call->args[1]);
    const Shape* shape = known_shape(Expr(call));
    if (!shape || !weight) return;
    const auto channels = arith::likely_value((*shape)[1], likely_sizes),
               height = arith::likely_value((*shape)[2], likely_sizes),
               width = arith::likely_value((*shape)[3], likely_sizes);
    if (!channels || !height || !width) return;
    const double count = static_cast<double>((*weight)[1] * (*weight)[2] * (*weight)[3]) *
                         static_cast<double>(*channels) * static_cast<double>(*height) *
                         static_cast<double>(*width);
    const bool is_winograd = is_winograd_if_last(Call(call), *weight, *height * *width);
    const bool has_dots = dtype_of(call->args[1]).bits == 8 && call->attrs.get_int("groups", 1) == 1;
    work.channels_first += count / filled(*width, lanes) * (has_dots ? kGraphCosts.dot_gain : 1);
    work.channels_last += count / filled(*channels, lanes) / (is_winograd ? kGraphCosts.winograd_gain : 1);
  });
  return work;
}

class Converter {
 public:
  explicit Converter(const Options& options) : options_(options) {}

  Function run(const Function& func) {
    const auto* body = func->body.as<SeqExprNode>();
    if (!body) return func;
    std::vector<BindingBlock> blocks;
    for (const BindingBlock& block : body->blocks) blocks.push_back(convert(block));
    const SeqExpr changed =
        with(Ref<SeqExprNode>(body), [&](SeqExprNode& n) { n.blocks = std::move(blocks); });
    return with(func, [&](FunctionNode& n) { n.body = changed; });
  }

 private:
  BindingBlock convert(const BindingBlock& block) {
    is_dataflow_ = is<DataflowBlockNode>(block);
    bindings_.clear();
    twins_.clear();
    for (const Binding& binding : block->bindings) {
      const auto* var_binding = binding.as<VarBindingNode>();
      const auto* call = var_binding ? binding->value.as<CallNode>() : nullptr;
      if (!call || !convert(binding->var, call)) bindings_.push_back(binding);
    }
    if (is_dataflow_) return DataflowBlockNode::make(std::move(bindings_));
    return PlainBlockNode::make(std::move(bindings_));
  }

  // Binds `var` to a twin with channels last if its call can be converted.
  bool convert(const AnyVar& var, const CallNode* call) {
    const OpInfo* info = op_of(call);
    if (!info) return false;
    const std::string_view name = info->name;
    if (name == "relax.permute_dims") return convert_permute(var, call);
    if (name == "relax.mean" || name == "relax.sum" || name == "relax.max" || name == "relax.min")
      return convert_reduction(var, call);
    const auto* type = var->type.as<TensorTypeNode>();
    if (!type || type->ndim != 4) return false;
    if (is_convertible_conv(call)) return convert_conv(var, call);
    if (name == "relax.nn.max_pool2d" || name == "relax.nn.avg_pool2d" ||
        name == "relax.nn.adaptive_avg_pool2d")
      return convert_pool(var, call);
    if (name == "relax.concat") return convert_concat(var, call);
    if (name == "relax.nn.pad") return convert_pad(var, call);
    if (name == "relax.quantize" || name == "relax.dequantize" || name == "relax.nn.prelu")
      return convert_along_axis(var, call);
    const bool is_elementwise =
        info->pattern == FusePattern::kElementwise || info->pattern == FusePattern::kBroadcast;
    return is_elementwise && convert_elements(var, call);
  }

  bool convert_conv(const AnyVar& var, const CallNode* call) {
    const auto weight = constant_shape(call->args[1]);
    if (!weight) return false;
    AttrMap attrs = call->attrs;
    attrs.set("data_layout", tir::string_imm("NHWC"));
    attrs.set("kernel_layout", tir::string_imm(options_.kernel_layout));
    if (options_.always) attrs.set("out_layout", tir::string_imm("NHWC"));  // all layouts are stated
    const Expr kernel = permuted(call->args[1], options_.kernel_layout == "HWIO" ? kToHwio : kToLast);
    bind(var, call_op(op_name(call), {last(call->args[0]), kernel}, attrs, call->span));
    return true;
  }

  bool convert_pool(const AnyVar& var, const CallNode* call) {
    if (!has_twin(call->args[0]) || call->attrs.get_string("layout", "") != "NCHW" ||
        !call->attrs.get_string("out_layout", "").empty())
      return false;
    AttrMap attrs = call->attrs;
    attrs.set("layout", tir::string_imm("NHWC"));
    bind(var, call_op(op_name(call), {last(call->args[0])}, attrs, call->span));
    return true;
  }

  bool convert_concat(const AnyVar& var, const CallNode* call) {
    const auto* items = call->args[0].as<TupleNode>();
    if (!items) return false;
    const int64_t axis = call->attrs.get_int("axis", 0);
    std::vector<Expr> fields;
    for (const Expr& field : items->elements) {
      if (!has_twin(field)) return false;
      fields.push_back(last(field));
    }
    AttrMap attrs = call->attrs;
    attrs.set("axis", tir::imm(last_position(axis < 0 ? axis + 4 : axis), kInt64));
    bind(var, call_op(op_name(call), {TupleNode::make(std::move(fields), Type())}, attrs, call->span));
    return true;
  }

  bool convert_pad(const AnyVar& var, const CallNode* call) {
    const std::vector<int64_t> width = call->attrs.get_ints("pad_width", {});
    if (!has_twin(call->args[0]) || width.size() != 8) return false;
    std::vector<int64_t> moved;
    for (const int64_t dim : kToLast) {
      for (const int64_t side : {0, 1}) moved.push_back(width[static_cast<size_t>(2 * dim + side)]);
    }
    AttrMap attrs = call->attrs;
    attrs.set("pad_width", attr(moved));
    bind(var, call_op(op_name(call), {last(call->args[0])}, attrs, call->span));
    return true;
  }

  // Converts operators with vectors along one dimension.
  bool convert_along_axis(const AnyVar& var, const CallNode* call) {
    if (!has_twin(call->args[0])) return false;
    const int64_t axis = call->attrs.get_int("axis", 1);
    AttrMap attrs = call->attrs;
    attrs.set("axis", attr(last_position(axis < 0 ? axis + 4 : axis)));
    std::vector<Expr> args = call->args;
    args[0] = last(args[0]);
    bind(var, call_op(op_name(call), std::move(args), attrs, call->span));
    return true;
  }

  bool convert_elements(const AnyVar& var, const CallNode* call) {
    bool any_twin = false;
    for (const Expr& arg : call->args) {
      const auto* type = type_of(arg).as<TensorTypeNode>();
      any_twin |= has_twin(arg);
      if (type && type->ndim != 4 && type->ndim != 0 && !(is<ConstantNode>(arg) && constant_shape(arg)))
        return false;
    }
    if (!any_twin) return false;
    std::vector<Expr> args;
    for (const Expr& arg : call->args) args.push_back(type_of(arg).as<TensorTypeNode>() ? last(arg) : arg);
    bind(var, call_op(op_name(call), std::move(args), call->attrs, call->span));
    return true;
  }

  // Converts reductions over an image, which keep or drop their dimensions.
  bool convert_reduction(const AnyVar& var, const CallNode* call) {
    if (!has_twin(call->args[0])) return false;
    const bool keeps = call->attrs.get_int("keepdims", 0) != 0;
    std::vector<int64_t> axes = call->attrs.get_ints("axis", {});
    if (axes.empty()) return false;
    for (int64_t& axis : axes) axis = last_position(axis < 0 ? axis + 4 : axis);
    std::sort(axes.begin(), axes.end());
    // [n, c] is the same in both layouts; other results with fewer dimensions would have to be permuted
    if (!keeps && axes != std::vector<int64_t>{1, 2}) return false;
    AttrMap attrs = call->attrs;
    attrs.set("axis", attr(axes));
    const Expr value = call_op(op_name(call), {last(call->args[0])}, attrs, call->span);
    if (keeps)
      bind(var, value);
    else
      bindings_.push_back(VarBindingNode::make(var, value));
    return true;
  }

  bool convert_permute(const AnyVar& var, const CallNode* call) {
    std::vector<int64_t> axes = call->attrs.get_ints("axes", {});
    if (axes.size() != 4) return false;
    for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
    if (const auto* source = call->args[0].as<VarBaseNode>(); source && axes == kToFirst)
      twins_[var.get()] = AnyVar(source);  // the value it was permuted from
    if (!has_twin(call->args[0])) return false;
    for (int64_t& axis : axes) axis = last_position(axis);
    bindings_.push_back(VarBindingNode::make(var, permuted(last(call->args[0]), axes)));
    return true;
  }

  // Makes `value` the twin of var; var itself is permuted from it.
  void bind(const AnyVar& var, const Expr& value) {
    const AnyVar twin = define(value, var->name_hint);
    twins_[var.get()] = twin;
    bindings_.push_back(VarBindingNode::make(var, permuted(twin, kToFirst)));
  }

  bool has_twin(const Expr& expr) const { return twins_.contains(expr.get()); }

  // `expr` with its channels last.
  Expr last(const Expr& expr) {
    if (auto found = twins_.find(expr.get()); found != twins_.end()) return found->second;
    const auto* type = type_of(expr).as<TensorTypeNode>();
    if (type->ndim == 0) return expr;
    Expr whole = expr;
    if (type->ndim < 4) {  // broadcasting puts missing dimensions first
      std::vector<int64_t> shape = *constant_shape(expr);
      shape.insert(shape.begin(), 4 - shape.size(), 1);
      const Shape wide = extents(shape);
      whole = define(call_op("relax.reshape", {expr, shape_expr(wide)}), "wide");
    }
    const Expr twin = define(permuted(whole, kToLast), "last");
    twins_[expr.get()] = ref_as<VarBaseNode>(twin);
    kept_.push_back(expr);
    return twin;
  }

  static Expr permuted(const Expr& expr, const std::vector<int64_t>& axes) {
    AttrMap attrs;
    attrs.set("axes", attr(axes));
    return call_op("relax.permute_dims", {expr}, attrs);
  }

  AnyVar define(const Expr& value, const std::string& name) {
    AnyVar var =
        is_dataflow_ ? AnyVar(DataflowVarNode::make(name, Type())) : AnyVar(VarNode::make(name, Type()));
    bindings_.push_back(VarBindingNode::make(var, value));
    return var;
  }

  const Options& options_;
  bool is_dataflow_ = false;
  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, AnyVar> twins_;
  std::vector<Expr> kept_;  // keeps expressions alive whose addresses are keys of twins_
};

IRModule run(const IRModule& module, const Options& options, PassContext& context) {
  if (options.lanes < 1) throw UserError("lanes is {}, expected at least 1", options.lanes);
  if (options.kernel_layout != "HWIO" && options.kernel_layout != "OHWI")
    throw UserError("kernel_layout is \"{}\", expected \"HWIO\" or \"OHWI\"", options.kernel_layout);
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const Work work = work_of(func, options.lanes, context.likely_sizes);
    if (!options.always && work.channels_first <= work.channels_last * kGraphCosts.layout_gain) return func;
    return BlockBuilder(module).normalize_function(Converter(options).run(func));
  });
}

}  // namespace

extern constinit const PassInfo convert_layout_info = module_pass<run, Options>(
    "convert_layout", "Moves channels of images to the last dimension where that fills vectors better.", 2);

}  // namespace tilewright::relax
