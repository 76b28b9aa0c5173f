// Computes products of quantized values as products of integers.
//   y = conv2d(dequantize(q, s, z), dequantize(W, t, 0))       q: uint8, W: int8, constant
//   =>  y = astype(conv2d(q, W, out_dtype="int32") - z * W.sum(), "float32") * (s * t)
// and the same for matmul and other convolutions.  Integer sums are exact, so y differs from the original
// only by less rounding.  The inputs of such a product are stored as `activations`: an int8 value is stored
// as uint8 by adding 128, with the zero point z + 128.
// A weight whose zero points are not 0 is less these: zero * (the sum of what each result reads) is subtracted.
//   q = quantize(x, s, z, out_dtype="int8")   =>  q = quantize(x, s, z + 128, out_dtype="uint8")
//   reshape(dequantize(q, s, z), shape)       =>  dequantize(reshape(q, shape), s, z)
// and so for all operators of products/byte_moves.h, split, and concat of values that share parameters
//   relu(dequantize(q, s, z))                 =>  dequantize(maximum(q, z), s, z)
//   quantize(dequantize(q, s, z), s, z)       =>  q
//   quantize(x, s, z)                         =>  quantize(x * (1 / s), 1, z)     if x follows from a product
//   matmul(a, b, out_dtype="int32")           =>  matmul(a + 128, b, out_dtype="int32") - 128 * b.sum()
// The new arithmetic on constants is left to fold_constant.
// Source: Jacob et al., arXiv 1712.05877, section 2
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/products/byte_moves.h"
#include "tilewright/relax/products/mixed_precision.h"
#include "tilewright/relax/products/quantized_values.h"
#include "tilewright/target/features.h"

namespace tilewright::relax {
namespace {

struct Options {
  std::string activations = "target";
  static constexpr auto fields() {
    return std::tuple{field<&Options::activations>(
        "activations",
        "dtype of the inputs of products: \"uint8\" or \"int8\"; \"\": stay in floats; \"target\": "
        "what the target has instructions for, uint8 where no target is known")};
  }
};

// The number of products of bytes that an int32 sum can hold.
constexpr int64_t kMaxTerms = (int64_t{1} << 31) / (255 * 128);

// The fewest rows for which it is worth changing the dtype of a matrix.
constexpr int64_t kMinRows = 8;

class Rewriting {
 public:
  explicit Rewriting(DataType activations) : activations_(activations) {}
  int num_changes = 0;

  BindingBlock visit(const DataflowBlockNode* block) {
    bindings_.clear();
    quantized_.clear();  // variables that are not visible in other blocks
    pieces_.clear();
    twins_.clear();
    names_.clear();
    follows_product_.clear();
    for (const Binding& each : block->bindings) {
      const Binding binding = names_.empty() ? each : substitute(each, names_);
      const auto* bound = binding.as<VarBindingNode>();
      const Expr value = bound ? visit(bound) : Expr();
      bindings_.push_back(value ? with(VarBinding(bound), [&](VarBindingNode& b) { b.value = value; })
                                : binding);
    }
    return DataflowBlockNode::make(bindings_);
  }

 private:
  // The value that replaces that of the binding, or null.
  Expr visit(const VarBindingNode* bound) {
    if (const auto* piece = bound->value.as<TupleGetItemNode>()) return visit_piece(bound->var, piece);
    const auto* call = bound->value.as<CallNode>();
    if (!call) return nullptr;
    note_product(bound->var, call);
    return visit(bound->var, call);
  }

  Expr visit(const AnyVar& var, const CallNode* call) {
    const std::string_view name = op_name(call);
    if (name == "relax.quantize") return visit_quantize(var, call);
    if (name == "relax.dequantize") return visit_dequantize(var, call);
    if (const std::optional<Product> product = product_of(call)) return visit_product(call, *product);
    return visit_move(var, call);
  }

  Expr visit_dequantize(const AnyVar& var, const CallNode* call) {
    const DataType dtype = dtype_of(call->args[0]);
    const std::optional<Quantized> parameters = parameters_of(call, dtype);
    if (!parameters || dtype_of(Expr(call)) != kFloat32) return nullptr;
    Quantized x = *parameters;
    x.values = call->args[0];
    if (auto found = twins_.find(call->args[0].get()); found != twins_.end() && x.is_scalar()) {
      x.values = found->second;
      x.dtype = activations_;
      x.zero[0] += offset(dtype);
      quantized_.emplace(var.get(), x);
      return dequantized(x);
    }
    if (x.values.as<ConstantNode>()) x = centered(x);
    quantized_.emplace(var.get(), x);
    return nullptr;
  }

  Expr visit_quantize(const AnyVar& var, const CallNode* call) {
    const DataType dtype = dtype_of(Expr(call));
    const std::optional<Quantized> parameters = parameters_of(call, dtype);
    if (!parameters || !parameters->is_scalar() || dtype_of(call->args[0]) != kFloat32) return nullptr;
    const double moved = parameters->zero[0] + offset(dtype);
    const auto source = quantized_.find(call->args[0].get());
    if (source != quantized_.end() && source->second.is_scalar()) {
      const Quantized& x = source->second;
      if (x.scales == parameters->scales && x.zero[0] + offset(x.dtype) == moved) {
        if (x.dtype == activations_) twins_[var.get()] = x.values;
        if (x.dtype != dtype) return nullptr;
        if (type_of(x.values)) names_[var.get()] = x.values;
        return x.values;
      }
    }
    if (dtype == activations_)
      return follows_product_.count(call->args[0].get()) ? quantized(call, parameters->zero[0], dtype)
                                                         : Expr();
    twins_[var.get()] = define(quantized(call, moved, activations_), var->name_hint);
    return nullptr;
  }

  // quantize to another dtype.  What follows a product is multiplied instead of divided: sums of integers have other
  // bits than those of floats anyway.  All else is rounded as the graph says.
  Expr quantized(const CallNode* call, double zero, DataType dtype) const {
    AttrMap attrs;
    attrs.set("out_dtype", attr(dtype.str()));
    const Expr one = make_scalar(1, kFloat32), zero_point = make_scalar(zero, dtype);
    if (!follows_product_.count(call->args[0].get()))
      return call_op("relax.quantize", {call->args[0], reshaped(call->args[1], {}), zero_point}, attrs,
                     call->span);
    const Expr factor = call_op("relax.divide", {one, reshaped(call->args[1], {})});
    const Expr steps = call_op("relax.multiply", {call->args[0], factor});
    return call_op("relax.quantize", {steps, one, zero_point}, attrs, call->span);
  }

  // Remembers that `call`, bound to `var`, computes with the result of a product.
  void note_product(const AnyVar& var, const CallNode* call) {
    const std::string_view name = op_name(call);
    bool follows = product_of(call).has_value();
    walk(
        Expr(call), [&](const VarNode* arg) { follows |= follows_product_.count(arg) > 0; },
        [&](const DataflowVarNode* arg) { follows |= follows_product_.count(arg) > 0; });
    if (follows && name != "relax.quantize") follows_product_.insert(var.get());
  }

  // The number added to a zero point of `dtype` to make it one of `activations`.
  double offset(DataType dtype) const { return static_cast<double>(zero_offset(dtype, activations_)); }

  // Operators that move elements, or choose among them.
  Expr visit_move(const AnyVar& var, const CallNode* call) {
    if (op_name(call) == "relax.nn.relu") return visit_relu(var, call);
    if (!only_moves(call) && !takes_largest(call) && op_name(call) != "relax.split") return nullptr;
    std::optional<Quantized> x = argument_of(call);
    if (!x || !follow_axis(call, *x)) return nullptr;
    ++num_changes;
    x->values = define(moved(call, x->values, static_cast<int64_t>(x->zero[0])), var->name_hint);
    if (call->type.as<TupleTypeNode>()) {
      pieces_.emplace(var.get(), *x);
      return nullptr;
    }
    quantized_.emplace(var.get(), *x);
    return dequantized(*x);
  }

  // One piece of a tensor that was split.
  Expr visit_piece(const AnyVar& var, const TupleGetItemNode* piece) {
    const auto found = pieces_.find(piece->tuple.get());
    if (found == pieces_.end()) return nullptr;
    Quantized x = found->second;
    x.values = define(TupleGetItemNode::make(x.values, piece->index), var->name_hint);
    quantized_.emplace(var.get(), x);
    return dequantized(x);
  }

  Expr visit_relu(const AnyVar& var, const CallNode* call) {
    std::optional<Quantized> x = argument_of(call);
    if (!x || !x->is_scalar()) return nullptr;
    const Expr least = make_scalar(x->zero[0], x->dtype);
    x->values = define(call_op("relax.maximum", {x->values, least}, {}, call->span), var->name_hint);
    quantized_.emplace(var.get(), *x);
    return dequantized(*x);
  }

  // What stands for the first argument of `call`, a tensor or a tuple of tensors of the same parameters.
  std::optional<Quantized> argument_of(const CallNode* call) const {
    const auto* tuple = call->args[0].as<TupleNode>();
    const std::vector<Expr> parts = tuple ? tuple->elements : std::vector<Expr>{call->args[0]};
    std::vector<Expr> values;
    for (const Expr& part : parts) {
      const auto found = quantized_.find(part.get());
      if (found == quantized_.end() || !found->second.has_parameters_of(quantized_.at(parts[0].get())) ||
          (tuple && !found->second.is_scalar()))
        return std::nullopt;
      values.push_back(found->second.values);
    }
    if (values.empty()) return std::nullopt;
    Quantized x = quantized_.at(parts[0].get());
    if (tuple) x.values = TupleNode::make(values);
    return x;
  }

  // Makes the axis of `x` that of the result of `call`.  Returns false if the scales do not belong to one.
  static bool follow_axis(const CallNode* call, Quantized& x) {
    const auto* type = call->type.as<TensorTypeNode>();
    if (x.is_scalar()) {
      x.axis = 0;
      return call->type.as<TupleTypeNode>() || (type && type->ndim > 0);
    }
    if (op_name(call) != "relax.permute_dims" || x.zero != std::vector<double>{0}) return false;
    const std::vector<int64_t> axes = permutation_of(call);
    const auto to = std::find(axes.begin(), axes.end(), x.axis);
    x.axis = to - axes.begin();
    return to != axes.end();
  }

  Expr visit_product(const CallNode* call, const Product& product) {
    if (product.num_terms() > kMaxTerms) return nullptr;
    const auto data = quantized_.find(call->args[0].get()), weight = quantized_.find(call->args[1].get());
    if (data == quantized_.end() || weight == quantized_.end()) return visit_integers(call, product);
    const Quantized &x = data->second, &w = weight->second;
    const size_t num_scales = w.scales.size();
    const bool is_by_channel = w.axis == static_cast<int64_t>(product.weight_axis);
    if (!x.is_scalar() || w.dtype != kInt8 || dtype_of(Expr(call)) != kFloat32 ||
        ((num_scales != 1 || w.zero.size() != 1) && !is_by_channel))
      return nullptr;
    ++num_changes;
    const Bytes bytes{x.values, x.dtype, static_cast<int64_t>(x.zero[0])};
    Expr sums = integer_sums(call, product, bytes, w.values, activations_);
    if (!has_no_zero(w)) {
      const Expr zero = along_channel(make_integers(w.zero), product, w.zero.size());
      const Expr windows = window_sums(call, product, bytes, activations_);
      sums = call_op("relax.subtract", {sums, call_op("relax.multiply", {windows, zero})});
    }
    const Expr scale = along_channel(
        call_op("relax.multiply",
                {reshaped(x.scale, {1}), reshaped(w.scale, {static_cast<int64_t>(num_scales)})}),
        product, num_scales);
    return call_op("relax.multiply", {astype(sums, kFloat32), scale}, {}, call->span);
  }

  static bool has_no_zero(const Quantized& w) {
    return std::all_of(w.zero.begin(), w.zero.end(), [](double zero) { return zero == 0; });
  }

  // `x`, one number or one for each output channel, in a shape that broadcasts to the product.
  static Expr along_channel(const Expr& x, const Product& product, size_t count) {
    std::vector<int64_t> shape(product.ndim, 1);
    shape[product.channel] = static_cast<int64_t>(count);
    return reshaped(x, shape);
  }

  // A product that was written on integers: one of two int8 where the machine needs a uint8.
  Expr visit_integers(const CallNode* call, const Product& product) {
    const DataType data = dtype_of(call->args[0]);
    const Shape* shape = known_shape(Expr(call));
    if (!is_byte(data) || data == activations_ || dtype_of(call->args[1]) != kInt8 ||
        dtype_of(Expr(call)) != kInt32 || !shape)
      return nullptr;
    int64_t num_rows = 1, extent;
    for (size_t dim = 0; dim < shape->size(); ++dim) {
      if (dim != product.channel) num_rows *= tir::as_const_int((*shape)[dim], &extent) ? extent : kMinRows;
    }
    if (num_rows < kMinRows) return nullptr;
    ++num_changes;
    return integer_sums(call, product, {call->args[0], data}, call->args[1], activations_);
  }

  AnyVar define(const Expr& value, const std::string& name) {
    const AnyVar var = DataflowVarNode::make(name, type_if_known(value));
    bindings_.push_back(VarBindingNode::make(var, value));
    return var;
  }

  // Null for a value whose operands have no types: the module is normalised at the end.
  static Type type_if_known(const Expr& value) {
    const auto* call = value.as<CallNode>();
    const auto is_typed = [](const Expr& arg) { return type_of(arg) != nullptr; };
    if (call && !std::all_of(call->args.begin(), call->args.end(), is_typed)) return nullptr;
    const auto* piece = value.as<TupleGetItemNode>();
    return piece && !is_typed(piece->tuple) ? Type() : infer_type(value);
  }

  const DataType activations_;
  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, Quantized> quantized_;
  std::unordered_map<const Object*, Quantized> pieces_;  // tuples of tensors, all with these parameters
  std::unordered_map<const Object*, Expr> twins_;        // values of other dtypes, stored as `activations`
  Substitution names_;                                   // variables that are other names of bytes
  std::unordered_set<const Object*> follows_product_;
};

// The dtype of the inputs of products; void: without instructions for integers, floats are faster.
DataType activations_for(const Options& options, const PassContext& context) {
  if (options.activations == "target") {
    if (!context.features) return kUint8;
    const target::DotInstructions& dots = context.features->dots;
    return dots.mixed_bytes ? kUint8 : dots.signed_bytes ? kInt8 : DataType();
  }
  if (options.activations == "int8") return kInt8;
  if (options.activations == "uint8") return kUint8;
  if (options.activations.empty()) return DataType();
  throw UserError("activations is \"{}\", expected \"uint8\", \"int8\", \"\" or \"target\"",
                  options.activations);
}

IRModule run(const IRModule& module, const Options& options, PassContext& context) {
  const DataType activations = activations_for(options, context);
  if (activations.is_void()) return module;
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    Rewriting rewriting(activations);
    const Function changed = rewrite(
        func, [&](auto&, const DataflowBlockNode* block) -> BindingBlock { return rewriting.visit(block); });
    return rewriting.num_changes == 0 ? func : BlockBuilder(module).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo integer_products_info = module_pass<run, Options>(
    "integer_products", "Computes products of quantized values as products of integers.", 2);

}  // namespace tilewright::relax
