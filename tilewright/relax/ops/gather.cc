// Elements chosen by tensors of indices: gather_elements, gather_nd, index_tensor, one_hot, slice_scatter,
// bucketize, searchsorted, multinomial_from_uniform.
#include "tilewright/te/topi/gather.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"

namespace tilewright::relax {
namespace {

struct AxisAttrs {
  int64_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{field<&AxisAttrs::axis>("axis", "the dimension that is indexed")};
  }
};
Type infer_gather_elements(const Call& call, const AxisAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *indices = tensor_arg(call, 1);
  require_indices(call, 1);
  if (x->ndim >= 0) {
    require_ndim(call, 1, x->ndim);
    const auto axis = static_cast<size_t>(normalize_axis(call, attrs.axis, x->ndim));
    const Shape *shape = known_shape(x), *at = known_shape(indices);
    if (shape && at) {
      require_elements(call, 0, *shape, axis, *at, require);
      require_lines(*at, *shape, axis, require);
    }
  }
  return tensor_type_like(indices, x->dtype);
}
te::Tensor lower_gather_elements(const LowerInput& in, const AxisAttrs& attrs) {
  return topi::gather_elements(in[0], in[1],
                               normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim())));
}

struct BatchAttrs {
  int64_t batch_dims = 0;
  static constexpr auto fields() {
    return std::tuple{field<&BatchAttrs::batch_dims>(
        "batch_dims", "number of leading dimensions that data and indices share")};
  }
};
Type infer_gather_nd(const Call& call, const BatchAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *indices = tensor_arg(call, 1);
  require_indices(call, 1);
  const Shape *shape = known_shape(x), *at = known_shape(indices);
  if (!shape || !at) return tensor_type_of_ndim(-1, x->dtype);
  const auto* depth = at->empty() ? nullptr : at->back().as<IntImmNode>();
  if (!depth) fail(call, "the last dimension of indices {} is not a constant", shape_text(*at));
  const int64_t batch = attrs.batch_dims;
  if (batch < 0 || batch >= static_cast<int64_t>(at->size()) || batch + depth->value > x->ndim)
    fail(call, "indices {} with batch_dims {} do not index data {}", shape_text(*at), batch,
         shape_text(*shape));
  for (int64_t n = 0; n < batch; ++n) {
    const auto dim = static_cast<size_t>(n);
    require.equal((*shape)[dim], (*at)[dim],
                  "data is {}, but indices is {}: they differ in dimension {} of {}", *shape, *at, dim,
                  batch);
  }
  const Shape rows(at->begin(), at->end() - 1);
  for (int64_t n = batch; n < batch + depth->value; ++n)
    require_elements(call, 0, *shape, static_cast<size_t>(n), rows, require);
  Shape result(at->begin(), at->end() - 1);
  result.insert(result.end(), shape->begin() + batch + depth->value, shape->end());
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_gather_nd(const LowerInput& in, const BatchAttrs& attrs) {
  return topi::gather_nd(in[0], in[1], attrs.batch_dims);
}

// The broadcast shape of the fields of argument `n`, a tuple of index tensors.
std::optional<Shape> places_of(const Call& call, size_t n, const TensorTypeNode* x, Requirements& require) {
  const std::vector<const TensorTypeNode*> indices = tensors_arg(call, n);
  if (indices.empty()) fail(call, "no indices are given");
  if (x->ndim >= 0 && static_cast<int64_t>(indices.size()) > x->ndim)
    fail(call, "{} index tensors for {} with {}", indices.size(), short_text(x),
         count_text(x->ndim, "dimension"));
  std::optional<Shape> places = Shape{};
  for (size_t field = 0; field < indices.size(); ++field) {
    if (!indices[field]->dtype.is_void() && !indices[field]->dtype.is_integral())
      fail(call, "{}[{}] is {}, expected integers", arg_name(call, n), field, short_text(indices[field]));
    const Shape* shape = known_shape(indices[field]);
    if (!shape) places.reset();
    if (places) places = broadcast_shapes(*places, *shape, require);
  }
  return places;
}
Type infer_index_tensor(const Call& call, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const std::optional<Shape> places = places_of(call, 1, x, require);
  const Shape* shape = known_shape(x);
  if (!places || !shape) return tensor_type_of_ndim(-1, x->dtype);
  for (size_t dim = 0; dim < tensors_arg(call, 1).size(); ++dim)
    require_elements(call, 0, *shape, dim, *places, require);
  Shape result = *places;
  result.insert(result.end(), shape->begin() + static_cast<long>(tensors_arg(call, 1).size()), shape->end());
  return tensor_type(std::move(result), x->dtype);
}
te::Tensor lower_index_tensor(const LowerInput& in) {
  const Shape& shape = in.out_shape();
  const size_t kept = in[0].ndim() - in.args[1].size();
  return topi::index_tensor(in[0], in.args[1], Shape(shape.begin(), shape.end() - static_cast<long>(kept)));
}

struct OneHotAttrs {
  int64_t depth = 1, axis = -1;
  static constexpr auto fields() {
    return std::tuple{field<&OneHotAttrs::depth>("depth", "extent of the new dimension"),
                      field<&OneHotAttrs::axis>("axis", "position of the new dimension in the result")};
  }
};
Type infer_one_hot(const Call& call, const OneHotAttrs& attrs) {
  const TensorTypeNode* indices = tensor_arg(call, 0);
  require_indices(call, 0);
  const DataType dtype = scalar_arg(call, 1)->dtype;
  if (scalar_arg(call, 2)->dtype != dtype)
    fail(call, "on_value is {}, but off_value is {}", dtype.str(), scalar_arg(call, 2)->dtype.str());
  if (attrs.depth < 1) fail(call, "depth is {}, expected at least 1", attrs.depth);
  if (indices->ndim < 0) return tensor_type_of_ndim(-1, dtype);
  const int64_t axis = normalize_axis(call, attrs.axis, indices->ndim + 1);
  const Shape* shape = known_shape(indices);
  if (!shape) return tensor_type_of_ndim(indices->ndim + 1, dtype);
  Shape result = *shape;
  result.insert(result.begin() + axis, extent_imm(attrs.depth));
  return tensor_type(std::move(result), dtype);
}
te::Tensor lower_one_hot(const LowerInput& in, const OneHotAttrs& attrs) {
  return topi::one_hot(in[0], in.scalar(1), in.scalar(2), attrs.depth,
                       normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim()) + 1),
                       in.out_dtype());
}

Type infer_slice_scatter(const Call& call, const AxisAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *source = tensor_arg(call, 1);
  common_dtype(call, 0, 1);
  for (size_t n = 2; n < 5; ++n) scalar_arg(call, n);
  if (x->ndim < 0) return Type(x);
  require_ndim(call, 1, x->ndim);
  const auto axis = static_cast<size_t>(normalize_axis(call, attrs.axis, x->ndim));
  const PrimTypeNode *begin = scalar_arg(call, 2), *end = scalar_arg(call, 3), *step = scalar_arg(call, 4);
  const auto* stride = step->value ? step->value.as<IntImmNode>() : nullptr;
  if (stride && stride->value < 1) fail(call, "step is {}, expected at least 1", stride->value);
  const Shape *shape = known_shape(x), *given = known_shape(source);
  if (!shape || !given || !begin->value || !end->value || !stride) return Type(x);
  Shape expected = *shape;
  expected[axis] =
      tir::floordiv(as_extent(end->value) - as_extent(begin->value) + (stride->value - 1), stride->value);
  require.equal(expected, *given, "src is {}, but the slice of input {} is {}", *given, *shape, expected);
  return Type(x);
}
te::Tensor lower_slice_scatter(const LowerInput& in, const AxisAttrs& attrs) {
  return topi::slice_scatter(in[0], in[1], as_extent(in.scalar(2)), as_extent(in.scalar(4)),
                             normalize_axis(in.call, attrs.axis, static_cast<int64_t>(in[0].ndim())));
}

struct BucketizeAttrs {
  bool out_int32 = false, right = false;
  static constexpr auto fields() {
    return std::tuple{
        field<&BucketizeAttrs::out_int32>("out_int32", "whether the result is int32, else int64"),
        field<&BucketizeAttrs::right>("right", "whether equal elements of the sorted ones come before it")};
  }
};
Type infer_bucketize(const Call& call, const BucketizeAttrs& attrs) {
  require_ndim(call, 1, 1);
  common_dtype(call, 0, 1);
  return tensor_type_like(tensor_arg(call, 0), attrs.out_int32 ? kInt32 : kInt64);
}
te::Tensor lower_bucketize(const LowerInput& in, const BucketizeAttrs& attrs) {
  return topi::searchsorted(in[1], in[0], attrs.right, in.out_dtype());
}

// the same with the sorted elements first, which may have a row for each row of x
Type infer_searchsorted(const Call& call, const BucketizeAttrs& attrs, Requirements& require) {
  common_dtype(call, 0, 1);
  const TensorTypeNode *sorted = tensor_arg(call, 0), *x = tensor_arg(call, 1);
  if (sorted->ndim == 0) fail(call, "sorted_sequence is {}, expected lines", short_text(sorted));
  const Shape *lines = known_shape(sorted), *shape = known_shape(x);
  if (sorted->ndim > 1 && x->ndim >= 0 && sorted->ndim != x->ndim)
    fail(call, "sorted_sequence is {}, but values is {}: they differ before the last dimension",
         short_text(sorted), short_text(x));
  for (size_t n = 0; lines && shape && n + 1 < lines->size(); ++n)
    require.equal((*lines)[n], (*shape)[n],
                  "sorted_sequence is {}, but values is {}: they differ before the last dimension", *lines,
                  *shape);
  if (sorted->ndim < 0)
    throw Unsupported(call, "{}: the number of dimensions of sorted_sequence is not known", name_of(call));
  return tensor_type_like(x, attrs.out_int32 ? kInt32 : kInt64);
}
te::Tensor lower_searchsorted(const LowerInput& in, const BucketizeAttrs& attrs) {
  return topi::searchsorted(in[0], in[1], attrs.right, in.out_dtype());
}

struct SampleAttrs {
  DataType dtype = kInt64;
  static constexpr auto fields() {
    return std::tuple{field<&SampleAttrs::dtype>("dtype", "dtype of the classes")};
  }
};
Type infer_multinomial(const Call& call, const SampleAttrs& attrs, Requirements& require) {
  for (size_t n = 0; n < 3; ++n) require_ndim(call, n, 2);
  common_dtype(call, 0, 1);
  require_indices(call, 2);
  const Shape *draws = known_shape(tensor_arg(call, 1)), *rows = known_shape(tensor_arg(call, 2));
  if (draws && rows)
    require.equal((*draws)[0], (*rows)[0], "uniform_sample is {}, but sample_indices is {}", *draws, *rows);
  return tensor_type_like(tensor_arg(call, 1), attrs.dtype);
}
te::Tensor lower_multinomial(const LowerInput& in, const SampleAttrs& attrs) {
  return topi::multinomial(in[0], in[1], in[2], attrs.dtype);
}

constexpr FusePattern kInjective = FusePattern::kInjective, kOpaque = FusePattern::kOpaque;
constexpr OpInfo kOps[] = {
    op<infer_gather_elements, lower_gather_elements, AxisAttrs>(
        "relax.gather_elements", "data, indices", "One element of a row for each index.", kInjective),
    op<infer_gather_nd, lower_gather_nd, BatchAttrs>(
        "relax.gather_nd", "data, indices", "Elements or slices at the rows of indices.", kInjective),
    op<infer_index_tensor, lower_index_tensor>("relax.index_tensor", "data, indices",
                                               "data[indices[0], indices[1], ..] as numpy.", kInjective),
    op<infer_one_hot, lower_one_hot, OneHotAttrs>(
        "relax.one_hot", "indices, on_value, off_value",
        "on_value at the index along a new dimension, else off_value.", kInjective),
    op<infer_slice_scatter, lower_slice_scatter, AxisAttrs>(
        "relax.slice_scatter", "input_tensor, src, start, end, step",
        "input_tensor with a slice replaced by src.", kInjective),
    op<infer_bucketize, lower_bucketize, BucketizeAttrs>(
        "relax.bucketize", "input_tensor, boundaries",
        "The interval between sorted boundaries of each element.", kOpaque),
    op<infer_searchsorted, lower_searchsorted, BucketizeAttrs>(
        "relax.searchsorted", "sorted_sequence, values",
        "The position of each value in a sorted row, before elements equal to it.", kOpaque),
    op<infer_multinomial, lower_multinomial, SampleAttrs>(
        "relax.multinomial_from_uniform", "prob, uniform_sample, sample_indices",
        "Draws classes from rows of probabilities by given uniform numbers.", kOpaque),
};

}  // namespace

extern constinit const OpTable gather_info =
    op_table(kOps,
             "onnx.ai/onnx/operators (GatherElements 13, GatherND 13, OneHot 11), numpy.searchsorted, "
             "torch.bucketize, torch.multinomial");

}  // namespace tilewright::relax
