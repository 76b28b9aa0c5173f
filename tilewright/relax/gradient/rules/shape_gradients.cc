// Moves and slices: the gradient moves back.
#include <numeric>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

void of_reshape(Backward& b) { b.add(0, reshape(b.grad(), b.shape(0))); }
void of_broadcast(Backward& b) { b.add(0, b.grad()); }  // add sums over the repeated elements
void of_collapse(Backward& b) { b.add(0, broadcast_to(b.grad(), b.shape(0))); }
void of_filling(Backward& b) { b.add(1, b.grad()); }  // full(shape, value)
void of_constant(Backward&) {}                        // zeros_like, ones_like do not depend on x

void of_permute(Backward& b) {
  std::vector<int64_t> axes = b.call()->attrs.get_ints("axes", {});
  const auto ndim = static_cast<size_t>(b.ndim(0));
  if (axes.empty()) {
    for (size_t n = ndim; n-- > 0;) axes.push_back(static_cast<int64_t>(n));
  }
  std::vector<int64_t> back(ndim);
  for (size_t n = 0; n < ndim; ++n)
    back[static_cast<size_t>(normalize_axis(b.call(), axes[n], b.ndim(0)))] = static_cast<int64_t>(n);
  b.add(0, permute(b.grad(), back));
}

// [n * r] reshaped to [r, n] for tile, [n, r] for repeat; then summed over r
void of_tile(Backward& b) {
  std::vector<int64_t> repeats = b.call()->attrs.get_ints("repeats", {});
  Shape shape = b.shape(0);
  while (repeats.size() < shape.size()) repeats.insert(repeats.begin(), 1);
  while (shape.size() < repeats.size()) shape.insert(shape.begin(), extent_imm(1));
  Shape parts;
  std::vector<int64_t> copies;
  for (size_t n = 0; n < shape.size(); ++n) {
    copies.push_back(static_cast<int64_t>(parts.size()));
    parts.push_back(extent_imm(repeats[n]));
    parts.push_back(shape[n]);
  }
  b.add(0, reshape(sum(reshape(b.grad(), parts), copies, false), b.shape(0)));
}
void of_repeat(Backward& b) {
  const AttrMap& attrs = b.call()->attrs;
  const bool is_flat = !attrs.contains("axis");
  Shape parts = is_flat ? Shape{num_elements(b.shape(0))} : b.shape(0);
  const int64_t axis = is_flat ? 0 : b.axis("axis", parts.size());
  parts.insert(parts.begin() + axis + 1, extent_imm(attrs.get_int("repeats", 1)));
  const Value once = sum(reshape(b.grad(), parts), {axis + 1}, false);
  b.add(0, is_flat ? reshape(once, b.shape(0)) : once);
}

// flip, tril, triu: the gradient is the same operator
void of_itself(Backward& b) {
  b.add(0, {CallNode::make(b.call()->op, std::vector<Expr>{b.grad().expr}, b.call()->attrs)});
}

// reversing again restores the order
void of_reverse_sequence(Backward& b) {
  b.add(0, {CallNode::make(b.call()->op, std::vector<Expr>{b.grad().expr, b.x(1).expr}, b.call()->attrs)});
}

// ---- several tensors

Value slice_along(const Value& x, int64_t axis, const PrimExpr& begin, const PrimExpr& length) {
  return apply("strided_slice",
               {x, shape_value({extent_imm(axis)}), shape_value({begin}),
                shape_value({arith::simplify(begin + length)})},
               {{"assume_inbound", attr(true)}});
}
void of_concat(Backward& b) {
  const Shape result = b.shape_of(type_of(b.out().expr));
  const int64_t axis = b.axis("axis", result.size());
  PrimExpr begin = extent_imm(0);
  const std::vector<const TensorTypeNode*> parts = tensors_arg(b.call(), 0);
  for (size_t n = 0; n < parts.size(); ++n) {
    const PrimExpr length = b.shape_of(Type(parts[n]))[static_cast<size_t>(axis)];
    b.add(0, n, slice_along(b.grad(), axis, begin, length));
    begin = arith::simplify(begin + length);
  }
}
void of_stack(Backward& b) {
  const std::vector<const TensorTypeNode*> parts = tensors_arg(b.call(), 0);
  const int64_t axis = b.axis("axis", b.shape_of(Type(parts[0])).size() + 1);
  for (size_t n = 0; n < parts.size(); ++n) {
    const Value part = slice_along(b.grad(), axis, extent_imm(static_cast<int64_t>(n)), extent_imm(1));
    b.add(0, n, reshape(part, b.shape_of(Type(parts[n]))));
  }
}
void of_split(Backward& b) {
  const auto* pieces = type_of(b.out().expr).as<TupleTypeNode>();
  std::vector<Value> grads;
  for (size_t n = 0; n < pieces->elements.size(); ++n) {
    const Value given = b.grad(n);
    grads.push_back(given ? given : zeros(b.shape_of(pieces->elements[n]), b.dtype(0)));
  }
  const int64_t axis = b.axis("axis", static_cast<size_t>(b.ndim(0)));
  b.add(0, apply("concat", {tuple_of(grads)}, {{"axis", attr(axis)}}));
}
// each vector varies along one dimension of the grid
void of_meshgrid(Backward& b) {
  const std::vector<const TensorTypeNode*> vectors = tensors_arg(b.call(), 0);
  const bool is_xy = b.call()->attrs.get_string("indexing", "ij") == "xy" && vectors.size() > 1;
  for (size_t n = 0; n < vectors.size(); ++n) {
    if (!b.grad(n)) continue;
    const size_t own = is_xy && n < 2 ? 1 - n : n;
    std::vector<int64_t> others;
    for (size_t dim = 0; dim < vectors.size(); ++dim) {
      if (dim != own) others.push_back(static_cast<int64_t>(dim));
    }
    b.add(0, n, reshape(sum(b.grad(n), others, false), b.shape_of(Type(vectors[n]))));
  }
}

// ---- padding and slices

// padding is cut off, and what was cut off is padded with zeros
void of_pad(Backward& b) {
  const AttrMap& attrs = b.call()->attrs;
  if (attrs.get_string("pad_mode", "constant") != "constant")
    b.refuse(fmt::format("pad_mode is \"{}\"", attrs.get_string("pad_mode", "")));
  std::vector<int64_t> widths = attrs.get_ints("pad_width", {});
  for (int64_t& width : widths) width = -width;
  b.add(0, apply("nn.pad", {b.grad()}, {{"pad_width", attr(widths)}}));
}
void of_strided_slice(Backward& b) {
  std::vector<Value> args{b.grad()};
  for (size_t n = 0; n < b.num_args(); ++n) args.push_back(b.x(n));
  b.add(0, apply("grad.strided_slice_backward", args, b.call()->attrs));
}
// [n, c * r * r, h, w] -> [n, c, h * r, w * r]
void of_pixel_shuffle(Backward& b) {
  const int64_t factor = b.call()->attrs.get_int("upscale_factor", 1);
  Shape shape = b.shape(0);
  const PrimExpr width = shape.back(), height = shape[shape.size() - 2];
  const PrimExpr channels = arith::simplify(tir::floordiv(shape[shape.size() - 3], factor * factor));
  shape.resize(shape.size() - 3);
  const auto first = static_cast<int64_t>(shape.size());
  std::vector<int64_t> order(static_cast<size_t>(first));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t dim : {0, 2, 4, 1, 3}) order.push_back(first + dim);
  shape.insert(shape.end(), {channels, height, extent_imm(factor), width, extent_imm(factor)});
  b.add(0, reshape(permute(reshape(b.grad(), shape), order), b.shape(0)));
}

constexpr GradientRow kRows[] = {
    {"relax.reshape", of_reshape},
    {"relax.flatten", of_reshape},
    {"relax.nn.batch_flatten", of_reshape},
    {"relax.expand_dims", of_reshape},
    {"relax.squeeze", of_reshape},
    {"relax.permute_dims", of_permute},
    {"relax.broadcast_to", of_broadcast},
    {"relax.collapse_sum_to", of_collapse},
    {"relax.collapse_sum_like", of_collapse},
    {"relax.full", of_filling},
    {"relax.full_like", of_filling},
    {"relax.zeros_like", of_constant},
    {"relax.ones_like", of_constant},
    {"relax.tile", of_tile},
    {"relax.repeat", of_repeat},
    {"relax.flip", of_itself},
    {"relax.reverse_sequence", of_reverse_sequence},
    {"relax.tril", of_itself},
    {"relax.triu", of_itself},
    {"relax.concat", of_concat},
    {"relax.stack", of_stack},
    {"relax.split", of_split},
    {"relax.meshgrid", of_meshgrid},
    {"relax.nn.pad", of_pad},
    {"relax.strided_slice", of_strided_slice},
    {"relax.nn.pixel_shuffle", of_pixel_shuffle},
};

}  // namespace

extern constinit const GradientTable shape_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
