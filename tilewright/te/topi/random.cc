#include "tilewright/te/topi/random.h"

#include <cmath>
#include <numbers>

#include "tilewright/te/topi/reduce.h"
#include "tilewright/te/topi/softmax.h"

namespace tilewright::topi {
using namespace tir;
namespace {

constexpr DataType kWord = DataType::uint(32), kTwoWords = DataType::uint(64),
                   kFloat64 = DataType::float_(64);

PrimExpr word(const PrimExpr& value) { return tir::cast(kWord, value); }
PrimExpr upper(const PrimExpr& two) {
  return word(call(kTwoWords, "shift_right", {two, imm(32, kTwoWords)}));
}
PrimExpr shifted(const PrimExpr& bits, int64_t count) {
  return call(bits->dtype, "shift_right", {bits, imm(count, bits->dtype)});
}
PrimExpr exclusive_or(const PrimExpr& a, const PrimExpr& b) { return call(kWord, "bitwise_xor", {a, b}); }

// 64 random bits.  The products of the rounds are bound to variables, as each is used twice.
class Philox {
 public:
  /// `index`: the number of the element, int64.
  Philox(const Tensor& key, const PrimExpr& index) {
    constexpr int64_t kFactor = 0xD256D193, kStep = 0x9E3779B9;
    PrimExpr first = word(index), second = exclusive_or(word(shifted(index, 32)), key.at({imm(1, kInt64)}));
    for (int64_t round = 0; round < 10; ++round) {
      const PrimExpr own = word(key.at({imm(0, kInt64)})) + imm(round * kStep & 0xFFFFFFFF, kWord);
      const PrimExpr product = bound(tir::cast(kTwoWords, first) * imm(kFactor, kTwoWords));
      first = exclusive_or(exclusive_or(upper(product), own), second);
      second = word(product);
    }
    words_[0] = bound(first);
    words_[1] = second;
  }
  const PrimExpr& bits(size_t n) const { return words_[n]; }
  /// `value`, which uses bits, as an expression of its own.
  PrimExpr around(PrimExpr value) const {
    for (size_t n = bindings_.size(); n-- > 0;)
      value = LetNode::make(bindings_[n].second, bindings_[n].first, value);
    return value;
  }
  /// A number of `dtype` from 0 to below 1, in dtype_of_sums; each has as many bits as the dtype holds.
  PrimExpr uniform(DataType dtype) const {
    if (dtype == kFloat64) {
      const PrimExpr both =
          call(kTwoWords, "shift_left", {tir::cast(kTwoWords, words_[0]), imm(32, kTwoWords)}) +
          tir::cast(kTwoWords, words_[1]);
      return tir::cast(kFloat64, tir::cast(kInt64, shifted(both, 11))) * make_const(kFloat64, 0x1p-53);
    }
    const int bits = dtype == DataType::bfloat16() ? 8 : dtype.bits == 16 ? 11 : 24;
    return tir::cast(kFloat32, tir::cast(kInt32, shifted(words_[0], 32 - bits))) *
           make_const(kFloat32, std::ldexp(1.0, -bits));
  }
  PrimExpr normal(DataType dtype) const {
    // 1 less a number below 1 is above 0, and has a logarithm
    const auto number = [&](double value) { return make_const(dtype, value); };
    const auto part = [&](size_t n) {
      return tir::cast(dtype, tir::cast(kInt32, shifted(words_[n], 8))) * number(0x1p-24);
    };
    const PrimExpr length = call(dtype, "sqrt", {number(-2) * call(dtype, "log", {number(1) - part(0)})});
    return length * call(dtype, "cos", {number(2 * std::numbers::pi) * part(1)});
  }

 private:
  PrimExpr bound(const PrimExpr& value) {
    const Var var = make_var(fmt::format("bits{}", bindings_.size()), value->dtype);
    bindings_.emplace_back(var, value);
    return var;
  }
  std::vector<std::pair<Var, PrimExpr>> bindings_;
  PrimExpr words_[2];
};

PrimExpr index_of(const Shape& shape, const std::vector<Var>& i) {
  PrimExpr index = imm(0, kInt64);
  for (size_t n = 0; n < i.size(); ++n) index = index * tir::cast(kInt64, shape[n]) + tir::cast(kInt64, i[n]);
  return index;
}

}  // namespace

Tensor random_uniform(const Shape& shape, const Tensor& key, double low, double high, DataType dtype) {
  const DataType wide = dtype_of_sums(dtype);
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       const Philox philox(key, index_of(shape, i));
                       const PrimExpr value =
                           philox.uniform(dtype) * make_const(wide, high - low) + make_const(wide, low);
                       return philox.around(tir::cast(dtype, value));
                     },
                     {.name = "T_uniform"});
}

Tensor random_normal(const Shape& shape, const Tensor& key, double mean, double scale, DataType dtype) {
  const DataType wide = dtype_of_sums(dtype);
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       const Philox philox(key, index_of(shape, i));
                       const PrimExpr value =
                           philox.normal(wide) * make_const(wide, scale) + make_const(wide, mean);
                       return philox.around(tir::cast(dtype, value));
                     },
                     {.name = "T_normal"});
}

Tensor bernoulli(const Tensor& chance, const Tensor& key, DataType dtype) {
  const DataType wide = dtype_of_sums(chance.dtype());
  return te::compute(chance.shape(),
                     [&](const std::vector<Var>& i) {
                       const Philox philox(key, index_of(chance.shape(), i));
                       const PrimExpr hit = philox.uniform(wide) < widened(chance.at({i.begin(), i.end()}));
                       return philox.around(tir::cast(dtype, hit));
                     },
                     {.name = "T_bernoulli"});
}

Tensor draw_classes(const Tensor& weights, const Tensor& key, int64_t count, DataType dtype) {
  const DataType wide = dtype_of_sums(weights.dtype());
  const Tensor total = cumsum(softmax(cast(weights, wide), 1), 1);
  const PrimExpr last = weights.shape()[1] - 1;
  const Shape shape{weights.shape()[0], imm(count, kInt64)};
  // from above 0 to the sum of all weights: a class without weight is never drawn
  const Tensor bars = te::compute(
      shape,
      [&](const std::vector<Var>& i) {
        const Philox philox(key, index_of(shape, i));
        return philox.around((make_const(wide, 1) - philox.uniform(wide)) * total.at({i[0], last}));
      },
      {.name = "T_bars"});
  const IterVar k = te::reduce_axis(last, "k");
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       const PrimExpr is_before = total.at({i[0], k->var}) < bars.at({i[0], i[1]});
                       return te::sum(tir::cast(dtype, is_before), {k});
                     },
                     {.name = "T_classes"});
}

std::vector<Tensor> dropout(const Tensor& x, const Tensor& ratio, const Tensor& training, const Tensor& key) {
  const DataType wide = dtype_of_sums(x.dtype());
  const Tensor mask = te::compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const Philox philox(key, index_of(x.shape(), i));
        const PrimExpr is_kept = tir::cast(kFloat32, ratio.at(te::Indices{})) <= philox.uniform(kFloat32);
        return philox.around(tir::logical_or(tir::logical_not(training.at(te::Indices{})), is_kept));
      },
      {.name = "T_mask"});
  const Tensor result = te::compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const PrimExpr one = make_const(wide, 1), kept = one - tir::cast(wide, ratio.at(te::Indices{}));
        const PrimExpr divisor = select(training.at(te::Indices{}), kept, one);
        const PrimExpr value = div(widened(x.at({i.begin(), i.end()})), divisor);
        return tir::cast(x.dtype(), select(mask.at({i.begin(), i.end()}), value, make_const(wide, 0)));
      },
      {.name = "T_dropout"});
  return {result, mask};
}

}  // namespace tilewright::topi
