#include "tilewright/te/topi/pool_indices.h"

#include <limits>

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/extern.h"
#include "tilewright/te/topi/pool_windows.h"

namespace tilewright::topi {
using namespace tir;
namespace {

constexpr int64_t kNowhere = std::numeric_limits<int32_t>::max();

// Index n of the element of data at `offset` of the window of result `i`.
PrimExpr index_of(const Windows& windows, size_t n, const PrimExpr& i, const PrimExpr& offset) {
  return arith::simplify(i * windows.strides[n] - windows.before[n] + offset * windows.dilations[n]);
}

struct Candidate {
  std::vector<PrimExpr> indices;
  PrimExpr inside;
};

// The element of data at the position of `reduced` in the window of result `i`.
Candidate candidate(const Tensor& data, const Windows& windows, const std::vector<Var>& i,
                    const std::vector<IterVar>& reduced) {
  Candidate result{{i[0], i[1]}, bool_imm(true)};
  arith::Analyzer facts;
  for (const Var& var : i) facts.require(imm(0, kInt64) <= var);
  for (size_t n = 0; n < reduced.size(); ++n) {
    const PrimExpr index = index_of(windows, n, i[n + 2], reduced[n]->var), zero = imm(0, kInt64);
    result.indices.push_back(index);
    if (!is_zero(windows.before[n])) result.inside = tir::logical_and(result.inside, zero <= index);
    const PrimExpr reach = (windows.extents[n] - 1) * windows.strides[n] - windows.before[n] +
                           (windows.kernel[n] - 1) * windows.dilations[n];
    if (!facts.can_prove(reach < data.shape()[n + 2]))
      result.inside = tir::logical_and(result.inside, index < data.shape()[n + 2]);
  }
  return result;
}

Shape result_shape(const Tensor& data, const Windows& windows) {
  Shape shape{data.shape()[0], data.shape()[1]};
  shape.insert(shape.end(), windows.extents.begin(), windows.extents.end());
  return shape;
}

std::vector<IterVar> window_axes(const Windows& windows) {
  std::vector<IterVar> axes;
  for (int64_t extent : windows.kernel)
    axes.push_back(te::reduce_axis(imm(extent, kInt64), fmt::format("rv{}", axes.size())));
  return axes;
}

// Keeps the left (position, value) unless the right value is larger, or equal and at an earlier position.
CommReducer first_largest(DataType dtype) {
  return te::comm_reducer(
      [&](const std::vector<Var>& x, const std::vector<Var>& y) {
        const PrimExpr left = x[1], right = y[1];
        const PrimExpr is_earlier =
                           tir::logical_and(tir::equal(left, right), PrimExpr(y[0]) < PrimExpr(x[0])),
                       is_better = tir::logical_or(right > left, is_earlier);
        return std::vector<PrimExpr>{select(is_better, y[0], x[0]), select(is_better, right, left)};
      },
      {imm(kNowhere, kInt32), min_value(dtype)});
}

// The place in data of position `best` of the window of result `i`.
PrimExpr place_of(const Tensor& data, const Windows& windows, const std::vector<Var>& i, const PrimExpr& best,
                  bool is_column_major) {
  const size_t count = windows.kernel.size();
  int64_t size = 1;
  for (int64_t extent : windows.kernel) size *= extent;
  PrimExpr rest = tir::min(tir::cast(kInt64, best), imm(size - 1, kInt64));
  std::vector<PrimExpr> at(count);
  for (size_t n = count; n-- > 0;) {
    const PrimExpr extent = imm(windows.kernel[n], kInt64), offset = floormod(rest, extent);
    rest = floordiv(rest, extent);
    at[n] =
        tir::max(tir::min(index_of(windows, n, i[n + 2], offset), data.shape()[n + 2] - 1), imm(0, kInt64));
  }
  PrimExpr plane = imm(0, kInt64), size_of_plane = imm(1, kInt64);
  for (size_t k = 0; k < count; ++k) {
    const size_t n = is_column_major ? count - 1 - k : k;
    plane = plane * data.shape()[n + 2] + at[n];
    size_of_plane = size_of_plane * data.shape()[n + 2];
  }
  return (PrimExpr(i[0]) * data.shape()[1] + i[1]) * size_of_plane + plane;
}

}  // namespace

std::vector<Tensor> max_pool_with_indices(const Tensor& data, const Windows& windows, bool is_column_major) {
  const Shape shape = result_shape(data, windows);
  const std::vector<IterVar> reduced = window_axes(windows);
  const CommReducer reducer = first_largest(dtype_of_sums(data.dtype()));
  const std::vector<Tensor> best = te::compute_many(
      shape,
      [&](const std::vector<Var>& i) {
        const Candidate element = candidate(data, windows, i, reduced);
        PrimExpr position = imm(0, kInt32);
        for (size_t n = 0; n < reduced.size(); ++n)
          position = position * imm(windows.kernel[n], kInt32) + tir::cast(kInt32, reduced[n]->var);
        return te::reduce(reducer,
                          {guarded(element.inside, position, imm(kNowhere, kInt32)),
                           guarded_candidate(element.inside, data.at(element.indices))},
                          reduced);
      },
      {.name = "pool_first_max"});
  const Tensor places =
      te::compute(shape,
                  [&](const std::vector<Var>& i) {
                    return place_of(data, windows, i, best[0].at({i.begin(), i.end()}), is_column_major);
                  },
                  {.name = "pool_places"});
  return {rounded_to(best[1], data.dtype()), places};
}

Tensor window_sums(const Tensor& data, const Windows& windows) {
  const std::vector<IterVar> reduced = window_axes(windows);
  return te::compute(result_shape(data, windows),
                     [&](const std::vector<Var>& i) {
                       const Candidate element = candidate(data, windows, i, reduced);
                       return te::sum(guarded_term(element.inside, data.at(element.indices)), reduced);
                     },
                     {.name = "pool_sum"});
}

Tensor spread(const Tensor& values, const Tensor& places, const PrimExpr& size) {
  constexpr int64_t kTask = 1 << 14;  // elements that one task sets to zero
  const auto number = [&](int64_t value) { return make_const_int(size->dtype, value); };
  const Buffer from = make_buffer("values", values.shape(), values.dtype()),
               at = make_buffer("places", places.shape(), places.dtype()),
               to = make_buffer("T_spread", {size}, values.dtype());
  const PrimExpr num_tasks = floordiv(size + (kTask - 1), number(kTask));
  const Var task = make_var("task", size->dtype), i = make_var("i", size->dtype),
            n = make_var("n", values.shape()[0]->dtype);
  const PrimExpr first = PrimExpr(task) * kTask;
  const Stmt zeros =
      loop(i, tir::min(size - first, number(kTask)), store(to, make_const_int(to->dtype, 0), {first + i}));
  const PrimExpr given = tir::cast(size->dtype, load(at, {n}));
  // one after the other: of several values with one place the last counts
  const Stmt values_of = store(to, load(from, {n}), {select(given < number(0), given + size, given)});
  const Stmt body =
      seq({loop(task, num_tasks, zeros, ForKind::kParallel), loop(n, values.shape()[0], values_of)});
  return te::external("T_spread", {{values, places}, {from, at}, {to}, body})[0];
}

}  // namespace tilewright::topi
