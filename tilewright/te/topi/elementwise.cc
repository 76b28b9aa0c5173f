#include "tilewright/te/topi/elementwise.h"

#include <cmath>

namespace tilewright::topi {
using namespace tir;

Tensor elementwise(const Tensor& x, std::string name, const std::function<PrimExpr(PrimExpr)>& body) {
  return te::compute(x.shape(), [&](const std::vector<Var>& i) { return body(x.at({i.begin(), i.end()})); },
                     {.name = std::move(name)});
}

Tensor math(const Tensor& x, std::string_view op) {
  return elementwise(x, fmt::format("T_{}", op), [&](PrimExpr v) { return call(v->dtype, op, {v}); });
}

namespace {
PrimExpr constant(const PrimExpr& like, double value) { return make_const(like->dtype, value); }
PrimExpr sigmoid(const PrimExpr& v) { return call(v->dtype, "sigmoid", {v}); }
}  // namespace

Tensor abs(const Tensor& x) {
  return elementwise(x, "T_abs", [](PrimExpr v) -> PrimExpr {
    if (v->dtype.is_float()) return call(v->dtype, "abs", {v});
    return v->dtype.is_int() ? select(v < constant(v, 0), -v, v) : v;
  });
}

Tensor negative(const Tensor& x) {
  // 0 - x would give 0.0 for x = 0.0 instead of -0.0
  return elementwise(x, "T_negative",
                     [](PrimExpr v) { return v->dtype.is_float() ? v * constant(v, -1) : -v; });
}

Tensor sign(const Tensor& x) {
  return elementwise(x, "T_sign", [](PrimExpr v) {  // zeros and NaN are unchanged
    return select(v > constant(v, 0), constant(v, 1),
                  v->dtype.is_uint() ? v : select(v < constant(v, 0), constant(v, -1), v));
  });
}

Tensor square(const Tensor& x) {
  return elementwise(x, "T_square", [](PrimExpr v) { return v * v; });
}
Tensor relu(const Tensor& x) {
  return elementwise(x, "T_relu", [](PrimExpr v) { return tir::max(v, constant(v, 0)); });
}
Tensor leaky_relu(const Tensor& x, double alpha) {
  return elementwise(x, "T_leaky_relu",
                     [&](PrimExpr v) { return select(v > constant(v, 0), v, v * constant(v, alpha)); });
}

Tensor gelu(const Tensor& x) {
  return elementwise(x, "T_gelu", [](PrimExpr v) {
    PrimExpr erf = call(v->dtype, "erf", {v * constant(v, M_SQRT1_2)});
    return v * (constant(v, 0.5) + erf * constant(v, 0.5));
  });
}

Tensor gelu_tanh(const Tensor& x) {
  return elementwise(x, "T_gelu_tanh", [](PrimExpr v) {
    PrimExpr inner = v * (constant(v, 1) + v * v * constant(v, 0.044715)) * constant(v, std::sqrt(2 / M_PI));
    return v * (constant(v, 0.5) + call(v->dtype, "tanh", {inner}) * constant(v, 0.5));
  });
}

Tensor silu(const Tensor& x) {
  return elementwise(x, "T_silu", [](PrimExpr v) { return v * sigmoid(v); });
}

Tensor softplus(const Tensor& x, double beta, double threshold) {
  return elementwise(x, "T_softplus", [&](PrimExpr v) {  // max(y, 0) + log1p(exp(-|y|)) for y = beta * x
    PrimExpr y = beta == 1 ? v : v * constant(v, beta);
    PrimExpr small = call(v->dtype, "exp", {call(v->dtype, "abs", {y}) * constant(v, -1)});
    PrimExpr soft = tir::max(y, constant(v, 0)) + call(v->dtype, "log1p", {small});
    if (beta != 1) soft = div(soft, constant(v, beta));
    return select(y > constant(v, threshold), v, soft);
  });
}

Tensor selu(const Tensor& x) {
  return elementwise(x, "T_selu", [](PrimExpr v) {
    PrimExpr below = (call(v->dtype, "exp", {tir::min(v, constant(v, 0))}) - constant(v, 1)) *
                     constant(v, 1.0507009873554805 * 1.6732632423543772);
    return select(v > constant(v, 0), v * constant(v, 1.0507009873554805), below);
  });
}

Tensor clip(const Tensor& x, const PrimExpr& low, const PrimExpr& high) {
  return elementwise(x, "T_clip", [&](PrimExpr v) {
    return tir::min(tir::max(v, tir::cast(v->dtype, low)), tir::cast(v->dtype, high));
  });
}

Tensor cast(const Tensor& x, DataType dtype) {
  return elementwise(x, "T_cast", [&](PrimExpr v) -> PrimExpr {
    return dtype.is_bool() && !v->dtype.is_bool() ? not_equal(v, constant(v, 0)) : tir::cast(dtype, v);
  });
}

DataType dtype_of_sums(DataType dtype) { return dtype.is_float() && dtype.bits < 32 ? kFloat32 : dtype; }

PrimExpr widened(const PrimExpr& value) { return tir::cast(dtype_of_sums(value->dtype), value); }

Tensor rounded_to(const Tensor& sums, DataType dtype) {
  return sums.dtype() == dtype ? sums : cast(sums, dtype);
}

Tensor logical_not(const Tensor& x) {
  return elementwise(x, "T_logical_not", [](PrimExpr v) {
    return v->dtype.is_bool() ? tir::logical_not(v) : equal(v, constant(v, 0));
  });
}
Tensor bitwise_not(const Tensor& x) {
  return elementwise(x, "T_bitwise_not", [](PrimExpr v) {
    return v->dtype.is_bool() ? tir::logical_not(v) : call(v->dtype, "bitwise_not", {v});
  });
}
namespace {
// A test for special float values, which no integer has: `of_integers` is the answer for integers.
Tensor special(const Tensor& x, const char* op, bool of_integers) {
  return elementwise(x, fmt::format("T_{}", op), [&](PrimExpr v) -> PrimExpr {
    return v->dtype.is_float() ? call(kBoolType, op, {v}) : bool_imm(of_integers);
  });
}
}  // namespace

Tensor isnan(const Tensor& x) { return special(x, "isnan", false); }
Tensor isinf(const Tensor& x) { return special(x, "isinf", false); }
Tensor isfinite(const Tensor& x) { return special(x, "isfinite", true); }

}  // namespace tilewright::topi
