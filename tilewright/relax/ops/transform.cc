// Shapes and permutations: reshape, permute_dims, expand_dims, squeeze, flatten, broadcast_to, concat, split,
// tile, repeat, flip, reverse_sequence.
#include <fmt/ranges.h>

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"
#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/transform.h"

namespace tilewright::relax {
namespace {

constexpr FusePattern kInjective = FusePattern::kInjective;

struct AxesAttrs {
  std::vector<int64_t> axes;
  static constexpr auto fields() {
    return std::tuple{
        field<&AxesAttrs::axes>("axes", "for each dimension of the result that of x; none: reversed")};
  }
};
struct AxisListAttrs {
  std::vector<int64_t> axis;
  static constexpr auto fields() {
    return std::tuple{field<&AxisListAttrs::axis>("axis", "dimensions; of squeeze, none: all of extent 1")};
  }
};
struct AxisAttrs {
  int64_t axis = 0;
  static constexpr auto fields() { return std::tuple{field<&AxisAttrs::axis>("axis", "the dimension")}; }
};

// ---- reshape: at most one extent is -1 and is computed; 0 keeps the extent of x (as in TVM, not in numpy)

std::optional<Shape> resolve_reshape(const Call& call, const Shape& wanted, Requirements& require) {
  const Shape* shape = known_shape(tensor_arg(call, 0));
  Shape result = wanted;
  size_t computed = wanted.size();
  PrimExpr known = extent_imm(1);
  for (size_t n = 0; n < wanted.size(); ++n) {
    if (tir::is_const_int(wanted[n], -1)) {
      if (computed != wanted.size()) fail(call, "shape {} has two extents of -1", shape_text(wanted));
      computed = n;
    } else {
      if (const auto* number = wanted[n].as<IntImmNode>(); number && number->value < 0)
        fail(call, "shape {} has a negative extent", shape_text(wanted));
      known = known * result[n];
    }
  }
  if (!shape) return computed == wanted.size() ? std::optional<Shape>(result) : std::nullopt;
  const PrimExpr total = num_elements(*shape);
  if (computed != wanted.size()) {
    if (tir::is_zero(arith::simplify(known)))
      fail(call, "shape {} leaves no extent for -1", shape_text(wanted));
    require.equal(arith::simplify(tir::floormod(total, known)), extent_imm(0),
                  "x is {} with {} elements, which do not divide into shape {}", *shape, total, wanted);
    result[computed] = arith::simplify(tir::floordiv(total, known));
  } else {
    known = arith::simplify(known);
    require.equal(total, known, "x is {} with {} elements, shape {} has {}", *shape, total, wanted, known);
  }
  return result;
}

Type infer_reshape(const Call& call, Requirements& require) {
  int64_t ndim;
  Shape storage;
  const TensorTypeNode* x = tensor_arg(call, 0);
  const Shape* wanted = shape_arg(call, 1, &ndim, &storage);
  if (!wanted) return tensor_type_of_ndim(ndim, x->dtype);
  std::optional<Shape> shape = resolve_reshape(call, *wanted, require);
  return shape ? tensor_type(std::move(*shape), x->dtype) : tensor_type_of_ndim(ndim, x->dtype);
}
te::Tensor lower_to_out_shape(const LowerInput& in) { return topi::reshape(in[0], in.out_shape()); }

Type infer_flatten(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const Shape* shape = known_shape(x);
  return shape ? tensor_type({num_elements(*shape)}, x->dtype) : tensor_type_of_ndim(1, x->dtype);
}

Type infer_batch_flatten(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim == 0) fail(call, "data is {}, expected a dimension to keep", short_text(x));
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(2, x->dtype);
  return tensor_type({(*shape)[0], num_elements(Shape(shape->begin() + 1, shape->end()))}, x->dtype);
}

// ---- permute_dims

std::vector<int64_t> permutation(const Call& call, const std::vector<int64_t>& axes, int64_t ndim) {
  std::vector<int64_t> result;
  for (int64_t axis : axes) result.push_back(normalize_axis(call, axis, ndim));
  if (axes.empty()) {
    for (int64_t n = ndim; n-- > 0;) result.push_back(n);
  }
  normalize_axes(call, result, ndim);
  if (static_cast<int64_t>(result.size()) != ndim)
    fail(call, "axes [{}] are given for a tensor with {}", fmt::join(axes, ", "),
         count_text(ndim, "dimension"));
  return result;
}
Type infer_permute(const Call& call, const AxesAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim < 0)
    return tensor_type_of_ndim(attrs.axes.empty() ? -1 : static_cast<int64_t>(attrs.axes.size()), x->dtype);
  const std::vector<int64_t> axes = permutation(call, attrs.axes, x->ndim);
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(x->ndim, x->dtype);
  Shape result;
  for (int64_t axis : axes) result.push_back((*shape)[static_cast<size_t>(axis)]);
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_permute(const LowerInput& in, const AxesAttrs& attrs) {
  return topi::transpose(in[0], permutation(in.call, attrs.axes, static_cast<int64_t>(in[0].ndim())));
}

// ---- expand_dims, squeeze

Type infer_expand(const Call& call, const AxisListAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim < 0) return tensor_type_of_ndim(-1, x->dtype);
  const int64_t ndim = x->ndim + static_cast<int64_t>(attrs.axis.size());
  const std::vector<int64_t> axes = normalize_axes(call, attrs.axis, ndim);
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(ndim, x->dtype);
  Shape result = *shape;
  for (int64_t axis : axes) result.insert(result.begin() + axis, extent_imm(1));
  return tensor_type(std::move(result), x->dtype);
}

Type infer_squeeze(const Call& call, const AxisListAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const Shape* shape = known_shape(x);
  if (x->ndim < 0 || (!shape && attrs.axis.empty())) return tensor_type_of_ndim(-1, x->dtype);
  if (!shape) return tensor_type_of_ndim(x->ndim - static_cast<int64_t>(attrs.axis.size()), x->dtype);
  std::vector<int64_t> axes = normalize_axes(call, attrs.axis, x->ndim);
  Shape result;
  for (size_t n = 0; n < shape->size(); ++n) {
    const PrimExpr& extent = (*shape)[n];
    const bool is_listed = std::find(axes.begin(), axes.end(), static_cast<int64_t>(n)) != axes.end();
    if (is_listed)
      require.equal(extent, extent_imm(1), "dimension {} of x {} has extent {}, expected 1", n, *shape,
                    extent);
    if (attrs.axis.empty() ? !tir::is_one(extent) : !is_listed) result.push_back(extent);
  }
  return tensor_type(std::move(result), x->dtype);
}

// ---- broadcast_to, tile, repeat, flip

Type infer_broadcast_to(const Call& call, Requirements& require) {
  int64_t ndim;
  Shape storage;
  const TensorTypeNode* x = tensor_arg(call, 0);
  const Shape* wanted = shape_arg(call, 1, &ndim, &storage);
  if (!wanted) return tensor_type_of_ndim(ndim, x->dtype);
  if (const Shape* shape = known_shape(x))
    require.holds(broadcasts_to(*shape, *wanted), "x is {}, which does not broadcast to {}", *shape, *wanted);
  return tensor_type(*wanted, x->dtype);
}
te::Tensor lower_broadcast_to(const LowerInput& in) { return topi::broadcast_to(in[0], in.out_shape()); }

struct TileAttrs {
  std::vector<int64_t> repeats;
  static constexpr auto fields() {
    return std::tuple{
        field<&TileAttrs::repeats>("repeats", "count along each dimension, aligned at the last")};
  }
};
Type infer_tile(const Call& call, const TileAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  for (int64_t repeats : attrs.repeats) {
    if (repeats < 0) fail(call, "repeats is {}, expected at least 0", repeats);
  }
  const auto num_repeats = static_cast<int64_t>(attrs.repeats.size());
  if (x->ndim < 0) return tensor_type_of_ndim(-1, x->dtype);
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(std::max(x->ndim, num_repeats), x->dtype);
  Shape result = *shape;
  while (result.size() < attrs.repeats.size()) result.insert(result.begin(), extent_imm(1));
  const size_t skipped = result.size() - attrs.repeats.size();
  for (size_t n = 0; n < attrs.repeats.size(); ++n)
    result[skipped + n] = result[skipped + n] * attrs.repeats[n];
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_tile(const LowerInput& in, const TileAttrs& attrs) {
  return topi::tile(in[0], attrs.repeats);
}

struct RepeatAttrs {
  int64_t repeats = 1;
  std::optional<int64_t> axis;
  static constexpr auto fields() {
    return std::tuple{
        field<&RepeatAttrs::repeats>("repeats", "how often each element is repeated"),
        field<&RepeatAttrs::axis>("axis", "the dimension; none: of all elements in row-major order")};
  }
};
Type infer_repeat(const Call& call, const RepeatAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (attrs.repeats < 0) fail(call, "repeats is {}, expected at least 0", attrs.repeats);
  const Shape* shape = known_shape(x);
  if (!shape) return tensor_type_of_ndim(attrs.axis ? x->ndim : 1, x->dtype);
  Shape result = attrs.axis ? *shape : Shape{num_elements(*shape)};
  const int64_t axis = attrs.axis ? normalize_axis(call, *attrs.axis, x->ndim) : 0;
  PrimExpr& extent = result[static_cast<size_t>(axis)];
  extent = extent * attrs.repeats;
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_repeat(const LowerInput& in, const RepeatAttrs& attrs) {
  if (!attrs.axis) return topi::repeat(topi::reshape(in[0], {num_elements(in[0].shape())}), attrs.repeats, 0);
  return topi::repeat(in[0], attrs.repeats,
                      normalize_axis(in.call, *attrs.axis, static_cast<int64_t>(in[0].ndim())));
}
Type infer_flip(const Call& call, const AxisAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim >= 0) normalize_axis(call, attrs.axis, x->ndim);
  return Type(x);
}
te::Tensor lower_flip(const LowerInput& in, const AxisAttrs& attrs) {
  return topi::flip(in[0], normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim())));
}

struct SequenceAttrs {
  int64_t seq_axis = 1, batch_axis = 0;
  static constexpr auto fields() {
    return std::tuple{
        field<&SequenceAttrs::seq_axis>("seq_axis", "the dimension whose first elements are reversed"),
        field<&SequenceAttrs::batch_axis>("batch_axis", "the dimension that seq_lengths has a number for")};
  }
};
Type infer_reverse_sequence(const Call& call, const SequenceAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *lengths = tensor_arg(call, 1);
  require_ndim(call, 1, 1);
  if (!lengths->dtype.is_void() && !lengths->dtype.is_integral())
    fail(call, "seq_lengths is {}, expected integers", short_text(lengths));
  if (x->ndim < 0) return Type(x);
  const int64_t axis = normalize_axis(call, attrs.seq_axis, x->ndim),
                batch = normalize_axis(call, attrs.batch_axis, x->ndim);
  if (axis == batch) fail(call, "seq_axis and batch_axis are both {}", axis);
  const Shape *shape = known_shape(x), *given = known_shape(lengths);
  if (shape && given)
    require.equal((*shape)[static_cast<size_t>(batch)], (*given)[0],
                  "seq_lengths is {}, but data is {} and batch_axis {}", *given, *shape, batch);
  return Type(x);
}
te::Tensor lower_reverse_sequence(const LowerInput& in, const SequenceAttrs& attrs) {
  const auto ndim = static_cast<int64_t>(in[0].ndim());
  return topi::reverse_sequence(in[0], in[1], normalize_axis(in.call, attrs.seq_axis, ndim),
                                normalize_axis(in.call, attrs.batch_axis, ndim));
}

// ---- concat, split

Type infer_concat(const Call& call, const AxisAttrs& attrs, Requirements& require) {
  const std::vector<const TensorTypeNode*> parts = tensors_arg(call, 0);
  if (parts.empty()) fail(call, "no tensors are given");
  const TensorTypeNode* first = parts[0];
  bool known = true;
  for (size_t n = 0; n < parts.size(); ++n) {
    if (parts[n]->dtype != first->dtype ||
        (parts[n]->ndim != first->ndim && parts[n]->ndim >= 0 && first->ndim >= 0))
      fail(call, "tensor 0 is {}, but tensor {} is {}", short_text(first), n, short_text(parts[n]));
    known &= known_shape(parts[n]) != nullptr;
  }
  if (first->ndim < 0) return tensor_type_of_ndim(-1, first->dtype);
  const auto axis = static_cast<size_t>(normalize_axis(call, attrs.axis, first->ndim));
  if (!known) return tensor_type_of_ndim(first->ndim, first->dtype);
  Shape result = *known_shape(first);
  for (size_t n = 1; n < parts.size(); ++n) {
    const Shape& shape = *known_shape(parts[n]);
    for (size_t dim = 0; dim < result.size(); ++dim) {
      if (dim == axis)
        result[dim] = arith::simplify(result[dim] + shape[dim]);
      else
        require.equal(result[dim], shape[dim],
                      "tensor 0 is {}, but tensor {} is {}: they differ in dimension {}", *known_shape(first),
                      n, shape, dim);
    }
  }
  return tensor_type(std::move(result), first->dtype);
}
te::Tensor lower_concat(const LowerInput& in, const AxisAttrs& attrs) {
  return topi::concat(in.args[0], normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim())));
}

struct SplitAttrs {
  ObjectRef indices_or_sections;
  int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{field<&SplitAttrs::indices_or_sections>(
                          "indices_or_sections", "number of equal pieces, or positions where pieces begin"),
                      field<&SplitAttrs::axis>("axis", "the dimension")};
  }
};
// The position where each piece after the first begins.
std::vector<PrimExpr> split_starts(const Call& call, const SplitAttrs& attrs, const PrimExpr& extent,
                                   Requirements& require) {
  std::vector<PrimExpr> starts;
  if (const auto* sections = attrs.indices_or_sections.as<IntImmNode>()) {
    constexpr int64_t kMost = 1 << 16;
    if (sections->value < 1) fail(call, "{} pieces, expected at least 1", sections->value);
    if (sections->value > kMost) fail(call, "{} pieces, expected at most {}", sections->value, kMost);
    const PrimExpr length = arith::simplify(tir::floordiv(extent + (sections->value - 1), sections->value));
    for (int64_t n = 1; n < sections->value; ++n)
      starts.push_back(arith::simplify(tir::min(length * n, extent)));
    return starts;
  }
  const auto* list = attrs.indices_or_sections.as<ArrayNode>();
  if (!list) fail(call, "indices_or_sections is neither a number nor a list of numbers");
  int64_t last = 0;
  for (const ObjectRef& item : list->items) {
    const auto* number = item.as<IntImmNode>();
    if (!number) fail(call, "indices_or_sections is neither a number nor a list of numbers");
    require.holds(number->value < 0 ? PrimExpr(tir::bool_imm(false))
                                    : tir::operator>=(as_extent(extent), number->value),
                  "the piece that begins at {} is outside of 0 to {}", number->value, extent);
    if (number->value < last)
      fail(call, "a piece begins at {}, but the one before it at {}", number->value, last);
    last = number->value;
    starts.push_back(extent_imm(last));
  }
  return starts;
}
Type infer_split(const Call& call, const SplitAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const Shape* shape = known_shape(x);
  if (!shape) return object_type();
  const auto axis = static_cast<size_t>(normalize_axis(call, attrs.axis, x->ndim));
  const std::vector<PrimExpr> starts = split_starts(call, attrs, (*shape)[axis], require);
  std::vector<Type> pieces;
  for (size_t n = 0; n <= starts.size(); ++n) {
    Shape piece = *shape;
    const PrimExpr begin = n == 0 ? extent_imm(0) : starts[n - 1],
                   end = n == starts.size() ? (*shape)[axis] : starts[n];
    piece[axis] = arith::simplify(end - begin);
    pieces.push_back(tensor_type(std::move(piece), x->dtype));
  }
  return tuple_type(std::move(pieces));
}
std::vector<te::Tensor> lower_split(const LowerInput& in, const SplitAttrs& attrs) {
  const int64_t axis = normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim()));
  Requirements stated(in.call);
  return topi::split(in[0], split_starts(in.call, attrs, in[0].shape()[static_cast<size_t>(axis)], stated),
                     axis);
}

constexpr OpInfo kOps[] = {
    op<infer_reshape, lower_to_out_shape>(
        "relax.reshape", "x, shape",
        "The same elements in row-major order with another shape; one extent may be -1.", kInjective),
    op<infer_flatten, lower_to_out_shape>("relax.flatten", "x", "The elements in row-major order.",
                                          kInjective),
    op<infer_batch_flatten, lower_to_out_shape>("relax.nn.batch_flatten", "data",
                                                "Joins all dimensions but the first.", kInjective),
    op<infer_permute, lower_permute, AxesAttrs>("relax.permute_dims", "x", "The dimensions in another order.",
                                                kInjective),
    op<infer_expand, lower_to_out_shape, AxisListAttrs>("relax.expand_dims", "x",
                                                        "Inserts dimensions of extent 1.", kInjective),
    op<infer_squeeze, lower_to_out_shape, AxisListAttrs>("relax.squeeze", "x",
                                                         "Removes dimensions of extent 1.", kInjective),
    op<infer_broadcast_to, lower_broadcast_to>("relax.broadcast_to", "x, shape",
                                               "Repeats x along new dimensions and those of extent 1.",
                                               FusePattern::kBroadcast),
    op<infer_tile, lower_tile, TileAttrs>("relax.tile", "data", "Repeats data as a whole.", kInjective),
    op<infer_repeat, lower_repeat, RepeatAttrs>("relax.repeat", "data", "Repeats each element.", kInjective),
    op<infer_flip, lower_flip, AxisAttrs>("relax.flip", "data", "Reverses the elements along a dimension.",
                                          kInjective),
    op<infer_reverse_sequence, lower_reverse_sequence, SequenceAttrs>(
        "relax.reverse_sequence", "data, seq_lengths",
        "Reverses the first elements along a dimension, a given number of them for each batch.", kInjective),
    op<infer_concat, lower_concat, AxisAttrs>("relax.concat", "tensors", "Concatenates tensors.", kInjective),
    op<infer_split, lower_split, SplitAttrs>("relax.split", "x", "Splits a tensor into pieces.", kInjective),
};

}  // namespace

extern constinit const OpTable transform_info =
    op_table(kOps, "numpy.org/doc/stable/reference/routines.array-manipulation.html");

}  // namespace tilewright::relax
