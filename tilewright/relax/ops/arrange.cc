// Tensors arranged from other tensors or computed from positions: stack, meshgrid, collapse_sum,
// layout_transform, triangles, eye, windows, shuffles.
#include "tilewright/te/topi/arrange.h"
#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/te/topi/reduce.h"

namespace tilewright::relax {
namespace {

// ---- stack, meshgrid

struct AxisAttrs {
  int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{field<&AxisAttrs::axis>("axis", "position of the new dimension in the result")};
  }
};
Type infer_stack(const Call& call, const AxisAttrs& attrs, Requirements& require) {
  const std::vector<const TensorTypeNode*> parts = tensors_arg(call, 0);
  if (parts.empty()) fail(call, "no tensors are given");
  const TensorTypeNode* first = parts[0];
  const Shape* shape = known_shape(first);
  for (size_t n = 1; n < parts.size(); ++n) {
    const Shape* other = known_shape(parts[n]);
    if (parts[n]->dtype != first->dtype || (shape && other && shape->size() != other->size()))
      fail(call, "tensor 0 is {}, but tensor {} is {}", short_text(first), n, short_text(parts[n]));
    if (shape && other)
      require.equal(*shape, *other, "tensor 0 is {}, but tensor {} is {}", *shape, n, *other);
  }
  if (first->ndim < 0) return tensor_type_of_ndim(-1, first->dtype);
  const int64_t axis = normalize_axis(call, attrs.axis, first->ndim + 1);
  if (!shape) return tensor_type_of_ndim(first->ndim + 1, first->dtype);
  Shape result = *shape;
  result.insert(result.begin() + axis, extent_imm(static_cast<int64_t>(parts.size())));
  return tensor_type(std::move(result), first->dtype);
}
te::Tensor lower_stack(const LowerInput& in, const AxisAttrs& attrs) {
  return topi::stack(in.args[0], normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim()) + 1));
}

struct GridAttrs {
  std::string indexing = "ij";
  static constexpr auto fields() {
    return std::tuple{field<&GridAttrs::indexing>(
        "indexing", "\"ij\": dimension n is that of tensor n; \"xy\": the first two are exchanged")};
  }
};
// The dimension of the result that tensor `n` of `count` varies along.
size_t grid_dimension(size_t n, size_t count, const GridAttrs& attrs) {
  return attrs.indexing == "xy" && count > 1 && n < 2 ? 1 - n : n;
}
Type infer_meshgrid(const Call& call, const GridAttrs& attrs) {
  const std::vector<const TensorTypeNode*> vectors = tensors_arg(call, 0);
  if (vectors.empty()) fail(call, "no tensors are given");
  if (attrs.indexing != "ij" && attrs.indexing != "xy")
    fail(call, "indexing is \"{}\", expected \"ij\" or \"xy\"", attrs.indexing);
  std::optional<Shape> result = Shape(vectors.size());
  for (size_t n = 0; n < vectors.size(); ++n) {
    if (vectors[n]->ndim > 1) fail(call, "tensor {} is {}, expected a vector", n, short_text(vectors[n]));
    const Shape* shape = known_shape(vectors[n]);
    if (!shape)
      result.reset();
    else if (result)
      (*result)[grid_dimension(n, vectors.size(), attrs)] = shape->empty() ? extent_imm(1) : (*shape)[0];
  }
  std::vector<Type> grids;
  for (const TensorTypeNode* vector : vectors)
    grids.push_back(result ? tensor_type(*result, vector->dtype)
                           : tensor_type_of_ndim(static_cast<int64_t>(vectors.size()), vector->dtype));
  return tuple_type(std::move(grids));
}
std::vector<te::Tensor> lower_meshgrid(const LowerInput& in, const GridAttrs& attrs) {
  std::vector<te::Tensor> grids;
  const std::vector<te::Tensor>& vectors = in.args[0];
  for (size_t n = 0; n < vectors.size(); ++n)
    grids.push_back(topi::spread(vectors[n], in.out_shape(n), grid_dimension(n, vectors.size(), attrs)));
  return grids;
}

// ---- collapse_sum_to, collapse_sum_like

Type infer_collapsed(const Call& call, const Shape* wanted, int64_t ndim, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (!wanted) return tensor_type_of_ndim(ndim, x->dtype);
  const Shape* shape = known_shape(x);
  if (shape && wanted->size() > shape->size())
    fail(call, "data is {}, which {} does not broadcast to", shape_text(*shape), shape_text(*wanted));
  if (shape)
    require.holds(broadcasts_to(*wanted, *shape), "data is {}, which {} does not broadcast to", *shape,
                  *wanted);
  return tensor_type(*wanted, x->dtype);
}
Type infer_collapse_to(const Call& call, Requirements& require) {
  int64_t ndim;
  Shape storage;
  const Shape* wanted = shape_arg(call, 1, &ndim, &storage);
  return infer_collapsed(call, wanted, ndim, require);
}
Type infer_collapse_like(const Call& call, Requirements& require) {
  const TensorTypeNode* target = tensor_arg(call, 1);
  return infer_collapsed(call, known_shape(target), target->ndim, require);
}
te::Tensor lower_collapse(const LowerInput& in) { return topi::collapse_sum(in[0], in.out_shape()); }

// ---- tril, triu, eye, hamming_window

struct DiagonalAttrs {
  int64_t k = 0;
  static constexpr auto fields() {
    return std::tuple{field<&DiagonalAttrs::k>("k", "the diagonal, columns right of the main one")};
  }
};
Type infer_triangle(const Call& call, const DiagonalAttrs&) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim >= 0 && x->ndim < 2) fail(call, "x is {}, expected at least 2 dimensions", short_text(x));
  return Type(x);
}
template <bool kUpper>
te::Tensor lower_triangle(const LowerInput& in, const DiagonalAttrs& attrs) {
  return topi::triangle(in[0], extent_imm(attrs.k), kUpper);
}

struct EyeAttrs {
  int64_t k = 0;
  DataType dtype = DataType::void_();
  static constexpr auto fields() {
    return std::tuple{field<&EyeAttrs::k>("k", "the diagonal, columns right of the main one"),
                      field<&EyeAttrs::dtype>("dtype", "element type; void: float32, or that of x")};
  }
};
Type infer_eye(const Call& call, const EyeAttrs& attrs) {
  const DataType dtype = attrs.dtype.is_void() ? kFloat32 : attrs.dtype;
  const PrimExpr rows = scalar_arg(call, 0)->value,
                 columns = call->args.size() > 1 ? scalar_arg(call, 1)->value : rows;
  return rows && columns ? tensor_type({as_extent(rows), as_extent(columns)}, dtype)
                         : tensor_type_of_ndim(2, dtype);
}
Type infer_eye_like(const Call& call, const EyeAttrs& attrs) {
  require_ndim(call, 0, 2);
  const TensorTypeNode* x = tensor_arg(call, 0);
  return tensor_type_like(x, attrs.dtype.is_void() ? x->dtype : attrs.dtype);
}
te::Tensor lower_eye(const LowerInput& in, const EyeAttrs& attrs) {
  return topi::eye(in.out_shape(), extent_imm(attrs.k), in.out_dtype());
}

struct WindowAttrs {
  bool periodic = true;
  double alpha = 0.54, beta = 0.46;
  DataType dtype = kFloat32;
  static constexpr auto fields() {
    return std::tuple{field<&WindowAttrs::periodic>("periodic", "whether the window repeats after its end"),
                      field<&WindowAttrs::alpha>("alpha", "the mean"),
                      field<&WindowAttrs::beta>("beta", "factor of the cosine"),
                      field<&WindowAttrs::dtype>("dtype", "element type")};
  }
};
Type infer_window(const Call& call, const WindowAttrs& attrs) {
  if (!attrs.dtype.is_float()) fail(call, "dtype is {}, expected a floating-point one", attrs.dtype.str());
  const PrimExpr length = scalar_arg(call, 0)->value;
  return length ? tensor_type({as_extent(length)}, attrs.dtype) : tensor_type_of_ndim(1, attrs.dtype);
}
te::Tensor lower_window(const LowerInput& in, const WindowAttrs& attrs) {
  return topi::hamming_window(in.out_shape()[0], attrs.periodic, attrs.alpha, attrs.beta, attrs.dtype);
}

// ---- pixel_shuffle, batch_flatten

struct FactorAttrs {
  int64_t upscale_factor = 1;
  static constexpr auto fields() {
    return std::tuple{
        field<&FactorAttrs::upscale_factor>("upscale_factor", "factor by which height and width grow")};
  }
};
Type infer_pixel_shuffle(const Call& call, const FactorAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const int64_t factor = attrs.upscale_factor;
  if (factor < 1) fail(call, "upscale_factor is {}, expected at least 1", factor);
  if (x->ndim >= 0 && x->ndim < 3) fail(call, "data is {}, expected at least 3 dimensions", short_text(x));
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(x->ndim, x->dtype);
  Shape result = *shape;
  PrimExpr& channels = result[result.size() - 3];
  require.equal(tir::floormod(as_extent(channels), factor * factor), extent_imm(0),
                "{} channels of data {} do not divide into {} * {}", channels, *shape, factor, factor);
  channels = arith::simplify(tir::floordiv(channels, factor * factor));
  for (size_t n = 1; n < 3; ++n) result[result.size() - n] = result[result.size() - n] * factor;
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_pixel_shuffle(const LowerInput& in, const FactorAttrs& attrs) {
  return topi::pixel_shuffle(in[0], attrs.upscale_factor);
}

constexpr FusePattern kInjective = FusePattern::kInjective;
constexpr OpInfo kOps[] = {
    op<infer_stack, lower_stack, AxisAttrs>("relax.stack", "tensors", "Stacks tensors along a new dimension.",
                                            kInjective),
    op<infer_meshgrid, lower_meshgrid, GridAttrs>(
        "relax.meshgrid", "tensors", "Broadcasts each vector over the grid of all of them.", kInjective),
    op<infer_collapse_to, lower_collapse>("relax.collapse_sum_to", "data, shape",
                                          "Summed over what broadcasting from shape repeats.",
                                          FusePattern::kReduction),
    op<infer_collapse_like, lower_collapse>(
        "relax.collapse_sum_like", "data, collapse_target",
        "Summed over what broadcasting from the shape of collapse_target repeats.", FusePattern::kReduction),
    op<infer_triangle, lower_triangle<false>, DiagonalAttrs>("relax.tril", "x",
                                                             "x up to a diagonal, else zero.", kInjective),
    op<infer_triangle, lower_triangle<true>, DiagonalAttrs>("relax.triu", "x",
                                                            "x from a diagonal on, else zero.", kInjective),
    op<infer_eye, lower_eye, EyeAttrs>("relax.eye", "n, m?",
                                       "Ones on a diagonal of an n x m matrix, else zeros.", kInjective),
    op<infer_eye_like, lower_eye, EyeAttrs>("relax.eye_like", "x",
                                            "Ones on a diagonal in the shape of x, else zeros.", kInjective),
    op<infer_window, lower_window, WindowAttrs>("relax.hamming_window", "window_size",
                                                "alpha - beta * cos(2 * pi * i / period).", kInjective),
    op<infer_pixel_shuffle, lower_pixel_shuffle, FactorAttrs>(
        "relax.nn.pixel_shuffle", "data", "Groups of channels laid out as pixels.", kInjective),
};

}  // namespace

extern constinit const OpTable arrange_info = op_table(
    kOps, "numpy.org/doc/stable/reference (stack, meshgrid, eye, tril, hamming), torch.nn.PixelShuffle");

}  // namespace tilewright::relax
