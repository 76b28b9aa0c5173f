#include "tilewright/relax/products/quantized_values.h"

#include <algorithm>
#include <cmath>

#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {
namespace {

// The smallest normal number of float32, and the largest number whose reciprocal is normal.
constexpr double kLeastScale = 0x1p-126;

// The values of `x`, a constant, less `moved[channel]` as int8; null if they do not fit.
Expr less(const Quantized& x, const std::vector<double>& moved) {
  const auto shape = *constant_shape(x.values);
  const std::vector<double> values = numbers_of(x.values);
  int64_t step = 1;
  for (size_t dim = static_cast<size_t>(x.axis) + 1; dim < shape.size(); ++dim) step *= shape[dim];
  runtime::Tensor result = runtime::Tensor::empty(shape, kInt8);
  auto* to = static_cast<int8_t*>(result.data());
  for (size_t n = 0; n < values.size(); ++n) {
    const size_t channel = moved.size() == 1 ? 0 : n / static_cast<size_t>(step) % moved.size();
    const double value = values[n] - moved[channel];
    if (value < -128 || value > 127) return nullptr;
    to[n] = static_cast<int8_t>(value);
  }
  return make_constant(result);
}

}  // namespace

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

bool Quantized::is_scalar() const {
  return scales.size() == 1 && zero.size() == 1 && scales[0] >= kLeastScale && scales[0] <= 1 / kLeastScale;
}

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

Quantized centered(const Quantized& x) {
  if (const Expr values = less(x, x.zero)) return {values, kInt8, x.scale, x.scales, {0}, x.axis};
  if (x.dtype == kInt8) return x;
  std::vector<double> zero = x.zero;
  for (double& each : zero) each -= 128;
  return {less(x, {128}), kInt8, x.scale, x.scales, zero, x.axis};
}

Expr dequantized(const Quantized& x) {
  AttrMap attrs;
  attrs.set("axis", attr(x.axis));
  return call_op("relax.dequantize", {x.values, x.scale, make_scalar(x.zero[0], x.dtype)}, attrs);
}

}  // namespace tilewright::relax
