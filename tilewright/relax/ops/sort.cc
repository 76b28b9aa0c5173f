// Order, rank and sets of elements: runtime functions, because they are no loop nests.
#include <algorithm>

#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

void require_index_dtype(const Call& call, DataType dtype) {
  if (dtype != kInt32 && dtype != kInt64) fail(call, "dtype is {}, expected int32 or int64", dtype.str());
}

struct SortAttrs {
  int64_t axis = -1;
  bool descending = false;
  static constexpr auto fields() {
    return std::tuple{field<&SortAttrs::axis>("axis", "the dimension to sort along"),
                      field<&SortAttrs::descending>("descending", "whether the largest come first")};
  }
};
Type infer_sort(const Call& call, const SortAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (x->ndim >= 0) normalize_axis(call, attrs.axis, x->ndim);
  return tensor_type_like(x, x->dtype);
}

struct ArgsortAttrs : SortAttrs {
  DataType dtype = kInt32;
  static constexpr auto fields() {
    return std::tuple_cat(SortAttrs::fields(),
                          std::tuple{field<&ArgsortAttrs::dtype>("dtype", "dtype of the positions")});
  }
};
Type infer_argsort(const Call& call, const ArgsortAttrs& attrs) {
  require_index_dtype(call, attrs.dtype);
  infer_sort(call, attrs);
  return tensor_type_like(tensor_arg(call, 0), attrs.dtype);
}

struct TopkAttrs {
  int64_t k = 1, axis = -1;
  std::string ret_type = "both";
  bool largest = true;
  DataType dtype = kInt32;
  static constexpr auto fields() {
    return std::tuple{
        field<&TopkAttrs::k>("k", "number of elements; less than 1: all"),
        field<&TopkAttrs::axis>("axis", "the dimension to search"),
        field<&TopkAttrs::ret_type>("ret_type", "\"values\", \"indices\" or \"both\""),
        field<&TopkAttrs::largest>("largest", "whether the largest are taken, else the smallest"),
        field<&TopkAttrs::dtype>("dtype", "dtype of the indices")};
  }
};
Type infer_topk(const Call& call, const TopkAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  require_index_dtype(call, attrs.dtype);
  const std::string& kind = attrs.ret_type;
  if (kind != "values" && kind != "indices" && kind != "both")
    fail(call, "ret_type is \"{}\", expected \"values\", \"indices\" or \"both\"", kind);
  Type values = tensor_type_of_ndim(x->ndim, x->dtype), indices = tensor_type_of_ndim(x->ndim, attrs.dtype);
  if (const Shape* shape = known_shape(x)) {
    Shape result = *shape;
    PrimExpr& extent = result[static_cast<size_t>(normalize_axis(call, attrs.axis, x->ndim))];
    if (attrs.k >= 1)
      require.holds(tir::operator>=(as_extent(extent), attrs.k), "k is {}, but the dimension has {} elements",
                    attrs.k, extent);
    if (attrs.k >= 1) extent = extent_imm(attrs.k);
    values = tensor_type(result, x->dtype);
    indices = tensor_type(result, attrs.dtype);
  }
  return kind == "values" ? values : kind == "indices" ? indices : Type(tuple_type({values, indices}));
}

struct MedianAttrs {
  std::vector<int64_t> axis;
  bool keepdims = false;
  static constexpr auto fields() {
    return std::tuple{field<&MedianAttrs::axis>("axis", "dimensions to reduce; none: all of them"),
                      field<&MedianAttrs::keepdims>("keepdims", "whether they stay with extent 1")};
  }
};
// the values; over one dimension also their positions
Type infer_median(const Call& call, const MedianAttrs& attrs, Requirements& require) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  const bool has_positions = attrs.axis.size() == 1;
  auto result = [&](const std::optional<Shape>& shape, int64_t ndim) -> Type {
    auto typed = [&](DataType dtype) {
      return Type(shape ? tensor_type(*shape, dtype) : tensor_type_of_ndim(ndim, dtype));
    };
    return has_positions ? Type(tuple_type({typed(x->dtype), typed(kInt64)})) : typed(x->dtype);
  };
  if (x->ndim < 0) return result(std::nullopt, -1);
  std::vector<int64_t> axes = normalize_axes(call, attrs.axis, x->ndim);
  auto is_reduced = [&](size_t n) {
    return axes.empty() || std::find(axes.begin(), axes.end(), static_cast<int64_t>(n)) != axes.end();
  };
  const Shape* shape = known_shape(x);
  Shape kept;
  for (size_t n = 0; n < static_cast<size_t>(x->ndim); ++n) {
    if (shape && is_reduced(n))
      require.holds(tir::operator>=(as_extent((*shape)[n]), 1),
                    "dimension {} of x {} has no elements, which have no median", n, *shape);
    if (!is_reduced(n) || attrs.keepdims)
      kept.push_back(!is_reduced(n) && shape ? (*shape)[n] : extent_imm(1));
  }
  return result(shape ? std::optional(kept) : std::nullopt, static_cast<int64_t>(kept.size()));
}

struct UniqueAttrs {
  bool sorted = true, return_index = false, return_inverse = false, return_counts = false;
  std::optional<int64_t> axis;
  static constexpr auto fields() {
    return std::tuple{
        field<&UniqueAttrs::sorted>("sorted",
                                    "true: in ascending order; false: in order of first appearance"),
        field<&UniqueAttrs::return_index>("return_index", "whether to return where each appears first"),
        field<&UniqueAttrs::return_inverse>("return_inverse",
                                            "whether to return the index of each element among them"),
        field<&UniqueAttrs::return_counts>("return_counts", "whether to return how often each appears"),
        field<&UniqueAttrs::axis>("axis", "the dimension whose slices are compared; none: elements are")};
  }
};
Type infer_unique(const Call& call, const UniqueAttrs& attrs) {
  const TensorTypeNode* x = tensor_arg(call, 0);
  if (attrs.axis && x->ndim >= 0) normalize_axis(call, *attrs.axis, x->ndim);
  std::vector<Type> types{tensor_type_of_ndim(attrs.axis ? x->ndim : 1, x->dtype)};
  const int more = attrs.return_index + attrs.return_inverse + attrs.return_counts;
  for (int n = 0; n < more; ++n) types.push_back(tensor_type_of_ndim(1, kInt64));
  return types.size() == 1 ? types[0] : Type(tuple_type(std::move(types)));
}

Type infer_nonzero(const Call& call) {
  tensor_arg(call, 0);
  return tensor_type_of_ndim(2, kInt64);
}

constexpr OpInfo kOps[] = {
    runtime_op<infer_sort, SortAttrs>(
        "relax.sort", "x", "The elements of each row in order, NaN as the largest.", "tilewright.sort"),
    runtime_op<infer_argsort, ArgsortAttrs>(
        "relax.argsort", "data", "The positions that sort each row; equal elements keep their order.",
        "tilewright.argsort"),
    runtime_op<infer_topk, TopkAttrs>(
        "relax.topk", "data", "The k largest elements of each row and their positions.", "tilewright.topk"),
    runtime_op<infer_median, MedianAttrs>(
        "relax.median", "x", "The middle element, of two the lower; over one axis also its position.",
        "tilewright.median"),
    runtime_op<infer_unique, UniqueAttrs>(
        "relax.unique", "x", "The different elements, or slices along an axis.", "tilewright.unique"),
    runtime_op<infer_nonzero>("relax.nonzero", "x",
                              "The indices of elements that are not zero, [ndim, count].",
                              "tilewright.nonzero"),
};

}  // namespace

extern constinit const OpTable sort_info =
    op_table(kOps,
             "numpy.org/doc/stable/reference/routines.sort.html (sort, argsort, nonzero, unique), "
             "torch.topk, torch.median");

}  // namespace tilewright::relax
