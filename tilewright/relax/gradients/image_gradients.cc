// Pictures: what is linear in the picture has as gradient the transposed weights, which are what the operator
// itself makes of pictures with a single one.
#include "tilewright/relax/gradient.h"
#include "tilewright/relax/op_util.h"

namespace tilewright::relax {
namespace {

Value eye(const PrimExpr& extent, DataType dtype) {
  return apply("eye", {{PrimValueNode::make(extent)}}, {{"dtype", attr(dtype)}});
}
Value matmul(const Value& a, const Value& b) { return apply("matmul", {a, b}); }

// What a crop takes of a line along spatial dimension `dim`: its part of roi, all of the other dimension.
ObjectRef line_roi(const Backward& b, size_t dim) {
  const auto* given = b.call()->attrs.get("roi").as<ArrayNode>();
  if (!given) return attr(std::vector<int64_t>{0, 0, 0, 0});
  const size_t count = given->items.size() / 2;
  return ArrayNode::make(
      std::vector<ObjectRef>{given->items.at(dim), attr(0.0), given->items.at(dim + count), attr(1.0)});
}

// The weights of resizing a line of `extent` elements along spatial dimension `dim` to `size`, [extent,
// size]: a line is a picture of width 1, and what lies outside of it has no weight.
Value line_weights(const Backward& b, size_t dim, const PrimExpr& extent, const PrimExpr& size) {
  const PrimExpr one = extent_imm(1);
  const Value lines = reshape(eye(extent, b.dtype(0)), {one, extent, extent, one});
  AttrMap attrs = b.call()->attrs;
  attrs.set("layout", attr("NCHW"));
  attrs.set("out_dtype", attr(DataType::void_()));
  attrs.set("roi", line_roi(b, dim));
  attrs.set("extrapolation_value", attr(0.0));
  return reshape(apply("image.resize2d", {lines, shape_value({size, one})}, attrs), {extent, size});
}

// The extents of the spatial dimensions of the picture.
Shape spatial_extents(const Shape& shape, bool is_channels_last) {
  const auto begin = shape.begin() + (is_channels_last ? 1 : 2);
  return {begin, begin + static_cast<long>(shape.size()) - 2};
}

// rows^T . x . columns  ->  rows . grad . columns^T, of each channel; planes of a volume before that:
// planes . grad, where each plane is a row
void of_resize(Backward& b) {
  const AttrMap& attrs = b.call()->attrs;
  const bool is_last = attrs.get_string("layout", "").ends_with('C'), is_volume = b.ndim(0) == 5;
  const Shape from = spatial_extents(b.shape(0), is_last),
              to = spatial_extents(b.shape_of(type_of(b.out().expr)), is_last);
  auto weights = [&](size_t dim) { return line_weights(b, dim, from[dim], to[dim]); };
  Value grad = b.grad();
  if (is_last)
    grad = permute(grad, is_volume ? std::vector<int64_t>{0, 4, 1, 2, 3} : std::vector<int64_t>{0, 3, 1, 2});
  grad = cast(grad, b.dtype(0));
  if (is_volume) {
    const PrimExpr &batch = b.shape(0)[0], &channels = b.shape(0)[is_last ? 4 : 1];
    grad = reshape(grad, {batch, channels, to[0], num_elements({to[1], to[2]})});
    grad = reshape(matmul(weights(0), grad), {batch, channels, from[0], to[1], to[2]});
  }
  const size_t row = is_volume ? 1 : 0;
  const Value columns = permute(weights(row + 1), {1, 0});
  const Value result = matmul(matmul(weights(row), grad), columns);
  if (!is_last) return b.add(0, result);
  b.add(0,
        permute(result, is_volume ? std::vector<int64_t>{0, 2, 3, 4, 1} : std::vector<int64_t>{0, 2, 3, 1}));
}

// A line of the grid, [n, 1, oh, ow]: 0 for x, 1 for y.
Value grid_line(const Backward& b, int64_t line) {
  return apply("strided_slice", {b.x(1), shape_value({extent_imm(1)}), shape_value({extent_imm(line)}),
                                 shape_value({extent_imm(line + 1)})});
}

// The gradient of line `line` of the grid: between two elements the sample changes by their difference.
Value of_grid_line(const Backward& b, int64_t line) {
  const bool is_aligned = b.call()->attrs.get_bool("align_corners", false);
  const auto dim = static_cast<size_t>(3 - line);
  const PrimExpr& known = b.shape(0)[dim];
  // every place of the grid is the only element
  if (is_aligned && tir::is_one(known)) {
    const Shape& grid = b.shape(1);
    return zeros({grid[0], extent_imm(1), grid[2], grid[3]}, b.dtype(0));
  }
  const Value extent = b.count(b.shape(0), {static_cast<int64_t>(dim)});
  const Value one = b.number(1), half = b.bind((is_aligned ? extent - one : extent) * b.number(0.5));
  const Value middle = b.bind((extent - one) * b.number(0.5));
  // half is at least 0.5, or 0 of an aligned extent that is 1 at run time, where the last factor makes zeros
  const bool may_be_zero = is_aligned && !known.as<IntImmNode>();
  const Value divisor = may_be_zero ? b.bind(apply("maximum", {half, b.number(0.5)})) : half;
  // the place p of the grid is the element p * half + middle
  const Value before = b.bind(apply("floor", {grid_line(b, line) * half + middle}));
  auto sample = [&](const Value& element) {
    const Value moved = (element - middle) / divisor;
    const Value grid = line == 0 ? tuple_of({moved, grid_line(b, 1)}) : tuple_of({grid_line(b, 0), moved});
    return apply("image.grid_sample", {b.x(0), apply("concat", {grid}, {{"axis", attr(1)}})},
                 b.call()->attrs);
  };
  const Value difference = sample(before + one) - sample(before);
  return sum(b.grad() * difference, {1}, true) * half;
}

void of_grid(Backward& b) {
  const AttrMap& attrs = b.call()->attrs;
  const std::string method = attrs.get_string("method", "bilinear");
  if (method == "nearest") return;
  if (method != "bilinear")
    b.refuse(fmt::format("the gradient of its grid is asked for, and method is \"{}\"", method));
  if (attrs.get_string("padding_mode", "zeros") == "reflection" && !attrs.get_bool("align_corners", false))
    b.refuse(
        "the gradient of its grid is asked for, and padding_mode is \"reflection\" without align_corners");
  b.add(1, apply("concat", {tuple_of({of_grid_line(b, 0), of_grid_line(b, 1)})}, {{"axis", attr(1)}}));
}

void of_grid_sample(Backward& b) {
  if (b.needs(1)) of_grid(b);
  if (!b.needs(0)) return;
  const Shape &shape = b.shape(0), &places = b.shape(1);
  const PrimExpr count = num_elements({shape[2], shape[3]}), samples = num_elements({places[2], places[3]});
  const Value pictures =
      broadcast_to(reshape(eye(count, b.dtype(0)), {extent_imm(1), count, shape[2], shape[3]}),
                   {shape[0], count, shape[2], shape[3]});
  const Value weights = apply("image.grid_sample", {pictures, b.x(1)}, b.call()->attrs);
  const Value grad = reshape(b.grad(), {shape[0], shape[1], samples});
  const Value transposed = permute(reshape(weights, {shape[0], count, samples}), {0, 2, 1});
  b.add(0, reshape(matmul(grad, transposed), shape));
}

// The grid is a product of theta and the places (x, y, 1), which are the grid of the identity.
void of_affine_grid(Backward& b) {
  const Shape& theta = b.shape(0);
  const Shape grid = b.shape_of(type_of(b.out().expr));
  const PrimExpr &dims = theta[1], count = num_elements({grid.begin() + 2, grid.end()});
  const Value identity = apply("eye", {{PrimValueNode::make(dims)}, {PrimValueNode::make(theta[2])}},
                               {{"dtype", attr(b.dtype(0))}});
  const Value places =
      apply("image.affine_grid",
            {reshape(identity, {extent_imm(1), dims, theta[2]}), shape_value({grid.begin() + 2, grid.end()})},
            b.call()->attrs);
  const Value grad = b.bind(reshape(b.grad(), {theta[0], dims, count}));
  const Value linear = matmul(grad, permute(reshape(places, {extent_imm(1), dims, count}), {0, 2, 1}));
  b.add(0, apply("concat", {tuple_of({linear, sum(grad, {2}, true)})}, {{"axis", attr(2)}}));
}

constexpr GradientRow kRows[] = {
    {"relax.image.affine_grid", of_affine_grid},
    {"relax.image.resize2d", of_resize},
    {"relax.image.resize3d", of_resize},
    {"relax.image.grid_sample", of_grid_sample},
};

}  // namespace

extern constinit const GradientTable image_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
