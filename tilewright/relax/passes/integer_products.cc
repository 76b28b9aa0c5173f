// Computes products of quantized values as products of integers.
//   y = conv2d(dequantize(q, s, z), dequantize(W, t, 0))       q: uint8, W: int8, constant
//   =>  y = astype(conv2d(q, W, out_dtype="int32") - z * W.sum(), "float32") * (s * t)
// and the same for matmul and other convolutions.  Integer sums are exact, so y differs from the original
// only by less rounding.  The inputs of such a product are stored as `activations`: an int8 value is stored
// as uint8 by adding 128, with the zero point z + 128.
//   q = quantize(x, s, z, out_dtype="int8")   =>  q = quantize(x, s, z + 128, out_dtype="uint8")
//   reshape(dequantize(q, s, z), shape)       =>  dequantize(reshape(q, shape), s, z)
//   quantize(dequantize(q, s, z), s, z)       =>  q
//   quantize(x, s, z)                         =>  quantize(x * (1 / s), 1, z)
//   matmul(a, b, out_dtype="int32")           =>  matmul(a + 128, b, out_dtype="int32") - 128 * b.sum()
// The new arithmetic on constants is left to fold_constant.
// Source: Jacob et al., arXiv 1712.05877, section 2
#include <cmath>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/products/integer_sums.h"
#include "tilewright/relax/products/mixed_precision.h"
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

// The values of a constant; empty for dtypes other than those of quantization.
std::vector<double> numbers_of(const Expr& expr) {
  const auto* constant = expr.as<ConstantNode>();
  if (!constant) return {};
  const runtime::Tensor& data = constant->data;
  const auto all = [&](const auto* values) {
    return std::vector<double>(values, values + data.num_elements());
  };
  if (data.dtype() == kFloat32) return all(data.data_as<float>());
  if (data.dtype() == kInt8) return all(data.data_as<int8_t>());
  if (data.dtype() == kUint8) return all(data.data_as<uint8_t>());
  if (data.dtype() == kInt32) return all(data.data_as<int32_t>());
  return {};
}

bool is_byte(DataType dtype) { return dtype == kInt8 || dtype == kUint8; }

// The smallest normal number of float32, and the largest number whose reciprocal is normal.
constexpr double kLeastScale = 0x1p-126;

// A variable with the value (values - zero) * scale.
struct Quantized {
  Expr values;  // of dtype
  DataType dtype;
  Expr scale;                        // a constant
  std::vector<double> scales, zero;  // one number, or one per index of dimension `axis`
  int64_t axis = 0;
  /// True if there is one scale, which is positive, and one zero point.
  bool is_scalar() const {
    return scales.size() == 1 && zero.size() == 1 && scales[0] >= kLeastScale && scales[0] <= 1 / kLeastScale;
  }
};

// The parameters of `call` of quantize or dequantize for values of `dtype`; nullopt if they are unknown, or
// if zero points are out of the range of `dtype` and so cannot be part of sums of bytes.
std::optional<Quantized> parameters_of(const CallNode* call, DataType dtype) {
  if (!is_byte(dtype) || dtype_of(call->args[1]) != kFloat32 || call->attrs.get_int("block_size", 0) != 0)
    return std::nullopt;
  const std::vector<double> scales = numbers_of(call->args[1]), zero = numbers_of(call->args[2]);
  const double least = dtype == kInt8 ? -128 : 0;
  const auto fits = [&](double z) { return z >= least && z <= least + 255 && z == std::floor(z); };
  if (scales.empty() || zero.empty() || !std::all_of(zero.begin(), zero.end(), fits) ||
      !std::all_of(scales.begin(), scales.end(), [](double scale) { return std::isfinite(scale); }))
    return std::nullopt;
  const Type type = type_of(call->args[0]);
  const auto* data = type.as<TensorTypeNode>();
  const int64_t axis = call->attrs.get_int("axis", -1);
  return Quantized{{}, dtype, call->args[1], scales, zero, axis < 0 ? axis + data->ndim : axis};
}

// The number of products of bytes that an int32 sum can hold.
constexpr int64_t kMaxTerms = (int64_t{1} << 31) / (255 * 128);

// The fewest rows for which it is worth changing the dtype of a matrix.
constexpr int64_t kMinRows = 8;

class Rewriting {
 public:
  explicit Rewriting(DataType activations) : activations_(activations) {}
  int num_products = 0;

  BindingBlock visit(const DataflowBlockNode* block) {
    bindings_.clear();
    quantized_.clear();  // variables that are not visible in other blocks
    twins_.clear();
    for (const Binding& binding : block->bindings) {
      const auto* bound = ObjectRef(binding).as<VarBindingNode>();
      const auto* call = bound ? bound->value.as<CallNode>() : nullptr;
      const Expr value = call ? visit(binding->var, call) : Expr();
      bindings_.push_back(value ? with(VarBinding(bound), [&](VarBindingNode& b) { b.value = value; })
                                : binding);
    }
    return DataflowBlockNode::make(bindings_);
  }

 private:
  // The value that replaces `call` in the binding of `var`, or null.
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

  // `x` as int8 with zero points 0, if it is a constant whose values fit.
  static Quantized centered(const Quantized& x) {
    const auto shape = *constant_shape(x.values);
    const std::vector<double> values = numbers_of(x.values);
    int64_t step = 1;
    for (size_t dim = static_cast<size_t>(x.axis) + 1; dim < shape.size(); ++dim) step *= shape[dim];
    runtime::Tensor result = runtime::Tensor::empty(shape, kInt8);
    auto* to = static_cast<int8_t*>(result.data());
    for (size_t n = 0; n < values.size(); ++n) {
      const size_t channel = x.zero.size() == 1 ? 0 : n / static_cast<size_t>(step) % x.zero.size();
      const double value = values[n] - x.zero[channel];
      if (value < -128 || value > 127) return x;
      to[n] = static_cast<int8_t>(value);
    }
    return {make_constant(result), kInt8, x.scale, x.scales, {0}, x.axis};
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
        return x.dtype == dtype ? x.values : Expr();
      }
    }
    if (dtype == activations_) return quantized(call, parameters->zero[0], dtype);
    twins_[var.get()] = define(quantized(call, moved, activations_), var->name_hint);
    return nullptr;
  }

  // quantize as a multiplication instead of a division.
  static Expr quantized(const CallNode* call, double zero, DataType dtype) {
    AttrMap attrs;
    attrs.set("out_dtype", attr(dtype.str()));
    const Expr one = make_scalar(1, kFloat32);
    const Expr factor = call_op("relax.divide", {one, reshaped(call->args[1], {})});
    const Expr steps = call_op("relax.multiply", {call->args[0], factor});
    return call_op("relax.quantize", {steps, one, make_scalar(zero, dtype)}, attrs, call->span);
  }

  // The number added to a zero point of `dtype` to make it one of `activations`.
  double offset(DataType dtype) const { return static_cast<double>(zero_offset(dtype, activations_)); }

  Expr dequantized(const Quantized& x) const {
    AttrMap attrs;
    attrs.set("axis", attr(x.axis));
    return call_op("relax.dequantize", {x.values, x.scale, make_scalar(x.zero[0], x.dtype)}, attrs);
  }

  // Operators that only move elements.
  Expr visit_move(const AnyVar& var, const CallNode* call) {
    const std::string_view name = op_name(call);
    const bool is_permute = name == "relax.permute_dims";
    if (!is_reshape_like(name) && !is_permute && name != "relax.nn.max_pool2d") return nullptr;
    const auto found = quantized_.find(call->args[0].get());
    const auto* type = call->type.as<TensorTypeNode>();
    if (found == quantized_.end() || !type || type->ndim < 1) return nullptr;
    Quantized x = found->second;
    if (!x.is_scalar()) {
      if (!is_permute || x.zero != std::vector<double>{0}) return nullptr;
      std::vector<int64_t> axes = call->attrs.get_ints("axes", {});
      if (axes.empty()) {
        for (int64_t axis = type->ndim; axis-- > 0;) axes.push_back(axis);
      }
      int64_t to = 0;
      while ((axes[static_cast<size_t>(to)] + type->ndim) % type->ndim != x.axis) ++to;
      x.axis = to;
    } else {
      x.axis = 0;
    }
    x.values = define(with(Call(call),
                           [&](CallNode& moved) {
                             moved.args[0] = x.values;
                             moved.type = nullptr;
                           }),
                      var->name_hint);
    quantized_.emplace(var.get(), x);
    return dequantized(x);
  }

  Expr visit_product(const CallNode* call, const Product& product) {
    if (product.num_terms() > kMaxTerms) return nullptr;
    const auto data = quantized_.find(call->args[0].get()), weight = quantized_.find(call->args[1].get());
    if (data == quantized_.end() || weight == quantized_.end()) return visit_integers(call, product);
    const Quantized &x = data->second, &w = weight->second;
    const size_t num_scales = w.scales.size();
    if (!x.is_scalar() || w.dtype != kInt8 || w.zero != std::vector<double>{0} ||
        dtype_of(Expr(call)) != kFloat32 ||
        (num_scales != 1 && w.axis != static_cast<int64_t>(product.weight_axis)))
      return nullptr;
    ++num_products;
    const Bytes bytes{x.values, x.dtype, static_cast<int64_t>(x.zero[0])};
    const Expr sums = integer_sums(call, product, bytes, w.values, activations_);
    std::vector<int64_t> shape(product.ndim, 1);
    shape[product.channel] = static_cast<int64_t>(num_scales);
    const Expr scale = reshaped(
        call_op("relax.multiply", {reshaped(x.scale, {1}), reshaped(w.scale, {shape[product.channel]})}),
        shape);
    return call_op("relax.multiply", {astype(sums, kFloat32), scale}, {}, call->span);
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
    ++num_products;
    return integer_sums(call, product, {call->args[0], data}, call->args[1], activations_);
  }

  AnyVar define(const Expr& value, const std::string& name) {
    const AnyVar var = DataflowVarNode::make(name, Type());
    bindings_.push_back(VarBindingNode::make(var, value));
    return var;
  }

  const DataType activations_;
  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, Quantized> quantized_;
  std::unordered_map<const Object*, Expr> twins_;  // values of other dtypes, stored as `activations`
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
    return rewriting.num_products == 0 ? func : BlockBuilder(module).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo integer_products_info = module_pass<run, Options>(
    "integer_products", "Computes products of quantized values as products of integers.", 2);

}  // namespace tilewright::relax
