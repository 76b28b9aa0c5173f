#include "tilewright/te/topi/split_floats.h"

#include <limits>

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/matmul.h"

namespace tilewright::topi {
using namespace tir;
namespace {

int64_t count_of(const PrimExpr& num_parts) {
  int64_t count = 0;
  TILEWRIGHT_CHECK(as_const_int(num_parts, &count), "the number of parts is not known");
  return count;
}

// The expression values[n] for the index n = `var`.
PrimExpr chosen_by(const Var& var, const std::vector<PrimExpr>& values) {
  PrimExpr chosen = values.back();
  for (size_t n = values.size() - 1; n-- > 0;)
    chosen = select(equal(var, make_const_int(var->dtype, static_cast<int64_t>(n))), values[n], chosen);
  return chosen;
}

// An axis over the pairs of parts whose products are added.  Successive pairs share a part where they can, so
// that code that keeps parts in registers loads few.
class Pairs {
 public:
  Pairs(const PrimExpr& num_parts, int64_t order) {
    const int64_t count = count_of(num_parts);
    for (int64_t a = count - 1; a >= 0; --a) {
      const int64_t last = std::min(order - a, count - 1);
      const bool is_rising = second_.empty() || second_.back() == 0;
      for (int64_t n = 0; n <= last; ++n) first_.push_back(a), second_.push_back(is_rising ? n : last - n);
    }
    axis_ = te::reduce_axis(make_const_int(num_parts->dtype, static_cast<int64_t>(first_.size())), "pair");
  }

  const IterVar& axis() const { return axis_; }
  PrimExpr first() const { return chosen(first_); }
  PrimExpr second() const { return chosen(second_); }

 private:
  PrimExpr chosen(const std::vector<int64_t>& parts) const {
    std::vector<PrimExpr> numbers;
    for (const int64_t part : parts) numbers.push_back(make_const_int(axis_->var->dtype, part));
    return chosen_by(axis_->var, numbers);
  }

  std::vector<int64_t> first_, second_;
  IterVar axis_;
};

// `x` with values below 2^-126 replaced by a 0 of the same sign, as bfloat16 instructions treat them.
PrimExpr flushed(const PrimExpr& x) {
  if (x->dtype != kFloat32) return x;
  const PrimExpr least = make_const(kFloat32, std::numeric_limits<float>::min());
  return select(call(kFloat32, "abs", {x}) < least, x * make_const(kFloat32, 0), x);
}

// [parts, ..]: each part is the remainder of `x` after the parts before it, rounded to fewer bits.
Tensor split(const Tensor& x, const PrimExpr& num_parts, DataType dtype) {
  const int64_t count = count_of(num_parts);
  Shape shape{num_parts};
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  const auto element = [&](const std::vector<Var>& i) {
    PrimExpr rest = x.at({i.begin() + 1, i.end()});
    std::vector<PrimExpr> parts;
    for (int64_t n = 0; n < count; ++n) {
      parts.push_back(tir::cast(dtype, flushed(rest)));
      rest = rest - tir::cast(x.dtype(), parts.back());
    }
    return chosen_by(i[0], parts);
  };
  return te::compute(shape, element, {.name = "parts"});
}

}  // namespace

Tensor matmul_of_parts(const Tensor& x, const Tensor& w, int64_t order, DataType out_dtype) {
  const Pairs pairs(w.shape()[0], order);
  const size_t x_batch = x.ndim() - 2, w_batch = w.ndim() - 3;
  const PrimExpr terms = w.shape()[w_batch + 1];
  Shape shape = broadcast_shape({x.shape().begin(), x.shape().begin() + static_cast<long>(x_batch)},
                                {w.shape().begin() + 1, w.shape().begin() + 1 + static_cast<long>(w_batch)});
  const Shape batch = shape;
  const size_t num_batch = batch.size();
  shape.push_back(x.shape()[x_batch]);
  shape.push_back(w.shape().back());
  const IterVar k = te::reduce_axis(terms, "k");
  const Tensor parts = split(x, w.shape()[0], w.dtype());
  const auto element = [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> left = batch_indices(x, 0, x_batch, i, batch),
                          right = batch_indices(w, 1, w_batch, i, batch);
    left.insert(left.begin(), pairs.first());
    right.insert(right.begin(), pairs.second());
    left.push_back(i[num_batch]);
    left.push_back(k->var);
    right.push_back(k->var);
    right.push_back(i.back());
    return te::sum(tir::cast(out_dtype, parts.at(left)) * tir::cast(out_dtype, w.at(right)),
                   {pairs.axis(), k});
  };
  return te::compute(shape, element, {.name = "matmul"});
}

Tensor conv_of_parts(const Tensor& data, const Tensor& weight, int64_t order, const ConvOptions& options) {
  const Pairs pairs(weight.shape()[0], order);
  const size_t num_spatial = data.ndim() - 2;
  const PrimExpr channels = data.shape().back();
  std::vector<int64_t> before(data.ndim()), after(data.ndim());
  bool is_padded = false;
  Shape shape{data.shape()[0]};
  std::vector<IterVar> reduced{pairs.axis()};
  for (size_t n = 0; n < num_spatial; ++n) {
    before[n + 1] = options.padding[n], after[n + 1] = options.padding[num_spatial + n];
    is_padded |= before[n + 1] != 0 || after[n + 1] != 0;
    const PrimExpr window = weight.shape()[n + 1];
    shape.push_back(conv_extent(data.shape()[n + 1], window, options.strides[n], before[n + 1] + after[n + 1],
                                options.dilation[n]));
    reduced.push_back(te::reduce_axis(window, fmt::format("r{}", n)));
  }
  shape.push_back(weight.shape().back());
  const IterVar channel = te::reduce_axis(channels, "rc");
  reduced.push_back(channel);
  const Tensor padded = is_padded ? pad(data, before, after, make_const(data.dtype(), 0), "pad_temp") : data;
  const Tensor parts = split(padded, weight.shape()[0], weight.dtype());
  const auto element = [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> at_data{pairs.first(), i[0]}, at_weight{pairs.second()};
    for (size_t n = 0; n < num_spatial; ++n) {
      const Var& place = reduced[n + 1]->var;
      at_data.push_back(PrimExpr(i[n + 1]) * options.strides[n] + PrimExpr(place) * options.dilation[n]);
      at_weight.push_back(place);
    }
    at_data.push_back(channel->var);
    at_weight.push_back(channel->var);
    at_weight.push_back(i.back());
    const DataType dtype = options.out_dtype;
    return te::sum(tir::cast(dtype, parts.at(at_data)) * tir::cast(dtype, weight.at(at_weight)), reduced);
  };
  return te::compute(shape, element, {.name = fmt::format("conv{}d_of_parts", num_spatial)});
}

}  // namespace tilewright::topi
