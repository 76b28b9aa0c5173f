// What the inference of operators shares: arguments with their types, axes, broadcasting, and the errors
// about them. Every error opens with the operator's name, names the argument and shows the types it speaks
// of.
#pragma once
#include <fmt/format.h>

#include "tilewright/relax/infer/op.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {

/// "matmul" of relax.matmul
std::string_view name_of(const Call& call);
/// What a message calls argument `n`: "x1".
std::string arg_name(const Call& call, size_t n);
/// Raises UserError unless the number of arguments is one that the operator takes.
void require_arg_count(const Call& call);

/// The type of argument `n`, a tensor.  Raises UserError otherwise.
const TensorTypeNode* tensor_arg(const Call& call, size_t n);
/// The fields of argument `n`, a tuple of tensors.
std::vector<const TensorTypeNode*> tensors_arg(const Call& call, size_t n);
/// The extents that argument `n`, a shape or tuple of scalars, says; null when only their number is known.
/// *ndim is that number, -1 if unknown.
const Shape* shape_arg(const Call& call, size_t n, int64_t* ndim, Shape* storage);
/// Argument `n`, a scalar: its type; `value` may be unknown.
const PrimTypeNode* scalar_arg(const Call& call, size_t n);
/// Raises UserError unless argument `n` has `ndim` dimensions or an unknown number.
void require_ndim(const Call& call, size_t n, int64_t ndim);

/// The numbers of the list `value`, an attribute called `name`: as many as `absent`, which a null stands for.
/// Raises UserError otherwise.
std::vector<double> numbers_attr(const Call& call, std::string_view name, const ObjectRef& value,
                                 std::vector<double> absent);

/// "float32[2, 3]": a tensor type in messages.
std::string short_text(const TensorTypeNode* type);

/// `axis` in 0 .. ndim - 1.  Raises UserError if out of range.
int64_t normalize_axis(const Call& call, int64_t axis, int64_t ndim);
/// All in range, each once, sorted.
std::vector<int64_t> normalize_axes(const Call& call, const std::vector<int64_t>& axes, int64_t ndim);
/// Raises UserError if argument `n` is a tensor of a dtype that is known and not of integers.
void require_indices(const Call& call, size_t n);
/// The type of tensors of the shape of `x`, or as many dimensions if that is not known.
TensorType tensor_type_like(const TensorTypeNode* x, DataType dtype);
/// Raises UserError if argument `n` is a tensor of a dtype that is known and not of floating-point numbers.
void require_float(const Call& call, size_t n);
/// The dtype of both arguments.  Raises UserError when they differ; void if one is unknown.
DataType common_dtype(const Call& call, size_t a, size_t b);
/// The shape of elementwise work on shapes `a` and `b`, as numpy broadcasts.  Of two extents of which it is
/// not known whether they are equal or 1, the graph chooses when it runs.
Shape broadcast_shapes(const Shape& a, const Shape& b, Requirements& require);
/// Requires dimension `dim` of argument `n` of shape `shape` to have elements, if indices of shape `at` ask
/// for some.
void require_elements(const Call& call, size_t n, const Shape& shape, size_t dim, const Shape& at,
                      Requirements& require);
/// Requires indices of shape `at` to be at most as many as data of shape `shape` in dimensions other than
/// `axis`.
void require_lines(const Shape& at, const Shape& shape, size_t axis, Requirements& require);
/// The type of elementwise work on tensor arguments `args` with result dtype `dtype`.
TensorType broadcast_type(const Call& call, const std::vector<size_t>& args, DataType dtype,
                          Requirements& require);

/// Raises a UserError about `call`: "{op}: ..."
template <class... Args>
[[noreturn]] void fail(const Call& call, fmt::format_string<Args...> text, Args&&... args) {
  throw UserError(call, "{}: {}", name_of(call), fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace tilewright::relax
