#include "tilewright/te/topi/pool_windows.h"

#include "tilewright/arith/analyzer.h"

namespace tilewright::topi {
using namespace tir;

Pooling::Pooling(const Tensor& data, const PoolOptions& options)
    : data_(data), options_(options), spatial_(spatial_dims(options.layout)) {
  shape_ = data.shape();
  for (size_t n = 0; n < spatial_.size(); ++n) {
    shape_[spatial_[n]] =
        pool_extent(data.shape()[spatial_[n]], options.pool_size[n], options.strides[n], options.padding[n],
                    options.padding[spatial_.size() + n], options.dilation[n], options.ceil_mode);
    reduced_.push_back(te::reduce_axis(make_const_int(data.shape()[spatial_[n]]->dtype, options.pool_size[n]),
                                       fmt::format("rv{}", n)));
  }
}

Window Pooling::window(const std::vector<Var>& i) const {
  std::vector<PrimExpr> offsets;
  for (const IterVar& axis : reduced_) offsets.push_back(axis->var);
  return window({i.begin(), i.end()}, offsets);
}

Window Pooling::window(const std::vector<PrimExpr>& i, const std::vector<PrimExpr>& offsets) const {
  Window result{i, bool_imm(true), imm(1, kInt64)};
  for (size_t n = 0; n < spatial_.size(); ++n) {
    const size_t dim = spatial_[n];
    const PrimExpr begin = start(n, i[dim]);
    const PrimExpr index = begin + offsets[n] * options_.dilation[n];
    result.indices[dim] = index;
    result.inside = tir::logical_and(result.inside, inside(n, index));
    result.count = result.count * tir::cast(kInt64, count_along(n, begin, data_.shape()[dim]));
  }
  return result;
}

PrimExpr Pooling::start(size_t n, const PrimExpr& i) const {
  return i * options_.strides[n] - options_.padding[n];
}

PrimExpr Pooling::inside(size_t n, const PrimExpr& index) const {
  PrimExpr result = bool_imm(true);
  if (options_.padding[n] > 0) result = make_const_int(index->dtype, 0) <= index;
  if (reaches_beyond(n)) result = tir::logical_and(result, index < data_.shape()[spatial_[n]]);
  return result;
}

Tensor Pooling::over_windows(const Term& term, std::string name) const {
  auto body = [&](const std::vector<Var>& i) {
    std::vector<PrimExpr> result(i.begin(), i.end()), offsets;
    PrimExpr hit = bool_imm(true);
    for (size_t n = 0; n < spatial_.size(); ++n) {
      const size_t dim = spatial_[n];
      offsets.push_back(reduced_[n]->var);
      const PrimExpr shifted = result[dim] + options_.padding[n] - offsets[n] * options_.dilation[n];
      const PrimExpr zero = make_const_int(shifted->dtype, 0);
      result[dim] = floordiv(shifted, options_.strides[n]);
      if (options_.strides[n] > 1)
        hit = tir::logical_and(hit, tir::equal(floormod(shifted, options_.strides[n]), zero));
      hit = tir::logical_and(hit, tir::logical_and(zero <= shifted, result[dim] < shape_[dim]));
    }
    const DataType dtype = dtype_of_sums(data_.dtype());
    return te::sum(call(dtype, "if_then_else", {hit, term(result, offsets), make_const_int(dtype, 0)}),
                   reduced_);
  };
  return rounded_to(te::compute(data_.shape(), body, {.name = std::move(name)}), data_.dtype());
}

// True if the last window may end after the data.
bool Pooling::reaches_beyond(size_t n) const {
  if (options_.padding[spatial_.size() + n] > 0) return true;
  const PrimExpr covered = (shape_[spatial_[n]] - 1) * options_.strides[n] +
                           ((options_.pool_size[n] - 1) * options_.dilation[n] + 1);
  arith::Analyzer analyzer;
  return !analyzer.can_prove(covered <= data_.shape()[spatial_[n]] + options_.padding[n]);
}

PrimExpr Pooling::count_along(size_t n, const PrimExpr& start, const PrimExpr& extent) const {
  const PrimExpr full = make_const_int(start->dtype, options_.pool_size[n]);
  const bool cut_before = options_.padding[n] > 0 && !options_.count_include_pad;
  if (!cut_before && !reaches_beyond(n)) return full;
  // the first position of the window in the data: a dilated window may step over 0
  const PrimExpr first = tir::max(start, floormod(start, options_.dilation[n]));
  const PrimExpr low = options_.count_include_pad ? start : first;
  // count_include_pad counts the padding, but not what ceil_mode adds beyond it
  const PrimExpr limit = options_.count_include_pad ? extent + options_.padding[spatial_.size() + n] : extent;
  const PrimExpr high = tir::min(start + options_.pool_size[n] * options_.dilation[n], limit);
  return tir::max(floordiv(high - low + (options_.dilation[n] - 1), options_.dilation[n]),
                  make_const_int(start->dtype, 1));
}

PrimExpr guarded(const PrimExpr& inside, const PrimExpr& element, const PrimExpr& otherwise) {
  return is_one(inside) ? element : call(element->dtype, "if_then_else", {inside, element, otherwise});
}

PrimExpr guarded_term(const PrimExpr& inside, const PrimExpr& element) {
  const PrimExpr term = widened(element);
  return guarded(inside, term, make_const_int(term->dtype, 0));
}

PrimExpr guarded_candidate(const PrimExpr& inside, const PrimExpr& element) {
  return guarded(inside, widened(element), widened(min_value(element->dtype)));
}

}  // namespace tilewright::topi
