#include "tilewright/te/topi/pool.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/topi/reduce.h"

namespace tilewright::topi {
using namespace tir;
namespace {

// A position in a window: its element, and the number of elements of the window that count.
struct Window {
  std::vector<PrimExpr> indices;
  PrimExpr inside;  // the element at `indices` is in data
  PrimExpr count;   // elements of the window in data (or in the padded data)
};

class Pooling {
 public:
  Pooling(const Tensor& data, const PoolOptions& options)
      : data_(data), options_(options), spatial_(spatial_dims(options.layout)) {
    shape_ = data.shape();
    for (size_t n = 0; n < spatial_.size(); ++n) {
      shape_[spatial_[n]] =
          pool_extent(data.shape()[spatial_[n]], options.pool_size[n], options.strides[n], options.padding[n],
                      options.padding[spatial_.size() + n], options.dilation[n], options.ceil_mode);
      reduced_.push_back(te::reduce_axis(
          make_const_int(data.shape()[spatial_[n]]->dtype, options.pool_size[n]), fmt::format("rv{}", n)));
    }
  }
  const Shape& shape() const { return shape_; }
  const std::vector<IterVar>& reduced() const { return reduced_; }

  Window window(const std::vector<Var>& i) const {
    std::vector<PrimExpr> offsets;
    for (const IterVar& axis : reduced_) offsets.push_back(axis->var);
    return window({i.begin(), i.end()}, offsets);
  }
  // The position `offsets` of the window of result `i`.
  Window window(const std::vector<PrimExpr>& i, const std::vector<PrimExpr>& offsets) const {
    Window result{i, bool_imm(true), imm(1, kInt64)};
    for (size_t n = 0; n < spatial_.size(); ++n) {
      const size_t dim = spatial_[n];
      const PrimExpr& extent = data_.shape()[dim];
      const PrimExpr start = i[dim] * options_.strides[n] - options_.padding[n];
      const PrimExpr index = start + offsets[n] * options_.dilation[n];
      const PrimExpr zero = make_const_int(index->dtype, 0);
      result.indices[dim] = index;
      if (options_.padding[n] > 0) result.inside = tir::logical_and(result.inside, zero <= index);
      if (reaches_beyond(n)) result.inside = tir::logical_and(result.inside, index < extent);
      result.count = result.count * tir::cast(kInt64, count_along(n, start, extent));
    }
    return result;
  }

  /// The sum, over all windows that contain an element of data, of `term(index of the window's result,
  /// offsets of the element in the window)`, in dtype_of_sums.
  using Term = std::function<PrimExpr(const std::vector<PrimExpr>&, const std::vector<PrimExpr>&)>;
  Tensor over_windows(const Term& term, std::string name) const {
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

 private:
  // True if the last window may end after the data.
  bool reaches_beyond(size_t n) const {
    if (options_.padding[spatial_.size() + n] > 0) return true;
    const PrimExpr covered = (shape_[spatial_[n]] - 1) * options_.strides[n] +
                             ((options_.pool_size[n] - 1) * options_.dilation[n] + 1);
    arith::Analyzer analyzer;
    return !analyzer.can_prove(covered <= data_.shape()[spatial_[n]] + options_.padding[n]);
  }
  PrimExpr count_along(size_t n, const PrimExpr& start, const PrimExpr& extent) const {
    const PrimExpr full = make_const_int(start->dtype, options_.pool_size[n]);
    const bool cut_before = options_.padding[n] > 0 && !options_.count_include_pad;
    if (!cut_before && !reaches_beyond(n)) return full;
    // the first position of the window in the data: a dilated window may step over 0
    const PrimExpr first = tir::max(start, floormod(start, options_.dilation[n]));
    const PrimExpr low = options_.count_include_pad ? start : first;
    // count_include_pad counts the padding, but not what ceil_mode adds beyond it
    const PrimExpr limit =
        options_.count_include_pad ? extent + options_.padding[spatial_.size() + n] : extent;
    const PrimExpr high = tir::min(start + options_.pool_size[n] * options_.dilation[n], limit);
    return tir::max(floordiv(high - low + (options_.dilation[n] - 1), options_.dilation[n]),
                    make_const_int(start->dtype, 1));
  }

  const Tensor& data_;
  const PoolOptions& options_;
  std::vector<size_t> spatial_;
  Shape shape_;
  std::vector<IterVar> reduced_;
};

// total / count, rounded to `dtype`
PrimExpr mean_of(const PrimExpr& total, const PrimExpr& count, DataType dtype) {
  return tir::cast(dtype, div(total, tir::cast(total->dtype, count)));
}

PrimExpr guarded(const PrimExpr& inside, const PrimExpr& element, const PrimExpr& otherwise) {
  return is_one(inside) ? element : call(element->dtype, "if_then_else", {inside, element, otherwise});
}

// The term of a sum for `element`: 0 outside of data.
PrimExpr guarded_term(const PrimExpr& inside, const PrimExpr& element) {
  const PrimExpr term = widened(element);
  return guarded(inside, term, make_const_int(term->dtype, 0));
}

}  // namespace

std::vector<size_t> spatial_dims(const std::string& layout) {
  std::vector<size_t> dims;
  for (char letter : {'D', 'H', 'W'}) {
    if (const size_t at = layout.find(letter); at != std::string::npos) dims.push_back(at);
  }
  return dims;
}

PrimExpr pool_extent(const PrimExpr& extent, int64_t pool, int64_t stride, int64_t pad_before,
                     int64_t pad_after, int64_t dilation, bool ceil_mode) {
  const int64_t covered = (pool - 1) * dilation + 1, pad = pad_before + pad_after - covered;
  if (!ceil_mode) return arith::simplify(floordiv(extent + pad, stride) + 1);
  const PrimExpr reaching = floordiv(extent + (pad + stride - 1), stride) + 1;
  const PrimExpr starting = floordiv(extent + (pad_before + stride - 1), stride);
  return arith::simplify(tir::min(reaching, starting));
}

Tensor max_pool(const Tensor& data, const PoolOptions& options) {
  const Pooling pooling(data, options);
  return te::compute(pooling.shape(),
                     [&](const std::vector<Var>& i) {
                       const Window window = pooling.window(i);
                       return te::max(
                           guarded(window.inside, data.at(window.indices), min_value(data.dtype())),
                           pooling.reduced());
                     },
                     {.name = "pool_max"});
}

Tensor avg_pool(const Tensor& data, const PoolOptions& options) {
  const Pooling pooling(data, options);
  const Tensor total =
      te::compute(pooling.shape(),
                  [&](const std::vector<Var>& i) {
                    const Window window = pooling.window(i);
                    return te::sum(guarded_term(window.inside, data.at(window.indices)), pooling.reduced());
                  },
                  {.name = "pool_sum"});
  return te::compute(pooling.shape(),
                     [&](const std::vector<Var>& i) {
                       return mean_of(total.at({i.begin(), i.end()}), pooling.window(i).count, data.dtype());
                     },
                     {.name = "pool_avg"});
}

Tensor max_pool_backward(const Tensor& grad, const Tensor& data, const PoolOptions& options) {
  const Pooling pooling(data, options);
  const size_t ndim = data.ndim();
  Shape shape = pooling.shape();
  Axes inside;
  for (const IterVar& axis : pooling.reduced()) {
    inside.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(axis->dom->extent);
  }
  const Tensor windows =
      te::compute(shape,
                  [&](const std::vector<Var>& i) {
                    const auto middle = i.begin() + static_cast<long>(ndim);
                    const Window window = pooling.window({i.begin(), middle}, {middle, i.end()});
                    return guarded(window.inside, data.at(window.indices), min_value(data.dtype()));
                  },
                  {.name = "pool_windows"});
  const Tensor largest = argmax(windows, inside);
  return pooling.over_windows(
      [&](const std::vector<PrimExpr>& result, const std::vector<PrimExpr>& offsets) {
        PrimExpr place = offsets[0];
        for (size_t n = 1; n < offsets.size(); ++n) place = place * options.pool_size[n] + offsets[n];
        const PrimExpr own = widened(grad.at(result));
        return tir::select(tir::equal(largest.at(result), tir::cast(kInt64, place)), own,
                           make_const_int(own->dtype, 0));
      },
      "max_pool_backward");
}

Tensor avg_pool_backward(const Tensor& grad, const Tensor& data, const PoolOptions& options) {
  const Pooling pooling(data, options);
  return pooling.over_windows(
      [&](const std::vector<PrimExpr>& result, const std::vector<PrimExpr>& offsets) {
        const PrimExpr whole = widened(grad.at(result));
        return mean_of(whole, pooling.window(result, offsets).count, whole->dtype);
      },
      "avg_pool_backward");
}

Tensor adaptive_avg_pool(const Tensor& data, const Shape& output_size, const std::string& layout) {
  const std::vector<size_t> spatial = spatial_dims(layout);
  Shape shape = data.shape();
  std::vector<IterVar> reduced;
  for (size_t n = 0; n < spatial.size(); ++n) {
    const PrimExpr& extent = data.shape()[spatial[n]];
    shape[spatial[n]] = output_size[n];
    const bool divides = is_zero(arith::simplify(floormod(extent, output_size[n])));
    const PrimExpr longest = divides ? floordiv(extent, output_size[n]) : ceildiv(extent, output_size[n]) + 1;
    reduced.push_back(te::reduce_axis(arith::simplify(longest), fmt::format("rv{}", n)));
  }
  auto begin = [&](size_t n, const PrimExpr& i) {
    return floordiv(i * data.shape()[spatial[n]], output_size[n]);
  };
  auto end = [&](size_t n, const PrimExpr& i) {
    return ceildiv((i + 1) * data.shape()[spatial[n]], output_size[n]);
  };
  const Tensor total =
      te::compute(shape,
                  [&](const std::vector<Var>& i) {
                    std::vector<PrimExpr> indices(i.begin(), i.end());
                    PrimExpr inside = bool_imm(true);
                    for (size_t n = 0; n < spatial.size(); ++n) {
                      const PrimExpr out = i[spatial[n]];
                      indices[spatial[n]] = arith::simplify(begin(n, out) + PrimExpr(reduced[n]->var));
                      if (!is_zero(arith::simplify(floormod(data.shape()[spatial[n]], output_size[n]))))
                        inside = tir::logical_and(inside, indices[spatial[n]] < end(n, out));
                    }
                    return te::sum(guarded_term(inside, data.at(indices)), reduced);
                  },
                  {.name = "adaptive_pool_sum"});
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       PrimExpr count = imm(1, kInt64);
                       for (size_t n = 0; n < spatial.size(); ++n)
                         count = count * tir::cast(kInt64, end(n, PrimExpr(i[spatial[n]])) -
                                                               begin(n, PrimExpr(i[spatial[n]])));
                       return mean_of(total.at({i.begin(), i.end()}), arith::simplify(count), data.dtype());
                     },
                     {.name = "adaptive_pool_avg"});
}

Tensor adaptive_avg_pool_backward(const Tensor& grad, const Tensor& data, const std::string& layout) {
  const std::vector<size_t> spatial = spatial_dims(layout);
  std::vector<IterVar> reduced;
  for (size_t dim : spatial) reduced.push_back(te::reduce_axis(grad.shape()[dim], "r"));
  const Tensor sums = te::compute(
      data.shape(),
      [&](const std::vector<Var>& i) {
        std::vector<PrimExpr> result(i.begin(), i.end());
        PrimExpr covers = bool_imm(true), count = imm(1, kInt64);
        for (size_t n = 0; n < spatial.size(); ++n) {
          const PrimExpr part = reduced[n]->var, at = i[spatial[n]];
          const PrimExpr &extent = data.shape()[spatial[n]], &parts = grad.shape()[spatial[n]];
          const PrimExpr begin = floordiv(part * extent, parts), end = ceildiv((part + 1) * extent, parts);
          result[spatial[n]] = part;
          covers = tir::logical_and(covers, tir::logical_and(begin <= at, at < end));
          count = count * tir::cast(kInt64, end - begin);
        }
        const PrimExpr whole = widened(grad.at(result)), share = mean_of(whole, count, whole->dtype);
        return te::sum(tir::select(covers, share, make_const_int(share->dtype, 0)), reduced);
      },
      {.name = "adaptive_avg_pool_backward"});
  return rounded_to(sums, data.dtype());
}

}  // namespace tilewright::topi
