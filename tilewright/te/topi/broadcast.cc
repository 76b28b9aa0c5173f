#include "tilewright/te/topi/broadcast.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/text.h"

namespace tilewright::topi {
using namespace tir;
namespace {

bool same_extent(const PrimExpr& a, const PrimExpr& b) {
  arith::Analyzer analyzer;
  return a == b || analyzer.can_prove_equal(a, b);
}

PrimExpr as_bool(const PrimExpr& v) {
  return v->dtype.is_bool() ? v : tir::not_equal(v, make_const_int(v->dtype, 0));
}

}  // namespace

namespace {
// True if `extent` is 1 wherever the variable `dim` is 1, as min(n, 512) for n.
bool is_one_with(const PrimExpr& extent, const PrimExpr& dim) {
  if (!is<VarNode>(dim)) return false;
  return is_one(arith::simplify(substitute(extent, {{dim.get(), make_const_int(dim->dtype, 1)}})));
}
}  // namespace

// The extent of the result: the extents are equal, or one is 1.  If one variable is 1 only where the other is
// 1, too, it is the result.
PrimExpr broadcast_extent(const PrimExpr& x, const PrimExpr& y) {
  if (is_one(y) || same_extent(x, y)) return x;
  if (is_one(x) || is<IntImmNode>(y)) return y;
  if (is<IntImmNode>(x) || is_one_with(y, x)) return x;
  if (is_one_with(x, y)) return y;
  return select(tir::equal(x, make_const_int(x->dtype, 1)), y, x);
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const size_t ndim = std::max(a.size(), b.size());
  Shape result(ndim);
  for (size_t n = 1; n <= ndim; ++n) {
    PrimExpr& out = result[ndim - n];
    if (n > a.size())
      out = b[b.size() - n];
    else if (n > b.size())
      out = a[a.size() - n];
    else {
      const PrimExpr &x = a[a.size() - n], &y = b[b.size() - n];
      if (is<IntImmNode>(x) && is<IntImmNode>(y) && !is_one(x) && !is_one(y) && !same_extent(x, y))
        throw UserError("shapes {} and {} do not broadcast: {} against {} in dimension {} from the end",
                        indices_text(a), indices_text(b), expr_text(x), expr_text(y), n);
      out = broadcast_extent(x, y);
    }
  }
  return result;
}

PrimExpr broadcast_index(const PrimExpr& extent, const PrimExpr& result, const PrimExpr& axis) {
  const PrimExpr zero = make_const_int(axis->dtype, 0);
  if (is_one(extent)) return is_one(result) ? axis : zero;
  if (is<IntImmNode>(extent) || same_extent(extent, result)) return axis;
  return select(tir::equal(extent, make_const_int(extent->dtype, 1)), zero, axis);
}

PrimExpr broadcast_at(const Tensor& x, const std::vector<Var>& axes, const Shape& result_shape) {
  TILEWRIGHT_CHECK(x.ndim() <= axes.size(), "a tensor cannot broadcast to fewer dimensions");
  std::vector<PrimExpr> indices;
  const size_t skipped = axes.size() - x.ndim();
  for (size_t n = 0; n < x.ndim(); ++n)
    indices.push_back(broadcast_index(x.shape()[n], result_shape[skipped + n], axes[skipped + n]));
  return x.at(std::move(indices));
}

Tensor binary(const Tensor& a, const Tensor& b, std::string name, const Combine& combine) {
  const Shape shape = broadcast_shape(a.shape(), b.shape());
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       return combine(broadcast_at(a, i, shape), broadcast_at(b, i, shape));
                     },
                     {.name = std::move(name)});
}

Tensor add(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_add",
                [](PrimExpr x, PrimExpr y) { return x->dtype.is_bool() ? tir::logical_or(x, y) : x + y; });
}
Tensor subtract(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_subtract", [](PrimExpr x, PrimExpr y) { return x - y; });
}
Tensor multiply(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_multiply",
                [](PrimExpr x, PrimExpr y) { return x->dtype.is_bool() ? tir::logical_and(x, y) : x * y; });
}
Tensor divide(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_divide", [](PrimExpr x, PrimExpr y) { return div(x, y); });
}
Tensor floor_divide(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_floor_divide", [](PrimExpr x, PrimExpr y) {
    return x->dtype.is_float() ? call(x->dtype, "floor", {div(x, y)}) : floordiv(x, y);
  });
}
Tensor mod(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_mod", [](PrimExpr x, PrimExpr y) { return floormod(x, y); });
}
Tensor truncmod(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_truncmod", [](PrimExpr x, PrimExpr y) { return tir::binary(Kind::kMod, x, y); });
}
Tensor power(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_power", [](PrimExpr x, PrimExpr y) { return call(x->dtype, "pow", {x, y}); });
}
Tensor atan2(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_atan2", [](PrimExpr y, PrimExpr x) { return call(y->dtype, "atan2", {y, x}); });
}
Tensor maximum(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_maximum", [](PrimExpr x, PrimExpr y) { return tir::max(x, y); });
}
Tensor minimum(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_minimum", [](PrimExpr x, PrimExpr y) { return tir::min(x, y); });
}
Tensor log_add_exp(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_log_add_exp", [](PrimExpr x, PrimExpr y) {
    // equal arguments, infinite ones too, have distance 0
    PrimExpr zero = make_const_int(x->dtype, 0);
    PrimExpr distance = select(tir::equal(x, y), zero, call(x->dtype, "abs", {x - y}));
    return tir::max(x, y) + call(x->dtype, "log1p", {call(x->dtype, "exp", {zero - distance})});
  });
}
Tensor equal(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_equal", [](PrimExpr x, PrimExpr y) { return tir::equal(x, y); });
}
Tensor not_equal(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_not_equal", [](PrimExpr x, PrimExpr y) { return tir::not_equal(x, y); });
}
Tensor less(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_less", [](PrimExpr x, PrimExpr y) { return x < y; });
}
Tensor less_equal(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_less_equal", [](PrimExpr x, PrimExpr y) { return x <= y; });
}
Tensor greater(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_greater", [](PrimExpr x, PrimExpr y) { return x > y; });
}
Tensor greater_equal(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_greater_equal", [](PrimExpr x, PrimExpr y) { return x >= y; });
}
Tensor logical_and(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_logical_and",
                [](PrimExpr x, PrimExpr y) { return tir::logical_and(as_bool(x), as_bool(y)); });
}
Tensor logical_or(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_logical_or",
                [](PrimExpr x, PrimExpr y) { return tir::logical_or(as_bool(x), as_bool(y)); });
}
Tensor logical_xor(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_logical_xor",
                [](PrimExpr x, PrimExpr y) { return tir::not_equal(as_bool(x), as_bool(y)); });
}

namespace {
// A bitwise operation on integers, a logical one on bool.
Tensor bitwise(const Tensor& a, const Tensor& b, const char* op, PrimExpr (*logic)(PrimExpr, PrimExpr)) {
  return binary(a, b, fmt::format("T_{}", op), [&](PrimExpr x, PrimExpr y) {
    return x->dtype.is_bool() ? logic(x, y) : call(x->dtype, op, {x, y});
  });
}
}  // namespace

Tensor bitwise_and(const Tensor& a, const Tensor& b) {
  return bitwise(a, b, "bitwise_and", tir::logical_and);
}
Tensor bitwise_or(const Tensor& a, const Tensor& b) { return bitwise(a, b, "bitwise_or", tir::logical_or); }
Tensor bitwise_xor(const Tensor& a, const Tensor& b) {
  return bitwise(a, b, "bitwise_xor", [](PrimExpr x, PrimExpr y) { return tir::not_equal(x, y); });
}
Tensor left_shift(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_left_shift",
                [](PrimExpr x, PrimExpr y) { return call(x->dtype, "shift_left", {x, y}); });
}
Tensor right_shift(const Tensor& a, const Tensor& b) {
  return binary(a, b, "T_right_shift",
                [](PrimExpr x, PrimExpr y) { return call(x->dtype, "shift_right", {x, y}); });
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shape(broadcast_shape(condition.shape(), a.shape()), b.shape());
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       return select(as_bool(broadcast_at(condition, i, shape)), broadcast_at(a, i, shape),
                                     broadcast_at(b, i, shape));
                     },
                     {.name = "T_where"});
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return te::compute(shape, [&](const std::vector<Var>& i) { return broadcast_at(x, i, shape); },
                     {.name = "T_broadcast_to"});
}

Tensor prelu(const Tensor& x, const Tensor& slope) {
  return binary(x, slope, "T_prelu",
                [](PrimExpr v, PrimExpr a) { return select(v > make_const_int(v->dtype, 0), v, v * a); });
}

}  // namespace tilewright::topi
