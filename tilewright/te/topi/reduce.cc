#include "tilewright/te/topi/reduce.h"

#include <algorithm>
#include <cstdint>

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/extern.h"

namespace tilewright::topi {
using namespace tir;
namespace {

bool contains(const Axes& axes, size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
}

// The indices into x for an element of the result: reduction axes where x is reduced.
struct Plan {
  std::vector<IterVar> reduced;
  std::vector<PrimExpr> indices(const Tensor& x, const Axes& axes, bool keepdims,
                                const std::vector<Var>& out) const {
    std::vector<PrimExpr> result;
    size_t next_out = 0, next_reduced = 0;
    for (size_t n = 0; n < x.ndim(); ++n) {
      if (contains(axes, n)) {
        result.push_back(reduced[next_reduced++]->var);
        if (keepdims) ++next_out;
      } else {
        result.push_back(out[next_out++]);
      }
    }
    return result;
  }
};

Plan plan_of(const Tensor& x, const Axes& axes) {
  Plan plan;
  for (size_t n = 0; n < x.ndim(); ++n) {
    if (contains(axes, n))
      plan.reduced.push_back(te::reduce_axis(x.shape()[n], fmt::format("k{}", plan.reduced.size())));
  }
  return plan;
}

using Reducer = PrimExpr (*)(PrimExpr, std::vector<IterVar>, PrimExpr, PrimExpr);
using Value = PrimExpr (*)(const PrimExpr&);
// The reduction of the elements, or of `value` of each of them, by `reducer`.
Tensor reduce_with(const Tensor& x, const Axes& axes, bool keepdims, std::string name, Reducer reducer,
                   Value value = nullptr) {
  const Plan plan = plan_of(x, axes);
  return te::compute(reduced_shape(x.shape(), axes, keepdims),
                     [&](const std::vector<Var>& out) {
                       PrimExpr element = x.at(plan.indices(x, axes, keepdims, out));
                       if (value) element = value(element);
                       return plan.reduced.empty() ? element
                                                   : reducer(element, plan.reduced, nullptr, nullptr);
                     },
                     {.name = std::move(name)});
}

// sums / count, rounded to `dtype`
Tensor divided_by_count(const Tensor& sums, const char* name, const Tensor& x, const Axes& axes,
                        DataType dtype) {
  const PrimExpr count = count_of(x, axes, sums.dtype());
  return elementwise(sums, name, [&](PrimExpr v) { return tir::cast(dtype, div(v, count)); });
}

// The squared distances in dtype_of_sums; `center` was reduced with keepdims.
Tensor squared_distances(const Tensor& x, const Tensor& center, const Axes& axes, bool keepdims) {
  const Tensor squares = te::compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        std::vector<PrimExpr> at_center(i.begin(), i.end());
        for (int64_t axis : axes)
          at_center[static_cast<size_t>(axis)] = make_const_int(i[static_cast<size_t>(axis)]->dtype, 0);
        PrimExpr distance = widened(x.at({i.begin(), i.end()})) - center.at(at_center);
        return distance * distance;
      },
      {.name = "T_squared_distance"});
  return wide_sum(squares, axes, keepdims);
}

// Keeps the left (position, value) unless the right value is better, or equal and at an earlier position.
CommReducer arg_reducer(DataType value_dtype, DataType place, bool largest) {
  PrimExpr worst = largest ? min_value(value_dtype) : max_value(value_dtype);
  return te::comm_reducer(
      [&](const std::vector<Var>& x, const std::vector<Var>& y) {
        PrimExpr left = x[1], right = y[1];
        PrimExpr better = largest ? left > right : left < right;
        PrimExpr same = tir::equal(left, right);
        if (value_dtype.is_float()) {
          PrimExpr left_nan = tir::not_equal(left, left), right_nan = tir::not_equal(right, right);
          better = tir::logical_or(better, tir::logical_and(left_nan, tir::logical_not(right_nan)));
          same = tir::logical_or(same, tir::logical_and(left_nan, right_nan));
        }
        PrimExpr keep = tir::logical_or(better, tir::logical_and(same, PrimExpr(x[0]) < PrimExpr(y[0])));
        return std::vector<PrimExpr>{select(keep, x[0], y[0]), select(keep, left, right)};
      },
      {max_value(place), worst});
}

// True if int32 numbers all that is reduced.
bool count_is_small(const Plan& plan) {
  int64_t count = 1;
  for (const IterVar& axis : plan.reduced) {
    int64_t extent;
    if (!as_const_int(axis->dom->extent, &extent) || extent > INT32_MAX / std::max<int64_t>(count, 1))
      return false;
    count *= extent;
  }
  return count > 0;
}

Tensor arg_reduce(const Tensor& x, const Axes& axes, bool keepdims, DataType dtype, bool largest) {
  const Plan plan = plan_of(x, axes);
  const std::string name = largest ? "T_argmax" : "T_argmin";
  if (plan.reduced.empty())
    return te::compute(reduced_shape(x.shape(), axes, keepdims),
                       [&](const std::vector<Var>&) { return make_const_int(dtype, 0); }, {.name = name});
  // vectors hold twice as many places of int32
  const DataType place = count_is_small(plan) ? kInt32 : kInt64;
  PrimExpr position = imm(0, place);
  for (const IterVar& axis : plan.reduced)
    position = position * tir::cast(place, axis->dom->extent) + tir::cast(place, axis->var);
  const CommReducer reducer = arg_reducer(x.dtype(), place, largest);
  std::vector<Tensor> results = te::compute_many(
      reduced_shape(x.shape(), axes, keepdims),
      [&](const std::vector<Var>& out) {
        return te::reduce(reducer, {position, x.at(plan.indices(x, axes, keepdims, out))}, plan.reduced);
      },
      {.name = name});
  return dtype == place ? results[0] : cast(results[0], dtype);
}

}  // namespace

Axes all_axes(size_t ndim) {
  Axes axes;
  for (size_t n = 0; n < ndim; ++n) axes.push_back(static_cast<int64_t>(n));
  return axes;
}

Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdims) {
  Shape result;
  for (size_t n = 0; n < shape.size(); ++n) {
    if (!contains(axes, n))
      result.push_back(shape[n]);
    else if (keepdims)
      result.push_back(make_const_int(shape[n]->dtype, 1));
  }
  return result;
}

PrimExpr count_of(const Tensor& x, const Axes& axes, DataType dtype) {
  PrimExpr count = imm(1, kInt64);
  for (int64_t axis : axes) count = count * tir::cast(kInt64, x.shape()[static_cast<size_t>(axis)]);
  return tir::cast(dtype, count);
}

Tensor wide_sum(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce_with(x, axes, keepdims, "T_sum", te::sum, widened);
}
Tensor sum(const Tensor& x, const Axes& axes, bool keepdims) {
  return rounded_to(wide_sum(x, axes, keepdims), x.dtype());
}
Tensor prod(const Tensor& x, const Axes& axes, bool keepdims) {
  return rounded_to(reduce_with(x, axes, keepdims, "T_prod", te::prod, widened), x.dtype());
}
Tensor max(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce_with(x, axes, keepdims, "T_max", te::max);
}
Tensor min(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce_with(x, axes, keepdims, "T_min", te::min);
}
Tensor any(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce_with(x, axes, keepdims, "T_any", te::any);
}
Tensor all(const Tensor& x, const Axes& axes, bool keepdims) {
  return reduce_with(x, axes, keepdims, "T_all", te::all);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keepdims) {
  return divided_by_count(wide_sum(x, axes, keepdims), "T_mean", x, axes, x.dtype());
}

Tensor mean_of_squares(const Tensor& x, const Axes& axes, bool keepdims) {
  const Tensor squares = elementwise(x, "T_square", [](PrimExpr v) { return widened(v) * widened(v); });
  return divided_by_count(wide_sum(squares, axes, keepdims), "T_mean", x, axes, squares.dtype());
}

Moments moments(const Tensor& x, const Axes& axes, bool keepdims) {
  const DataType dtype = dtype_of_sums(x.dtype());
  const Tensor center = divided_by_count(wide_sum(x, axes, true), "T_mean", x, axes, dtype);
  const Tensor variance =
      divided_by_count(squared_distances(x, center, axes, keepdims), "T_variance", x, axes, dtype);
  return {keepdims ? center : divided_by_count(wide_sum(x, axes), "T_mean", x, axes, dtype), variance};
}

Tensor variance(const Tensor& x, const Axes& axes, bool keepdims) {
  return rounded_to(moments(x, axes, keepdims).variance, x.dtype());
}

Tensor standard_deviation(const Tensor& x, const Axes& axes, bool keepdims) {
  return rounded_to(math(moments(x, axes, keepdims).variance, "sqrt"), x.dtype());
}

Tensor argmax(const Tensor& x, const Axes& axes, bool keepdims, DataType dtype) {
  return arg_reduce(x, axes, keepdims, dtype, true);
}
Tensor argmin(const Tensor& x, const Axes& axes, bool keepdims, DataType dtype) {
  return arg_reduce(x, axes, keepdims, dtype, false);
}

namespace {
// Loops over `extents` around `body(loop variables)`.
Stmt nest(const Shape& extents, const std::function<Stmt(const std::vector<PrimExpr>&)>& body) {
  std::vector<Var> vars;
  for (const PrimExpr& extent : extents)
    vars.push_back(make_var(fmt::format("i{}", vars.size()), extent->dtype));
  Stmt result = body({vars.begin(), vars.end()});
  for (size_t n = extents.size(); n-- > 0;)
    result = ForNode::make(make_const_int(extents[n]->dtype, 0), extents[n], vars[n], ForKind::kSerial,
                           std::string(), AttrMap{}, result);
  return result;
}

// The running sum or product along `axis`.  `total`, in dtype_of_sums, holds the running values for all
// indices of the axes after it.
Tensor cumulate(const Tensor& x, int64_t axis, bool exclusive, bool reverse, const char* name,
                PrimExpr (*combine)(PrimExpr, PrimExpr), double identity) {
  const Shape shape = x.shape();
  const auto dim = static_cast<std::ptrdiff_t>(axis);
  const Shape outer(shape.begin(), shape.begin() + dim), steps(1, shape[dim]),
      inner(shape.begin() + dim + 1, shape.end());
  const Buffer in = make_buffer("x", shape, x.dtype()), out = make_buffer(name, shape, x.dtype()),
               total = make_buffer("total", inner, dtype_of_sums(x.dtype()));
  using Indices = std::vector<PrimExpr>;
  const Stmt body = nest(outer, [&](const Indices& begin) {
    const Stmt init = nest(
        inner, [&](const Indices& end) { return store(total, make_const(total->dtype, identity), end); });
    const Stmt add = nest(steps, [&](const Indices& step) {
      return nest(inner, [&](const Indices& end) {
        Indices place = begin;
        place.push_back(reverse ? steps[0] - 1 - step[0] : step[0]);
        place.insert(place.end(), end.begin(), end.end());
        const Stmt put = store(out, tir::cast(x.dtype(), load(total, end)), place),
                   next = store(total, combine(load(total, end), widened(load(in, place))), end);
        return exclusive ? seq({put, next}) : seq({next, put});
      });
    });
    return seq({init, add});
  });
  const Block root =
      BlockNode::make("root", std::vector<IterVar>{}, std::vector<Buffer>{total}, std::vector<BufferRegion>{},
                      std::vector<BufferRegion>{}, std::vector<MatchBufferRegion>{}, AttrMap{}, Stmt(), body);
  const Stmt whole = BlockRealizeNode::make(std::vector<PrimExpr>{}, PrimExpr(bool_imm(true)), root);
  return te::external(name, {{x}, {in}, {out}, whole})[0];
}
}  // namespace

Tensor cumsum(const Tensor& x, int64_t axis, bool exclusive, bool reverse) {
  return cumulate(x, axis, exclusive, reverse, "T_cumsum", tir::operator+, 0);
}
Tensor cumprod(const Tensor& x, int64_t axis, bool exclusive, bool reverse) {
  return cumulate(x, axis, exclusive, reverse, "T_cumprod", tir::operator*, 1);
}

namespace {
// The number of elements of a dimension of extent `from` that are summed to one of a dimension of extent
// `to`; null if each is summed alone.
PrimExpr collapsed_extent(const PrimExpr& from, const PrimExpr& to) {
  if (is_one(from)) return nullptr;
  if (is_one(to)) return from;
  const bool is_same = is<IntImmNode>(to) || is_zero(arith::simplify(from - to));
  return is_same ? PrimExpr()
                 : select(tir::equal(to, make_const_int(to->dtype, 1)), from, imm(1, from->dtype));
}
}  // namespace

Tensor collapse_sum(const Tensor& x, const Shape& shape) {
  const size_t skipped = x.ndim() - shape.size();
  std::vector<IterVar> reduced, of_dim(x.ndim());
  for (size_t n = 0; n < x.ndim(); ++n) {
    const PrimExpr extent = n < skipped ? x.shape()[n] : collapsed_extent(x.shape()[n], shape[n - skipped]);
    if (!extent) continue;
    of_dim[n] = te::reduce_axis(extent, fmt::format("k{}", reduced.size()));
    reduced.push_back(of_dim[n]);
  }
  const auto element = [&](const std::vector<Var>& out) {
    std::vector<PrimExpr> indices;
    for (size_t n = 0; n < x.ndim(); ++n) {
      const bool is_whole = n < skipped || is_one(shape[n - skipped]);
      if (!of_dim[n])
        indices.push_back(out[n - skipped]);
      else
        indices.push_back(is_whole ? PrimExpr(of_dim[n]->var) : out[n - skipped] + of_dim[n]->var);
    }
    return reduced.empty() ? x.at(indices) : te::sum(widened(x.at(indices)), reduced);
  };
  return rounded_to(te::compute(shape, element, {.name = "T_collapse_sum"}), x.dtype());
}

}  // namespace tilewright::topi
