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
  // 0 - x would turn 0.0 into 0.0 instead of -0.0
  return elementwise(x, "T_negative",
                     [](PrimExpr v) { return v->dtype.is_float() ? v * constant(v, -1) : -v; });
}

Tensor sign(const Tensor& x) {
  return elementwise(x, "T_sign", [](PrimExpr v) {  // zeros and NaN stay as they are
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

Tensor softplus(const Tensor& x) {
  return elementwise(x, "T_softplus", [](PrimExpr v) {  // max(x, 0) + log1p(exp(-|x|))
    PrimExpr small = call(v->dtype, "exp", {call(v->dtype, "abs", {v}) * constant(v, -1)});
    return tir::max(v, constant(v, 0)) + call(v->dtype, "log1p", {small});
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
Tensor isnan(const Tensor& x) {
  return elementwise(x, "T_isnan", [](PrimExpr v) { return call(kBoolType, "isnan", {v}); });
}
Tensor isinf(const Tensor& x) {
  return elementwise(x, "T_isinf", [](PrimExpr v) { return call(kBoolType, "isinf", {v}); });
}
Tensor isfinite(const Tensor& x) {
  return elementwise(x, "T_isfinite", [](PrimExpr v) { return call(kBoolType, "isfinite", {v}); });
}

}  // namespace tilewright::topi
