// Reductions: the gradient of an element follows from that of the result it was reduced to.
#include <algorithm>
#include <numeric>

#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

std::vector<int64_t> all_axes(int64_t ndim) {
  std::vector<int64_t> axes(static_cast<size_t>(ndim));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}
std::vector<int64_t> reduced_axes(const Backward& b) {
  const std::vector<int64_t> axes = b.axes("axis", static_cast<size_t>(b.ndim(0)));
  return axes.empty() ? all_axes(b.ndim(0)) : axes;
}
Shape kept_shape(const Backward& b, const std::vector<int64_t>& axes) {
  Shape shape = b.shape(0);
  for (int64_t axis : axes) shape[static_cast<size_t>(axis)] = extent_imm(1);
  return shape;
}
// A result of the reduction with the reduced dimensions kept as extent 1.
Value kept(const Backward& b, const Value& result) {
  const bool is_kept = b.call()->attrs.get_bool("keepdims", false);
  return is_kept ? result : reshape(result, kept_shape(b, reduced_axes(b)));
}
Value spread(const Backward& b, const Value& result) { return broadcast_to(result, b.shape(0)); }

void of_sum(Backward& b) { b.add(0, spread(b, kept(b, b.grad()))); }
void of_mean(Backward& b) { b.add(0, spread(b, kept(b, b.grad()) / b.count(b.shape(0), reduced_axes(b)))); }

// equal elements share the gradient, as in torch.amax
void of_extreme(Backward& b) {
  const Value is_one = apply("equal", {b.x(0), kept(b, b.out())});
  const Value mask = b.bind(cast(is_one, b.dtype(0)));
  b.add(0, mask * (kept(b, b.grad()) / sum(mask, reduced_axes(b), true)));
}

// 2 * (x - mean) / count: the slope of the population variance
Value variance_slope(const Backward& b) {
  const std::vector<int64_t> axes = reduced_axes(b);
  const Value count = b.bind(b.count(b.shape(0), axes));
  const Value mean = sum(b.x(0), axes, true) / count;
  return (b.x(0) - mean) * b.number(2) / count;
}
void of_variance(Backward& b) { b.add(0, kept(b, b.grad()) * variance_slope(b)); }
void of_std(Backward& b) { b.add(0, kept(b, b.grad() / (b.out() * b.number(2))) * variance_slope(b)); }

// The product of all other elements: those before times those after.  Reduced
// dimensions are made one, the last.
void of_prod(Backward& b) {
  const std::vector<int64_t> axes = reduced_axes(b);
  std::vector<int64_t> order, back(static_cast<size_t>(b.ndim(0)));
  for (int64_t axis : all_axes(b.ndim(0))) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) order.push_back(axis);
  }
  Shape lines, moved;
  for (int64_t axis : order) lines.push_back(b.shape(0)[static_cast<size_t>(axis)]);
  PrimExpr length = extent_imm(1);
  for (int64_t axis : axes) length = length * b.shape(0)[static_cast<size_t>(axis)];
  lines.push_back(length);
  order.insert(order.end(), axes.begin(), axes.end());
  for (size_t n = 0; n < order.size(); ++n) {
    moved.push_back(b.shape(0)[static_cast<size_t>(order[n])]);
    back[static_cast<size_t>(order[n])] = static_cast<int64_t>(n);
  }
  if (order.empty()) return b.add(0, b.grad());
  const Value x = b.bind(reshape(permute(b.x(0), order), lines));
  auto others = [&](bool reverse) {
    const int64_t last = static_cast<int64_t>(lines.size()) - 1;
    return apply("cumprod", {x},
                 {{"axis", attr(last)}, {"exclusive", attr(true)}, {"reverse", attr(reverse)}});
  };
  const Value product = permute(reshape(others(false) * others(true), moved), back);
  b.add(0, kept(b, b.grad()) * product);
}

// the gradient of a sum up to an element is the sum from that element on
void of_cumsum(Backward& b) {
  AttrMap attrs = b.call()->attrs;
  attrs.set("reverse", attr(!attrs.get_bool("reverse", false)));
  attrs.set("dtype", attr(DataType::void_()));
  const bool is_flat = !attrs.contains("axis");
  const Value sums = apply("cumsum", {b.grad()}, attrs);
  b.add(0, is_flat ? reshape(sums, b.shape(0)) : sums);
}

// Row k of a matrix is x with one in place of element k.  Its products up to i, for all i whose product
// includes k, are the derivatives of the results with respect to x[k].  This is exact where elements are
// zero, where a division by x would not be.
void of_cumprod(Backward& b) {
  const AttrMap& attrs = b.call()->attrs;
  const bool is_flat = !attrs.contains("axis"), reverse = attrs.get_bool("reverse", false);
  const int64_t exclusive = attrs.get_bool("exclusive", false) ? 1 : 0;
  const Shape whole = is_flat ? Shape{num_elements(b.shape(0))} : b.shape(0);
  const auto last = static_cast<int64_t>(whole.size()) - 1;
  std::vector<int64_t> order =
      all_axes(last + 1);  // exchanges the dimension with the last one; its own inverse
  if (!is_flat) std::swap(order[static_cast<size_t>(b.axis("axis", whole.size()))], order.back());
  auto as_lines = [&](const Value& x) { return permute(is_flat ? reshape(x, whole) : x, order); };
  Shape lines;
  for (int64_t axis : order) lines.push_back(whole[static_cast<size_t>(axis)]);
  Shape rows = lines, matrix = lines;
  rows.insert(rows.end() - 1, extent_imm(1));
  matrix.push_back(lines.back());
  const Value diagonal =
      apply("eye", {{PrimValueNode::make(lines.back())}}, {{"dtype", attr(DataType::bool_())}});
  const Value others = select(diagonal, b.number(1), broadcast_to(reshape(as_lines(b.x(0)), rows), matrix));
  AttrMap products = attrs;
  products.set("axis", attr(last + 1));
  products.set("dtype", attr(DataType::void_()));
  const Value slopes = apply(reverse ? "tril" : "triu", {apply("cumprod", {others}, products)},
                             {{"k", attr(reverse ? -exclusive : exclusive)}});
  const Value grad = reshape(as_lines(cast(b.grad(), b.dtype(0))), rows);
  const Value result = permute(sum(slopes * grad, {last + 1}, false), order);
  b.add(0, is_flat ? reshape(result, b.shape(0)) : result);
}

// ---- order: the gradient goes to the position that the element came from

Value scattered(const Backward& b, const Value& positions, const Value& grad, int64_t axis) {
  return apply("scatter_elements", {zeros(b.shape(0), b.dtype(0)), positions, grad}, {{"axis", attr(axis)}});
}
void of_sort(Backward& b) {
  const auto& attrs = b.call()->attrs;
  const int64_t axis = b.axis("axis", static_cast<size_t>(b.ndim(0)));
  const Value positions =
      apply("argsort", {b.x(0)}, {{"axis", attr(axis)}, {"descending", attrs.get("descending")}});
  b.add(0, scattered(b, positions, b.grad(), axis));
}
// over one dimension the gradient goes to the element whose index is known; else equal ones share it, as in
// torch.median
void of_median(Backward& b) {
  if (b.call()->attrs.get_ints("axis", {}).size() != 1) return of_extreme(b);
  const int64_t axis = reduced_axes(b)[0];
  if (b.grad(0)) b.add(0, scattered(b, kept(b, b.out(1)), kept(b, b.grad(0)), axis));
}
void of_topk(Backward& b) {
  AttrMap attrs = b.call()->attrs;
  const int64_t axis = b.axis("axis", static_cast<size_t>(b.ndim(0)));
  if (attrs.get_string("ret_type", "both") == "both") {
    if (b.grad(0)) b.add(0, scattered(b, b.out(1), b.grad(0), axis));
    return;
  }
  attrs.set("ret_type", attr(std::string("indices")));
  b.add(0, scattered(b, apply("topk", {b.x(0)}, attrs), b.grad(), axis));
}

constexpr GradientRow kRows[] = {
    {"relax.sum", of_sum},     {"relax.mean", of_mean},       {"relax.max", of_extreme},
    {"relax.min", of_extreme}, {"relax.prod", of_prod},       {"relax.variance", of_variance},
    {"relax.std", of_std},     {"relax.cumsum", of_cumsum},   {"relax.sort", of_sort},
    {"relax.topk", of_topk},   {"relax.cumprod", of_cumprod}, {"relax.median", of_median},
};

}  // namespace

extern constinit const GradientTable reduce_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
