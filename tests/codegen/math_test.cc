// The polynomials against the C library in double: the largest error in units in the last place, and special
// values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tilewright/codegen/llvm/native.h"
#include "tilewright/lower/lower.h"
#include "tilewright/target/target.h"
#include "tilewright/tir/builder.h"

namespace tilewright::codegen {
namespace {
using namespace tir;
using runtime::Tensor;

constexpr int64_t kCount = 1 << 14;

using Formula = std::function<PrimExpr(PrimExpr)>;

// formula(x) for kCount values, 16 at a time
std::vector<float> run(const Formula& formula, const std::vector<float>& x, const char* machine = "llvm") {
  Buffer a = make_buffer("A", {imm(kCount)}, kFloat32), b = make_buffer("B", {imm(kCount)}, kFloat32);
  Var i = make_var("i"), v = make_var("v");
  const PrimExpr at = i * 16 + v;
  Stmt body = loop(i, imm(kCount / 16),
                   loop(v, imm(16), store(b, formula(load(a, {at})), {at}), ForKind::kVectorized));
  PrimFunc func = PrimFuncNode::make(
      std::vector<Var>{make_var("a", DataType::handle()), make_var("b", DataType::handle())},
      std::vector<Buffer>{a, b}, body);
  const NativeTarget target = native_target(target::parse_target(machine));
  const std::string names[] = {"f"};
  const std::string objects[] = {emit_object(lower::lower_for_cpu("f", func), target),
                                 emit_library_object(names, {}, target)};
  const std::vector<int64_t> shape{kCount};
  Tensor input = Tensor::copy_of(x.data(), x.size() * sizeof(float), shape, kFloat32),
         output = Tensor::empty(shape, kFloat32);
  load_objects("test", objects).get_function("f")(input, output);
  return {output.data_as<float>(), output.data_as<float>() + kCount};
}

std::vector<float> run(const char* name, const std::vector<float>& x) {
  return run([&](PrimExpr value) { return call(kFloat32, name, {value}); }, x);
}

// x^y
Formula power(double y) {
  return [y](PrimExpr x) { return call(kFloat32, "pow", {x, float_imm(y)}); };
}

// kCount numbers from `low` to `high`
std::vector<float> numbers(double low, double high) {
  std::vector<float> x(kCount);
  for (int64_t n = 0; n < kCount; ++n)
    x[static_cast<size_t>(n)] =
        static_cast<float>(low + (high - low) * static_cast<double>(n) / (kCount - 1));
  return x;
}

template <class Function>
double worst_error(const Function& name, double low, double high,
                   const std::function<double(double)>& exact) {
  const std::vector<float> x = numbers(low, high), y = run(name, x);
  double worst = 0;
  for (size_t n = 0; n < x.size(); ++n) {
    const double expected = exact(x[n]);
    const double unit =
        expected == 0 ? 0x1p-149 : std::max(std::ldexp(1.0, std::ilogb(expected) - 23), 0x1p-149);
    worst = std::max(worst, std::abs(y[n] - expected) / unit);
  }
  return worst;
}

double exact_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Math, ErrorsAreSmall) {
  const auto exp = [](double x) { return std::exp(x); };
  const auto log = [](double x) { return std::log(x); };
  const auto tanh = [](double x) { return std::tanh(x); };
  const auto erf = [](double x) { return std::erf(x); };
  EXPECT_LT(worst_error("exp", -87, 88.7, exp), 1.2);
  EXPECT_LT(worst_error("exp", -103, -87, exp), 1.2);  // subnormal results
  EXPECT_LT(worst_error("exp", -105, -103, exp), 1.2);
  EXPECT_LT(worst_error("exp", -1e9, -104, exp), 0.5);  // 0
  const Formula one_plus_tanh = [](PrimExpr x) { return call(kFloat32, "tanh", {x}) + float_imm(1); };
  const auto exact_sum = [](double x) { return 2 / (1 + std::exp(-2 * x)); };
  EXPECT_LT(worst_error(one_plus_tanh, -9, 9, exact_sum), 2.5);
  EXPECT_LT(worst_error(one_plus_tanh, -43, -9, exact_sum), 2.5);
  EXPECT_LT(worst_error(one_plus_tanh, 9, 1e9, exact_sum), 1);
  EXPECT_LT(worst_error("exp", -1, 1, exp), 1.2);
  EXPECT_LT(worst_error("log", 1e-38, 2, log), 2);
  EXPECT_LT(worst_error("log", 0.5, 1e30, log), 2);
  const auto log1p = [](double x) { return std::log1p(x); };
  EXPECT_LT(worst_error("log1p", -0.99, 1, log1p), 3);
  EXPECT_LT(worst_error("log1p", -1e-5, 1e-5, log1p), 3);
  EXPECT_LT(worst_error("log1p", 0, 1e9, log1p), 3);
  for (double limit : {0.01, 1.0, 12.0}) {
    EXPECT_LT(worst_error("tanh", -limit, limit, tanh), 1.4);
    EXPECT_LT(worst_error("erf", -limit, limit, erf), 1.4);
  }
  for (double limit : {0.01, 4.0, 1000.0, 1e8, 1e30}) {
    EXPECT_LT(worst_error("sin", -limit, limit, [](double x) { return std::sin(x); }), 1.5);
    EXPECT_LT(worst_error("cos", -limit, limit, [](double x) { return std::cos(x); }), 1.5);
  }
  EXPECT_LT(worst_error("sigmoid", -80, 80, exact_sigmoid), 2.5);
  EXPECT_LT(worst_error("sigmoid", -5, 5, exact_sigmoid), 2.5);
}

// 1 + erf x and its half, times x: what gelu is made of.
TEST(Math, OnePlusErfHasASmallError) {
  const auto with = [](double scale) -> Formula {
    return [scale](PrimExpr x) {
      PrimExpr erf = call(kFloat32, "erf", {x});
      return scale == 1 ? float_imm(1) + erf : erf * float_imm(scale) + float_imm(scale);
    };
  };
  for (const double scale : {1.0, 0.5}) {
    SCOPED_TRACE(scale);
    const auto exact = [scale](double x) { return scale * std::erfc(-x); };
    EXPECT_LT(worst_error(with(scale), 0, 12, exact), 1.2);
    EXPECT_LT(worst_error(with(scale), -0.5, 0, exact), 8);
    EXPECT_LT(worst_error(with(scale), -2, -0.5, exact), 200);  // 1 + (erf rounded to float32): 10,000
    const std::vector<float> x = numbers(-30, 1);
    for (const char* machine : {"llvm", "llvm -mcpu=x86-64"}) {  // the second multiplies by 2^n as a number
      const std::vector<float> y = run(with(scale), x, machine);
      for (size_t n = 0; n < x.size(); ++n) {
        EXPECT_NEAR(y[n], exact(x[n]), 2e-7 * scale) << machine << " " << x[n];
        EXPECT_GE(y[n], 0);
      }
    }
  }
  std::vector<float> special(kCount, 0);
  special[0] = NAN, special[1] = INFINITY, special[2] = -INFINITY, special[3] = -3e38F, special[4] = 3e38F;
  const std::vector<float> y = run(with(0.5), special);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 0);
  EXPECT_EQ(y[3], 0);
  EXPECT_EQ(y[4], 1);
  EXPECT_NEAR(y[5], 0.5, 3e-8);
}

// found: half of 1 + tanh(-3e38) times -3e38 was -1.8
TEST(Math, OnePlusTanhGoesToZero) {
  const Formula half = [](PrimExpr x) {
    return float_imm(0.5) + call(kFloat32, "tanh", {x}) * float_imm(0.5);
  };
  const std::vector<float> x{-44, -3e38F, -INFINITY, -1e20F, NAN, 44, INFINITY, -42};
  std::vector<float> padded(kCount, 0);
  std::copy(x.begin(), x.end(), padded.begin());
  const std::vector<float> y = run(half, padded);
  for (size_t n = 0; n < 4; ++n) EXPECT_EQ(y[n], 0) << x[n];
  EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_EQ(y[5], 1);
  EXPECT_EQ(y[6], 1);
  EXPECT_NEAR(y[7] / std::exp(-84.0), 1, 1e-5);
}

TEST(Math, PowersHaveSmallErrors) {
  for (const float y : {0.8F, -0.5F, 1.5F, 2.2F, 7.0F, -3.3F, 40.0F}) {
    SCOPED_TRACE(y);
    const auto exact = [y](double x) { return std::pow(x, y); };
    EXPECT_LT(worst_error(power(y), 1e-3, 4, exact), 0.51);
    EXPECT_LT(worst_error(power(y), 0.99, 1.01, exact), 0.51);
    if (std::abs(y) < 2) EXPECT_LT(worst_error(power(y), 1e-44, 1e-37, exact), 0.51);  // subnormal operands
    if (std::abs(y) < 1) EXPECT_LT(worst_error(power(y), 1e10, 3e38, exact), 0.51);
  }
  EXPECT_LT(worst_error(power(2.5), 1e-18, 1e-15, [](double x) { return std::pow(x, 2.5); }),
            0.51);  // subnormal results
  for (const auto& [y, bound] : {std::pair{0.25, 0.85}, {0.5, 0.501}, {0.75, 2.2}, {3.0, 1.25}}) {
    const auto exact = [y = y](double x) { return std::pow(x, y); };
    EXPECT_LT(worst_error(power(y), 1e-3, 1e3, exact), bound) << y;
  }
  const auto one_third = [](double x) { return std::pow(static_cast<double>(1 / 3.0F), x); };
  EXPECT_LT(worst_error([](PrimExpr x) { return call(kFloat32, "pow", {float_imm(1 / 3.0F), x}); }, -80, 94,
                        one_third),
            0.51);
}

TEST(Math, SpecialValuesOfPowers) {
  const float inf = INFINITY;
  for (const double y : {0.8, 0.25, 0.5, 0.75, 1.0, 2.0, 3.0, 5.0, 4.0, -1.0, -2.0, -0.5, 0.0, HUGE_VAL,
                         -HUGE_VAL, std::nan("")}) {
    const std::vector<float> special{0,         -0.0F,      1,     -1,     inf,  -inf, NAN,
                                     0x1p-149F, -0x1p-149F, 3e38F, -3e38F, 0.5F, -2,   -8};
    std::vector<float> x(kCount, 1.5F);
    // each in a vector of usual numbers, and all together
    for (size_t n = 0; n < special.size(); ++n) x[16 * n + n] = x[1024 + n] = special[n];
    const std::vector<float> found = run(power(y), x);
    for (size_t n = 0; n < 1040; ++n) {
      const float expected = std::pow(x[n], static_cast<float>(y));
      SCOPED_TRACE(fmt::format("{}^{}", x[n], y));
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(found[n])) << found[n];
      } else if (expected == 0 || std::isinf(expected)) {
        EXPECT_EQ(found[n], expected);
        EXPECT_EQ(std::signbit(found[n]), std::signbit(expected));
      } else {
        EXPECT_NEAR(found[n] / expected, 1, 2e-7);
      }
    }
  }
}

TEST(Math, SpecialValues) {
  std::vector<float> x(kCount, 0);
  x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = 0, x[4] = -1, x[5] = 1000, x[6] = 0x1p-149f,
  x[7] = -0.0f;
  const std::vector<float> exp = run("exp", x), log = run("log", x), tanh = run("tanh", x),
                           sigmoid = run("sigmoid", x), erf = run("erf", x), sin = run("sin", x),
                           cos = run("cos", x);
  for (const auto& y : {exp, log, tanh, sigmoid, erf, sin, cos}) EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(exp[1], INFINITY);
  EXPECT_EQ(exp[2], 0);
  EXPECT_EQ(exp[3], 1);
  EXPECT_EQ(exp[5], INFINITY);
  EXPECT_EQ(log[1], INFINITY);
  EXPECT_EQ(log[3], -INFINITY);
  EXPECT_TRUE(std::isnan(log[4]));
  EXPECT_TRUE(std::isnan(log[2]));
  EXPECT_NEAR(log[6], -103.27893, 1e-5);
  const std::vector<float> log1p = run("log1p", x);
  EXPECT_TRUE(std::isnan(log1p[0]));
  EXPECT_EQ(log1p[1], INFINITY);
  EXPECT_TRUE(std::isnan(log1p[2]));
  EXPECT_EQ(log1p[4], -INFINITY);
  EXPECT_EQ(log1p[6], 0x1p-149f);
  EXPECT_TRUE(std::signbit(log1p[7]) && log1p[7] == 0);
  EXPECT_EQ(tanh[1], 1);
  EXPECT_EQ(tanh[2], -1);
  EXPECT_EQ(tanh[3], 0);
  EXPECT_EQ(sigmoid[1], 1);
  EXPECT_EQ(sigmoid[2], 0);
  EXPECT_EQ(sigmoid[3], 0.5f);
  EXPECT_EQ(erf[1], 1);
  EXPECT_EQ(erf[2], -1);
  EXPECT_EQ(erf[3], 0);
  for (const auto& y : {sin, cos}) EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[2]));
  EXPECT_EQ(cos[3], 1);
  for (const auto& y : {tanh, erf, sin}) EXPECT_TRUE(y[7] == 0 && std::signbit(y[7]) && !std::signbit(y[3]));
}

}  // namespace
}  // namespace tilewright::codegen
