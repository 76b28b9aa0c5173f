// exp, log, tanh, sigmoid and erf of float32 without branches and calls, of which compilers make vectors:
// the polynomials of codegen/llvm/math.cc, which says how exact they are and where they come from.
#include "tilewright/codegen/source/helpers.h"

namespace tilewright::codegen {
namespace {

// 1.5 * 2^23: adding it to a small number rounds it to an integer, which the last bits of the sum hold
constexpr std::string_view kExpSmall = R"(// e^x for |x| < 87
@function float tw_small_exp(float x) {
  const float sum = x * 1.44269504f + 12582912.0f, n = sum - 12582912.0f;
  const float r = n * 2.12194440e-4f + (n * -0.693359375f + x);
  const float t = (((0.00138209458f * r + 0.00836868398f) * r + 0.0416682661f) * r + 0.166665211f) * r
      + 0.49999994f;
  @uint32 bits;
  @bits(bits, sum);
  bits = (bits - 0x4b400000U + 127U) << 23;
  float power;
  @float(power, bits);
  return ((t * r + 1.0f) * r + 1.0f) * power;
}
)";

// 2^n as a product of two factors: n reaches 128, and below -126 the result is subnormal
constexpr std::string_view kExp = R"(// e^x
@function float tw_exp_float32(float x) {
  const float high = x > 89.0f ? 89.0f : x, y = x < -104.0f ? 0.0f : high;
  const float sum = y * 1.44269504f + 12582912.0f, n = sum - 12582912.0f;
  const float r = n * 2.12194440e-4f + (n * -0.693359375f + y);
  const float t = (((0.00138209458f * r + 0.00836868398f) * r + 0.0416682661f) * r + 0.166665211f) * r
      + 0.49999994f;
  @uint32 bits;
  @bits(bits, sum);
  const @uint32 power = bits - 0x4b400000U, half = ((power + 1024U) >> 1) - 512U;
  @uint32 first = (half + 127U) << 23, second = (power - half + 127U) << 23;
  float a, b;
  @float(a, first);
  @float(b, second);
  const float value = ((t * r + 1.0f) * r + 1.0f) * a * b;
  return x < -104.0f ? 0.0f : value;
}
)";

constexpr std::string_view kSigmoid = R"(@function float tw_exp_float32(float x);
@function float tw_sigmoid_float32(float x) { return 1.0f / (1.0f + tw_exp_float32(-x)); }
)";

constexpr std::string_view kTanh = R"(@function float tw_small_exp(float x);
@function float tw_tanh_float32(float x) {
  const float magnitude = fabs@f(x), z = x * x;
  const float series = (((-0.00569229666f * z + 0.0206281673f) * z - 0.0537365153f) * z + 0.133314058f) * z
      - 0.333332807f;
  const float near = z * series * magnitude + magnitude;
  const float twice = magnitude * 2.0f, most = twice > 20.0f ? 20.0f : twice;
  const float far = 1.0f - 2.0f / (tw_small_exp(most) + 1.0f);
  return copysign@f(magnitude >= 0.625f ? far : near, x);
}
)";

constexpr std::string_view kErf = R"(@function float tw_small_exp(float x);
@function float tw_erf_float32(float x) {
  const float magnitude = fabs@f(x), z = x * x;
  const float series = ((((-0.000592512486f * z + 0.00498068752f) * z - 0.0267585646f) * z + 0.112816177f)
      * z - 0.376124799f) * z + 0.128379151f;
  const float near = series * x + x;
  const float m = magnitude > 4.0f ? 4.0f : magnitude;
  const float q = (((((-0.000194019813f * m + 0.00302431965f) * m - 0.022151215f) * m + 0.103773735f) * m
      + 0.637363076f) * m + 1.12756765f) * m + 0.000221958238f;
  const float far = 1.0f - tw_small_exp(-q);
  return magnitude >= 0.9375f ? copysign@f(far, x) : near;
}
)";

constexpr std::string_view kLog = R"(@function float tw_log_float32(float x) {
  const float scaled = x < 0x1p-126f ? x * 0x1p23f : x;
  @uint32 bits;
  @bits(bits, scaled);
  // the exponent of t in sqrt(1/2) <= t < sqrt(2), beside which x = 2^exponent * t
  const @int32 shifted = (@int32)(bits - 0x3f3504f3U);
  const @int32 exponent = (@int32)(((@uint32)shifted + 0x80000000U) >> 23) - 256;
  const @uint32 rest = bits - ((@uint32)exponent << 23);
  float t;
  @float(t, rest);
  const float e = (float)(exponent - (x < 0x1p-126f ? 23 : 0)), f = t - 1.0f, s = f / (f + 2.0f), z = s * s;
  const float series = z * (((0.222222222f * z + 0.285714286f) * z + 0.4f) * z + 0.666666667f);
  const float of_t = f - s * (f - series);
  const float value = (e * -2.12194440e-4f + of_t) + e * 0.693359375f;
  const float finite = x == INFINITY ? x : value;
  const float positive = x == 0.0f ? -INFINITY : finite;
  return x >= 0.0f ? positive : NAN;
}
)";

struct Row {
  std::string_view name, text, needs;
};
constexpr Row kRows[] = {
    {"small_exp", kExpSmall, ""}, {"exp", kExp, ""},          {"sigmoid", kSigmoid, "exp"},
    {"tanh", kTanh, "small_exp"}, {"erf", kErf, "small_exp"}, {"log", kLog, ""},
};

const Row* find_row(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::string polynomial_text(std::string_view name, const Spelling& spelling) {
  const Row* row = find_row(name);
  return row ? spelled(row->text, spelling) : "";
}

std::string_view polynomial_needs(std::string_view name) {
  const Row* row = find_row(name);
  return row ? row->needs : "";
}

}  // namespace tilewright::codegen
