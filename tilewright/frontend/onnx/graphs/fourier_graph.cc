#include "tilewright/frontend/onnx/graphs/fourier_graph.h"

#include <cmath>
#include <functional>
#include <numbers>

namespace tilewright::frontend::onnx {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// A table of the dtype float32 or float64.
Expr table_of(const std::vector<int64_t>& shape, DataType dtype,
              const std::function<double(int64_t)>& value_at) {
  constexpr double kMostNumbers = 1 << 28;
  double count = 1;
  for (int64_t extent : shape) count *= static_cast<double>(extent);
  if (count > kMostNumbers)
    throw Unsupported("a table of {} numbers is made when a model is imported, supported are at most {}",
                      count, kMostNumbers)
        .help("choose a length with a divisor near its root, e.g. a power of two");
  runtime::Tensor table = runtime::Tensor::empty(runtime::Shape(shape.begin(), shape.end()), dtype);
  const auto fill = [&](auto* data) {
    for (int64_t n = 0; n < table.num_elements(); ++n)
      data[n] = static_cast<std::remove_pointer_t<decltype(data)>>(value_at(n));
  };
  if (dtype == kFloat64)
    fill(table.data_as<double>());
  else
    fill(table.data_as<float>());
  return relax::make_constant(table);
}

// The angle of step `n` of `length` to a turn; exact for large products.
double angle(int64_t n, int64_t length) {
  return kTurn * static_cast<double>(n % length) / static_cast<double>(length);
}

/// The factors of a transform of known lengths: of element (n, part) of the signal in (k, part) of the result.
struct Factors {
  int64_t length, num_given, num_wanted;
  int64_t parts_in, parts_out;
  double sign, norm;
  bool is_real;

  // Each element of half a spectrum but the first, and the last one of an even length, stands for two.
  double weight(int64_t n) const { return is_real && n != 0 && 2 * n != length ? 2 : 1; }
  double at(int64_t place) const {
    const int64_t part_out = place % parts_out, k = place / parts_out % num_wanted,
                  row = place / (parts_out * num_wanted), part_in = row % parts_in, n = row / parts_in;
    const double turn = sign * angle(n * k, length);
    const double value = part_in == part_out ? std::cos(turn)
                         : part_in == 0      ? std::sin(turn)
                                             : -std::sin(turn);
    return value * norm * weight(n);
  }
};

Expr by_table(const NodeMath& math, const Expr& signal, const Factors& factors) {
  const DataType dtype = relax::dtype_of(signal);
  const Expr table = table_of({factors.num_given * factors.parts_in, factors.num_wanted * factors.parts_out},
                              dtype, [&](int64_t place) { return factors.at(place); });
  return math.matmul(signal, table, dtype);
}

// The same with a table that is computed when the graph runs, in float64: the length may be a short one, of which
// what cancels out is to be 0.
Expr by_open_table(const NodeMath& math, const Expr& signal, const FourierTransform& how) {
  const DataType dtype = relax::dtype_of(signal);
  const Expr length = math.extent(how.length), n = math.with_axes(math.counted(how.num_given), {1}),
             k = math.counted(how.num_wanted);
  const Expr steps = math.call("relax.floor_mod", {math.multiply(n, k), length});
  const Expr turn = math.scaled(math.divide(math.cast(steps, dtype), math.cast(length, dtype)),
                                how.is_inverse ? kTurn : -kTurn);
  Expr cosine = math.call("relax.cos", {turn}), sine = math.call("relax.sin", {turn});
  if (how.is_real) {
    const Expr zero = number(0, kInt64), is_first = math.call("relax.equal", {n, zero}),
               is_last = math.call("relax.equal", {math.add(n, n), length}),
               is_single = math.call("relax.logical_or", {is_first, is_last});
    const Expr weight = math.where(is_single, number(1, dtype), number(2, dtype));
    cosine = math.multiply(cosine, weight), sine = math.multiply(sine, weight);
  }
  const Expr negative = math.call("relax.negative", {sine});
  const auto row = [&](const Expr& real, const Expr& imaginary) {
    if (how.is_real) return math.with_axes(real, {2});
    return math.concat({math.with_axes(real, {2}), math.with_axes(imaginary, {2})}, 2);
  };
  Expr table = math.with_axes(row(cosine, sine), {1});
  if (how.is_complex) table = math.concat({table, math.with_axes(row(negative, cosine), {1})}, 1);
  const auto flat = [&](const ir::PrimExpr& count, bool is_pair) {
    return is_pair ? math.importer().facts.simplify(tir::operator*(count, 2)) : count;
  };
  const Expr product = math.matmul(
      signal, math.reshaped(table, {flat(how.num_given, how.is_complex), flat(how.num_wanted, !how.is_real)}),
      dtype);
  return how.is_inverse ? math.divide(product, math.cast(length, dtype)) : product;
}

// The largest divisor of `length` up to its root.
int64_t half_way_divisor(int64_t length) {
  auto divisor = static_cast<int64_t>(std::sqrt(static_cast<double>(length)));
  while (length % divisor != 0) --divisor;
  return divisor;
}

/// A transform of length a * b of signals [m, a * b]: n = b * n1 + n2 and k = k1 + a * k2 give
///   step[k1, n2] = sum over n1 of x[n1, n2] w^(b n1 k1);  y[k1, k2] = sum over n2 of (step * w^(n2 k1)) w^(a n2 k2)
/// with w = exp(-2 pi i / (a * b)).
class TwoSteps {
 public:
  TwoSteps(const NodeMath& math, const Factors& factors, int64_t a)
      : math_(math), all_(factors), a_(a), b_(factors.length / a) {}

  // `signal` [m, length * parts_in] -> [m, num_wanted * 2]
  Expr run(const Expr& signal, const ir::PrimExpr& m) const {
    const DataType dtype = relax::dtype_of(signal);
    const int64_t pair = all_.parts_in;
    const auto fixed = [&](std::vector<int64_t> extents) {
      relax::Shape shape{m};
      for (int64_t each : extents) shape.push_back(relax::extent_imm(each));
      return shape;
    };
    // cosines, then sines, of the first step: [2, a, b * parts]
    const Expr products =
        math_.matmul(first_table(dtype), math_.reshaped(signal, fixed({a_, b_ * pair})), dtype);
    Expr cosines = math_.reshaped(part(products, 1, 0, a_), fixed({a_, 1, b_, pair})),
         sines = math_.reshaped(part(products, 1, a_, 2 * a_), fixed({a_, 1, b_, pair}));
    Expr real = part(cosines, 4, 0, 1), imaginary = part(sines, 4, 0, 1);
    if (pair == 2) {
      real = math_.subtract(real, part(sines, 4, 1, 2));
      imaginary = math_.add(imaginary, part(cosines, 4, 1, 2));
    }
    real = math_.reshaped(real, fixed({a_, 1, b_})),
    imaginary = math_.reshaped(imaginary, fixed({a_, 1, b_}));
    const Expr cosine = twiddles(dtype, [](double turn) { return std::cos(turn); }),
               sine = twiddles(dtype, [](double turn) { return std::sin(turn); });
    const Expr turned =
        math_.concat({math_.subtract(math_.multiply(real, cosine), math_.multiply(imaginary, sine)),
                      math_.add(math_.multiply(real, sine), math_.multiply(imaginary, cosine))},
                     2);
    const int64_t count = std::min(b_, (all_.num_wanted - 1) / a_ + 1);
    const Expr rows =
        math_.matmul(math_.reshaped(turned, fixed({a_, 2 * b_})), second_table(dtype, count), dtype);
    const Expr in_order = math_.permuted(math_.reshaped(rows, fixed({a_, count, 2})), {0, 2, 1, 3});
    return part(math_.reshaped(in_order, fixed({count * a_ * 2})), 1, 0, all_.num_wanted * 2);
  }

 private:
  Expr part(const Expr& x, int64_t axis, int64_t begin, int64_t end) const {
    return math_.sliced(x, axis, relax::extent_imm(begin), relax::extent_imm(end));
  }
  Expr first_table(DataType dtype) const {
    return table_of({2 * a_, a_}, dtype, [&](int64_t place) {
      const int64_t row = place / a_;
      const double turn = all_.sign * angle(row % a_ * (place % a_), a_);
      return all_.norm * (row < a_ ? std::cos(turn) : std::sin(turn));
    });
  }
  Expr twiddles(DataType dtype, const std::function<double(double)>& value) const {
    return table_of({a_, 1, b_}, dtype, [&](int64_t place) {
      return value(all_.sign * angle(place / b_ * (place % b_), all_.length));
    });
  }
  // [2 * b, count * 2]: the real parts of the signal first
  Expr second_table(DataType dtype, int64_t count) const {
    return table_of({2 * b_, 2 * count}, dtype, [&](int64_t place) {
      const int64_t row = place / (2 * count), column = place % (2 * count), part_in = row / b_,
                    part_out = column % 2;
      const double turn = all_.sign * angle(row % b_ * (column / 2), b_);
      return part_in == part_out ? std::cos(turn) : part_in == 0 ? std::sin(turn) : -std::sin(turn);
    });
  }

  const NodeMath& math_;
  const Factors& all_;
  const int64_t a_, b_;
};

// Two steps pay from this length on, if the smaller divisor is not much below the root.
constexpr int64_t kLeastOfTwoSteps = 192, kLeastDivisor = 8;
// Tables of longer ones have more numbers than memory holds.
constexpr int64_t kMostLength = int64_t{1} << 24;
// Short transforms are summed in float64: what cancels out is 0 then, as onnx's cases expect.
constexpr int64_t kMostOfWideSums = 32;

}  // namespace

Expr fourier_transform(const NodeMath& math, const Expr& signal, const FourierTransform& how) {
  const auto length = constant_extent(how.length), num_given = constant_extent(how.num_given),
             num_wanted = constant_extent(how.num_wanted);
  if (!length || !num_given || !num_wanted)
    return math.cast(by_open_table(math, math.cast(signal, kFloat64), how), relax::dtype_of(signal));
  if (*length < 1) throw UserError("the length of the transform is {}, expected at least 1", *length);
  if (*length > kMostLength)
    throw Unsupported("the length of the transform is {}, supported are at most {}", *length, kMostLength);
  const Factors factors{*length,
                        *num_given,
                        *num_wanted,
                        how.is_complex ? 2 : 1,
                        how.is_real ? 1 : 2,
                        how.is_inverse ? 1.0 : -1.0,
                        how.is_inverse ? 1 / static_cast<double>(*length) : 1.0,
                        how.is_real};
  const DataType dtype = relax::dtype_of(signal);
  if (*length <= kMostOfWideSums)
    return math.cast(by_table(math, math.cast(signal, kFloat64), factors), dtype);
  const int64_t divisor = half_way_divisor(*length);
  if (*length < kLeastOfTwoSteps || divisor < kLeastDivisor || how.is_real || *num_given != *length)
    return by_table(math, signal, factors);
  relax::Shape shape = math.shape(signal);
  const ir::PrimExpr m = relax::num_elements({shape.begin(), shape.end() - 1});
  const Expr rows = math.reshaped(signal, {m, shape.back()});
  shape.back() = relax::extent_imm(*num_wanted * 2);
  return math.reshaped(TwoSteps(math, factors, divisor).run(rows, m), shape);
}

}  // namespace tilewright::frontend::onnx
