// Elementwise operators of two or three tensors; Backward::add sums over what broadcasting repeated.
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

void of_add(Backward& b) {
  b.add(0, b.grad());
  b.add(1, b.grad());
}
void of_subtract(Backward& b) {
  b.add(0, b.grad());
  b.add(1, -b.grad());
}
void of_multiply(Backward& b) {
  b.add(0, b.grad() * b.x(1));
  b.add(1, b.grad() * b.x(0));
}
void of_divide(Backward& b) {
  b.add(0, b.grad() / b.x(1));
  b.add(1, -(b.grad() * b.out() / b.x(1)));
}
// x^p: p * x^(p - 1), and log(x) * x^p, which is 0 where x is
void of_power(Backward& b) {
  const Value x = b.x(0), p = b.x(1), zero = b.number(0);
  const Value slope = p * apply("power", {x, p - b.number(1)});
  b.add(0, select(apply("equal", {p, zero}), zero, b.grad() * slope));
  b.add(1, select(apply("equal", {x, zero}), zero, b.grad() * b.out() * apply("log", {x})));
}
void of_steps(Backward&) {}  // floor_divide is constant between steps
// a - b * floor(a / b), or a - b * trunc(a / b)
void of_remainder(Backward& b, std::string_view rounding) {
  b.add(0, b.grad());
  b.add(1, -(b.grad() * apply(rounding, {b.x(0) / b.x(1)})));
}
void of_mod(Backward& b) { of_remainder(b, "trunc"); }
void of_floor_mod(Backward& b) { of_remainder(b, "floor"); }
// d atan2(y, x) = (x dy - y dx) / (x^2 + y^2)
void of_atan2(Backward& b) {
  const Value y = b.x(0), x = b.x(1), scaled = b.bind(b.grad() / (x * x + y * y));
  b.add(0, scaled * x);
  b.add(1, -(scaled * y));
}
void of_log_add_exp(Backward& b) {
  b.add(0, b.grad() * apply("exp", {b.x(0) - b.out()}));
  b.add(1, b.grad() * apply("exp", {b.x(1) - b.out()}));
}
// of two equal arguments each gets half, as in torch
void of_extreme(Backward& b) {
  const Value half = b.grad() * b.number(0.5), zero = b.number(0);
  const Value is_tie = b.bind(apply("equal", {b.x(0), b.x(1)}));
  for (size_t n = 0; n < 2; ++n) {
    const Value wins = apply("equal", {b.x(n), b.out()});
    b.add(n, select(is_tie, half, select(wins, b.grad(), zero)));
  }
}
void of_where(Backward& b) {
  const Value zero = b.number(0, 1);
  b.add(1, select(b.x(0), b.grad(), zero));
  b.add(2, select(b.x(0), zero, b.grad()));
}
void of_ewise_fma(Backward& b) {
  b.add(0, b.grad() * b.x(1));
  b.add(1, b.grad() * b.x(0));
  b.add(2, b.grad());
}
void of_prelu(Backward& b) {
  const auto ndim = static_cast<size_t>(b.ndim(0));
  const auto channel = static_cast<size_t>(b.axis("axis", ndim));
  Value alpha = b.x(1);
  const bool is_per_channel = b.ndim(1) == 1 && !tir::is_one(b.shape(1)[0]);
  Shape spread(ndim, extent_imm(1));
  spread[channel] = b.shape(0)[channel];
  if (is_per_channel) alpha = reshape(alpha, spread);
  const Value is_positive = b.bind(apply("greater", {b.x(0), b.number(0)}));
  b.add(0, select(is_positive, b.grad(), b.grad() * alpha));
  const Value slope = select(is_positive, b.number(0), b.grad() * b.x(0));
  if (!is_per_channel) return b.add(1, slope);
  std::vector<int64_t> others;
  for (size_t n = 0; n < ndim; ++n) {
    if (n != channel) others.push_back(static_cast<int64_t>(n));
  }
  b.add(1, sum(slope, others, false));
}

constexpr GradientRow kRows[] = {
    {"relax.add", of_add},
    {"relax.subtract", of_subtract},
    {"relax.multiply", of_multiply},
    {"relax.divide", of_divide},
    {"relax.floor_divide", of_steps},
    {"relax.mod", of_mod},
    {"relax.floor_mod", of_floor_mod},
    {"relax.power", of_power},
    {"relax.atan2", of_atan2},
    {"relax.log_add_exp", of_log_add_exp},
    {"relax.maximum", of_extreme},
    {"relax.minimum", of_extreme},
    {"relax.where", of_where},
    {"relax.ewise_fma", of_ewise_fma},
    {"relax.nn.prelu", of_prelu},
};

}  // namespace

extern constinit const GradientTable binary_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
