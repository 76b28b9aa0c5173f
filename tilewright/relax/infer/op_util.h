// Helpers for the inference of operators: arguments and their types, axes, broadcasting, and errors about
// them.  Every error begins with the operator's name, names the argument and shows the
// types that are in conflict.
#pragma once
#include <fmt/format.h>

#include "tilewright/relax/infer/op.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {

/// "matmul" of relax.matmul
std::string_view name_of(const Call& call);
/// The name of argument `n` in messages: "x1".
std::string arg_name(const Call& call, size_t n);
/// Raises UserError unless the operator accepts this number of arguments.
void require_arg_count(const Call& call);

/// The type of argument `n`, a tensor.  Raises UserError otherwise.
const TensorTypeNode* tensor_arg(const Call& call, size_t n);
/// The fields of argument `n`, a tuple of tensors.
std::vector<const TensorTypeNode*> tensors_arg(const Call& call, size_t n);
/// The extents of argument `n`, a shape or tuple of scalars; null if only their number is known.
/// *ndim is that number, -1 if unknown.
const Shape* shape_arg(const Call& call, size_t n, int64_t* ndim, Shape* storage);
/// Argument `n`, a scalar: its type; `value` may be unknown.
const PrimTypeNode* scalar_arg(const Call& call, size_t n);
/// Raises UserError unless argument `n` has `ndim` dimensions or an unknown number.
void require_ndim(const Call& call, size_t n, int64_t ndim);

/// The numbers of the attribute `name`, the list `value`; `absent` if `value` is null.  Raises UserError
/// unless there are as many as in `absent`.
std::vector<double> numbers_attr(const Call& call, std::string_view name, const ObjectRef& value,
                                 std::vector<double> absent);

/// "float32[2, 3]": a tensor type in messages.
std::string short_text(const TensorTypeNode* type);

/// `axis` in 0 .. ndim - 1.  Raises UserError if out of range.
int64_t normalize_axis(const Call& call, int64_t axis, int64_t ndim);
/// `axes` in range, each once, sorted.  Raises UserError otherwise.
std::vector<int64_t> normalize_axes(const Call& call, const std::vector<int64_t>& axes, int64_t ndim);
/// Raises UserError if argument `n` is a tensor of a dtype that is known and not of integers.
void require_indices(const Call& call, size_t n);
/// The type of tensors of the shape of `x`, or as many dimensions if that is not known.
TensorType tensor_type_like(const TensorTypeNode* x, DataType dtype);
/// Raises UserError if argument `n` is a tensor whose dtype is known and not floating-point.
void require_float(const Call& call, size_t n);
/// The dtype of both arguments.  Raises UserError if they differ; void if one is unknown.
DataType common_dtype(const Call& call, size_t a, size_t b);
/// The broadcast shape of `a` and `b`, as in numpy.  If it is unknown whether two extents are equal or one of
/// them is 1, the extent of the result is computed when the graph runs.
Shape broadcast_shapes(const Shape& a, const Shape& b, Requirements& require);
/// Requires dimension `dim` of argument `n` of shape `shape` to have elements, unless the shape `at` of the
/// indices is empty.
void require_elements(const Call& call, size_t n, const Shape& shape, size_t dim, const Shape& at,
                      Requirements& require);
/// Requires the extents of `at`, the shape of indices, to be at most those of `shape`, the shape of the data,
/// except along `axis`.
void require_lines(const Shape& at, const Shape& shape, size_t axis, Requirements& require);
/// The type of an elementwise operation on tensor arguments `args` with result dtype `dtype`.
TensorType broadcast_type(const Call& call, const std::vector<size_t>& args, DataType dtype,
                          Requirements& require);

/// Raises a UserError about `call`: "{op}: ..."
template <class... Args>
[[noreturn]] void fail(const Call& call, fmt::format_string<Args...> text, Args&&... args) {
  throw UserError(call, "{}: {}", name_of(call), fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace tilewright::relax
