// Scattering to positions given by tensors, and slices with bounds given by tensors: runtime functions.
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"

namespace tilewright::relax {
namespace {

void require_reduction(const Call& call, const std::string& reduction) {
  for (const char* known : {"update", "add", "mul", "mean", "max", "min"}) {
    if (reduction == known) return;
  }
  fail(call, "reduction is \"{}\", expected \"update\", \"add\", \"mul\", \"mean\", \"max\" or \"min\"",
       reduction);
}

struct ScatterAttrs {
  int64_t axis = 0;
  std::string reduction = "update";
  static constexpr auto fields() {
    return std::tuple{
        field<&ScatterAttrs::axis>("axis", "the dimension that is indexed"),
        field<&ScatterAttrs::reduction>(
            "reduction",
            "how an update is combined with the element: \"update\", \"add\", \"mul\", \"mean\", "
            "\"max\" or \"min\"")};
  }
};
Type infer_scatter_elements(const Call& call, const ScatterAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *indices = tensor_arg(call, 1),
                       *updates = tensor_arg(call, 2);
  require_indices(call, 1);
  common_dtype(call, 0, 2);
  require_reduction(call, attrs.reduction);
  if (x->ndim >= 0) {
    normalize_axis(call, attrs.axis, x->ndim);
    require_ndim(call, 1, x->ndim);
    require_ndim(call, 2, x->ndim);
  }
  const Shape *at = known_shape(indices), *given = known_shape(updates);
  if (at && given) require.equal(*at, *given, "updates is {}, but indices is {}", *given, *at);
  const Shape* shape = known_shape(x);
  if (shape && at)
    require_lines(*at, *shape, static_cast<size_t>(normalize_axis(call, attrs.axis, x->ndim)), require);
  return Type(x);
}

struct ScatterNdAttrs {
  std::string reduction = "update";
  static constexpr auto fields() {
    return std::tuple{field<&ScatterNdAttrs::reduction>(
        "reduction",
        "how updates change elements: \"update\", \"add\", \"mul\", \"mean\", \"max\" or \"min\"")};
  }
};
Type infer_scatter_nd(const Call& call, const ScatterNdAttrs& attrs, Requirements& require) {
  const TensorTypeNode *x = tensor_arg(call, 0), *indices = tensor_arg(call, 1),
                       *updates = tensor_arg(call, 2);
  require_indices(call, 1);
  common_dtype(call, 0, 2);
  require_reduction(call, attrs.reduction);
  const Shape *shape = known_shape(x), *at = known_shape(indices), *given = known_shape(updates);
  if (!shape || !at) return Type(x);
  const auto* depth = at->empty() ? nullptr : at->back().as<IntImmNode>();
  if (!depth || depth->value > x->ndim)
    fail(call, "indices {} do not index data {}", shape_text(*at), shape_text(*shape));
  Shape expected(at->begin(), at->end() - 1);
  expected.insert(expected.end(), shape->begin() + depth->value, shape->end());
  if (given)
    require.equal(*given, expected, "updates is {}, expected {} for indices {} of data {}", *given, expected,
                  *at, *shape);
  return Type(x);
}

struct PutAttrs {
  bool accumulate = false;
  static constexpr auto fields() {
    return std::tuple{field<&PutAttrs::accumulate>("accumulate", "whether values are added to the elements")};
  }
};
Type infer_index_put(const Call& call, const PutAttrs&) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  common_dtype(call, 0, 2);
  const std::vector<const TensorTypeNode*> indices = tensors_arg(call, 1);
  if (indices.empty()) fail(call, "no indices are given");
  if (x->ndim >= 0 && static_cast<int64_t>(indices.size()) > x->ndim)
    fail(call, "{} for {} with {}", count_text(indices.size(), "index tensor"), short_text(x),
         count_text(x->ndim, "dimension"));
  for (size_t field = 0; field < indices.size(); ++field) {
    if (!indices[field]->dtype.is_void() && !indices[field]->dtype.is_integral())
      fail(call, "indices[{}] is {}, expected integers", field, short_text(indices[field]));
  }
  return Type(x);
}

Type infer_dynamic_slice(const Call& call) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  for (size_t n = 1; n < 4; ++n) {
    require_ndim(call, n, 1);
    require_indices(call, n);
    const Shape* shape = known_shape(tensor_arg(call, n));
    const auto* count = shape ? shape->front().as<IntImmNode>() : nullptr;
    if (count && x->ndim >= 0 && count->value != x->ndim)
      fail(call, "{} has {} numbers, expected {}", arg_name(call, n), count->value, x->ndim);
  }
  return tensor_type_of_ndim(x->ndim, x->dtype);
}

constexpr OpInfo kOps[] = {
    runtime_op<infer_scatter_elements, ScatterAttrs>("relax.scatter_elements", "data, indices, updates",
                                                     "data with one element of a row changed for each index.",
                                                     "tilewright.scatter_elements"),
    runtime_op<infer_scatter_nd, ScatterNdAttrs>(
        "relax.scatter_nd", "data, indices, updates",
        "data with elements or slices changed at the rows of indices.", "tilewright.scatter_nd"),
    runtime_op<infer_index_put, PutAttrs>("relax.index_put", "data, indices, values",
                                          "data with data[indices[0], indices[1], ..] set to values.",
                                          "tilewright.index_put"),
    runtime_op<infer_dynamic_slice>("relax.dynamic_strided_slice", "x, begin, end, strides",
                                    "x[begin:end:strides] with bounds from tensors, one per dimension.",
                                    "tilewright.dynamic_strided_slice"),
};

}  // namespace

extern constinit const OpTable scatter_info =
    op_table(kOps, "onnx.ai/onnx/operators (ScatterElements 18, ScatterND 18), torch.Tensor.index_put_");

}  // namespace tilewright::relax
