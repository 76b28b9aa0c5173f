// Images: an operator that is linear in the image has the transposed weights as its gradient.  The weights
// are what the operator computes from unit images.
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

Value eye(const PrimExpr& extent, DataType dtype) {
  return apply("eye", {{PrimValueNode::make(extent)}}, {{"dtype", attr(dtype)}});
}
Value matmul(const Value& a, const Value& b) { return apply("matmul", {a, b}); }

// The dimensions that are resized: `axes`, all, or the spatial ones of a layout.
std::vector<int64_t> resized_axes(const Backward& b) {
  const std::string layout = b.call()->attrs.get_string("layout", "");
  std::vector<int64_t> axes = b.call()->attrs.get_ints("axes", {});
  for (int64_t axis = 0; !layout.empty() && axis < b.ndim(0); ++axis) {
    if (std::string_view("DHW").find(layout[static_cast<size_t>(axis)]) != std::string_view::npos)
      axes.push_back(axis);
  }
  for (int64_t axis = 0; layout.empty() && axes.empty() && axis < b.ndim(0); ++axis) axes.push_back(axis);
  return axes;
}

// The weights of resized dimension `n` of extent `extent`, [extent, size]; elements outside have none.
Value line_weights(const Backward& b, size_t n, const PrimExpr& extent, const PrimExpr& size) {
  AttrMap attrs = b.call()->attrs;
  attrs.erase("layout");
  attrs.set("axes", attr(std::vector<int64_t>{1}));
  attrs.set("out_dtype", attr(DataType::void_()));
  if (const auto* roi = attrs.get("roi").as<ArrayNode>())  // starts, then ends
    attrs.set("roi", ArrayNode::make(
                         std::vector<ObjectRef>{roi->items.at(n), roi->items.at(n + roi->items.size() / 2)}));
  attrs.set("extrapolation_value", attr(0.0));
  std::vector<Value> args{eye(extent, b.dtype(0)), shape_value({size})};
  if (b.num_args() > 2) {
    const Shape* steps = known_shape(b.call()->args[2]);
    if (!steps) b.refuse("its steps are known only at run time");
    args.push_back(shape_value({steps->at(2 * n), steps->at(2 * n + 1)}));
  }
  return apply(name_of(b.call()) == "image.resize_antialias" ? "image.resize_antialias" : "image.resize",
               args, attrs);
}

// Along each dimension resizing is a product with its weights.
void of_resize(Backward& b) {
  const Shape to = b.shape_of(type_of(b.out().expr));
  const std::vector<int64_t> axes = resized_axes(b);
  const int64_t last = b.ndim(0) - 1;
  Value grad = cast(b.grad(), b.dtype(0));
  for (size_t n = 0; n < axes.size(); ++n) {
    const auto axis = static_cast<size_t>(axes[n]);
    const Value weights = line_weights(b, n, b.shape(0)[axis], to[axis]);
    if (axes[n] == last - 1) {
      grad = matmul(weights, grad);
      continue;
    }
    std::vector<int64_t> order;  // exchanges this dimension and the last one
    for (int64_t dim = 0; dim <= last; ++dim)
      order.push_back(dim == axes[n] ? last : dim == last ? axes[n] : dim);
    if (axes[n] != last) grad = permute(grad, order);
    grad = matmul(grad, permute(weights, {1, 0}));
    if (axes[n] != last) grad = permute(grad, order);
  }
  b.add(0, grad);
}

// A coordinate of the grid, [n, 1, oh, ow]: line 0 is x, 1 is y.
Value grid_line(const Backward& b, int64_t line) {
  return apply("strided_slice", {b.x(1), shape_value({extent_imm(1)}), shape_value({extent_imm(line)}),
                                 shape_value({extent_imm(line + 1)})});
}

// The gradient of coordinate `line`: the slope between two elements is their difference.
Value of_grid_line(const Backward& b, int64_t line) {
  const bool is_aligned = b.call()->attrs.get_bool("align_corners", false);
  const auto dim = static_cast<size_t>(3 - line);
  const PrimExpr& known = b.shape(0)[dim];
  // every coordinate means the only element
  if (is_aligned && tir::is_one(known)) {
    const Shape& grid = b.shape(1);
    return zeros({grid[0], extent_imm(1), grid[2], grid[3]}, b.dtype(0));
  }
  const Value extent = b.count(b.shape(0), {static_cast<int64_t>(dim)});
  const Value one = b.number(1), half = b.bind((is_aligned ? extent - one : extent) * b.number(0.5));
  const Value middle = b.bind((extent - one) * b.number(0.5));
  // half is at least 0.5, or 0 for an aligned extent that is 1 at run time; the last factor then makes zeros
  const bool may_be_zero = is_aligned && !known.as<IntImmNode>();
  const Value divisor = may_be_zero ? b.bind(apply("maximum", {half, b.number(0.5)})) : half;
  // coordinate p of the grid is element p * half + middle
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

// The grid is the product of theta and the coordinates (x, y, 1), which are the grid of the identity.
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
    {"relax.image.affine_grid", of_affine_grid}, {"relax.image.resize", of_resize},
    {"relax.image.resize2d", of_resize},         {"relax.image.resize3d", of_resize},
    {"relax.image.resize_antialias", of_resize}, {"relax.image.grid_sample", of_grid_sample},
};

}  // namespace

extern constinit const GradientTable image_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
