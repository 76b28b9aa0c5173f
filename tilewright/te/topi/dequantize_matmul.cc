#include "tilewright/te/topi/dequantize_matmul.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {
using namespace tir;
namespace {

/// The axes that a sum runs over: rows of `numbers`, and the numbers packed in an element.
struct Steps {
  IterVar row, part;
  std::vector<IterVar> axes;
};

Steps steps_over(const PrimExpr& num_rows, int64_t per_element) {
  Steps steps{te::reduce_axis(num_rows, "row"), {}, {}};
  steps.axes = {steps.row};
  if (per_element > 1) {
    steps.part = te::reduce_axis(make_const_int(kInt64, per_element), "part");
    steps.axes.push_back(steps.part);
  }
  return steps;
}

// The 4-bit number `part` (of eight) in `word`, from -8 to 7, stored as 0 to 15.  Its bits are placed in the
// fraction of a float where they count ones, then the rest is subtracted.  A fraction has room for five of
// them; the others are shifted down first.
PrimExpr unpacked(const PrimExpr& word, const PrimExpr& part) {
  const auto i32 = [](int64_t value) { return make_const_int(kInt32, value); };
  const PrimExpr index = tir::cast(kInt32, part), down = floordiv(index, i32(5)) * i32(12),
                 at = index * i32(4) - down;
  const PrimExpr digit =
      call(kInt32, "bitwise_and",
           {call(kInt32, "shift_right", {word, down}), call(kInt32, "shift_left", {i32(15), at})});
  const PrimExpr ones = call(kInt32, "shift_left", {i32(150) - at, i32(23)});
  const auto as_float = [](const PrimExpr& bits) { return call(kFloat32, "reinterpret", {bits}); };
  return as_float(call(kInt32, "bitwise_or", {digit, ones})) - (as_float(ones) + make_const(kFloat32, 8));
}

class Product {
 public:
  Product(const Tensor& x, const QuantizedMatrix& matrix)
      : x_(x), matrix_(matrix), per_element_(numbers_per_element(matrix.bits)) {
    num_groups_ = matrix.scale.shape()[0];
    rows_per_group_ = arith::simplify(floordiv(matrix.numbers.shape()[0], num_groups_));
    shape_.assign(x.shape().begin(), x.shape().end() - 1);
    shape_.push_back(matrix.numbers.shape()[1]);
  }

  Tensor run() const { return is_one(num_groups_) ? of_one_group() : of_groups(); }

 private:
  // sums[.., n] = sum over k: x[.., k] * (numbers[k, n] - zero_point[0, n]);  sums * scale[0, n]
  Tensor of_one_group() const {
    const Steps steps = steps_over(rows_per_group_, per_element_);
    const PrimExpr first = make_const_int(kInt64, 0);
    const Tensor sums = te::compute(
        shape_,
        [&](const std::vector<Var>& i) { return te::sum(term(i, i.size() - 1, first, steps), steps.axes); },
        {.name = "matmul"});
    return te::compute(
        shape_,
        [&](const std::vector<Var>& i) { return sums.at({i.begin(), i.end()}) * scale(first, i.back()); },
        {.name = "T_scaled"});
  }

  // parts[.., g, n] = sum over k of group g;  sum over g: parts[.., g, n] * scale[g, n]
  Tensor of_groups() const {
    Shape shape = shape_;
    shape.insert(shape.end() - 1, num_groups_);
    const Steps steps = steps_over(rows_per_group_, per_element_);
    const Tensor parts =
        te::compute(shape,
                    [&](const std::vector<Var>& i) {
                      return te::sum(term(i, i.size() - 2, i[i.size() - 2], steps), steps.axes);
                    },
                    {.name = "group_sums"});
    const IterVar group = te::reduce_axis(num_groups_, "group");
    return te::compute(shape_,
                       [&](const std::vector<Var>& i) {
                         te::Indices at(i.begin(), i.end());
                         at.insert(at.end() - 1, group->var);
                         return te::sum(parts.at(at) * scale(group->var, i.back()), {group});
                       },
                       {.name = "matmul"});
  }

  // x[i[:num_batch], k] * (number [k, n] - zero point), where k is at `steps` of `group`
  PrimExpr term(const std::vector<Var>& i, size_t num_batch, const PrimExpr& group,
                const Steps& steps) const {
    const PrimExpr row =
        is_one(num_groups_) ? PrimExpr(steps.row->var) : group * rows_per_group_ + steps.row->var;
    const PrimExpr k = steps.part ? row * per_element_ + steps.part->var : row;
    te::Indices at(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(num_batch));
    at.push_back(k);
    PrimExpr x = tir::cast(kFloat32, x_.at(at));
    const PrimExpr length = x_.shape().back();
    if (!arith::Analyzer().can_prove_equal(length, matrix_.numbers.shape()[0] * per_element_))
      x = call(kFloat32, "if_then_else", {k < length, x, make_const(kFloat32, 0)});
    PrimExpr number = matrix_.numbers.at({row, i.back()});
    if (steps.part) number = unpacked(number, steps.part->var);
    if (matrix_.zero_point && !steps.part)
      return x * tir::cast(kFloat32, tir::cast(kInt32, number) -
                                         tir::cast(kInt32, matrix_.zero_point.at({group, i.back()})));
    number = tir::cast(kFloat32, number);
    if (matrix_.zero_point) number = number - tir::cast(kFloat32, matrix_.zero_point.at({group, i.back()}));
    return x * number;
  }

  PrimExpr scale(const PrimExpr& group, const Var& column) const {
    return tir::cast(kFloat32, matrix_.scale.at({group, column}));
  }

  const Tensor& x_;
  const QuantizedMatrix& matrix_;
  const int64_t per_element_;
  PrimExpr num_groups_, rows_per_group_;
  Shape shape_;  // of the result
};

}  // namespace

Tensor dequantize_matmul(const Tensor& x, const QuantizedMatrix& matrix, DataType out_dtype) {
  const Tensor result = Product(x, matrix).run();
  return result.dtype() == out_dtype ? result : cast(result, out_dtype);
}

}  // namespace tilewright::topi
