// Types of graph values: making them, inspecting them, comparing them when dimensions are symbolic.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/relax/graph/relax.h"
#include "tilewright/tir/builder.h"

namespace tilewright::relax {

// arithmetic of extents
using tir::operator+;
using tir::operator-;
using tir::operator*;

using Shape = std::vector<PrimExpr>;

// ---- making
/// R.Tensor(shape, dtype)
TensorType tensor_type(Shape shape, DataType dtype, std::string device = "");
/// R.Tensor(dtype, ndim=ndim) with unknown extents; ndim -1: their number is unknown, too; ndim 0: the shape
/// is ().
TensorType tensor_type_of_ndim(int64_t ndim, DataType dtype, std::string device = "");
ShapeType shape_type(Shape values);
ShapeType shape_type_of_ndim(int64_t ndim);
/// The shape `values` as an expression, with its type.
ShapeExpr shape_expr(Shape values, Span span = {});
PrimType prim_type(DataType dtype, PrimExpr value = {});
TupleType tuple_type(std::vector<Type> elements);
Type object_type();
/// The type of no value: R.Tuple().
Type void_type();
bool is_void(const Type& type);
/// An int64 literal, the dtype of extents.
PrimExpr extent_imm(int64_t value);
Shape extents(const std::vector<int64_t>& values);
/// R.const(data), with its type; `data` is copied only if it is not compact.
Constant make_constant(const runtime::Tensor& data);
/// R.const(value, dtype), without dimensions; null for dtypes other than float16, bfloat16, float32, float64,
/// int8, uint8, int16, int32 and int64.
Constant make_scalar(double value, DataType dtype);
/// The value of a constant without dimensions, as a literal; null for other constants, and for dtypes other
/// than float32, float64, bool and the integers of 8 to 64 bits.
PrimExpr literal_of(const ConstantNode* constant);
/// True if `expr` has more than `most` nodes.  An expression that chooses between two open extents contains
/// one of them twice: without a limit such expressions double from operator to operator.
bool has_more_nodes(const PrimExpr& expr, int most);
/// `value` as int64: dimensions of graph types have one dtype.
PrimExpr as_extent(PrimExpr value);
/// The same for an extent that a user has written at `span`: raises UserError if it is no integer or below 0.
PrimExpr checked_extent(const PrimExpr& value, Span span = {});

// ---- inspecting
/// The type of `expr`: the inferred one, or that of a leaf (variable, constant, shape, literal, tuple of
/// these); null if it is not known yet.
Type type_of(const Expr& expr);
/// The dtype of the tensor `expr`; void for other values.
DataType dtype_of(const Expr& expr);
/// The extents of a tensor type, or null when they are unknown.
const Shape* known_shape(const TensorTypeNode* type);
/// The extents of the tensor or shape `expr`, or null.
const Shape* known_shape(const Expr& expr);
std::optional<std::vector<int64_t>> constant_extents(const Shape& shape);
/// The same for a tensor expression; nullopt if its shape is unknown.
std::optional<std::vector<int64_t>> constant_shape(const Expr& expr);

// ---- text for messages
/// "[n, 4]"
std::string shape_text(const Shape& shape);
/// "R.Tensor((n, 4), \"float32\")"
std::string type_text(const Type& type);
/// "float32[n, 4]" for R.Tensor((n, 4), "float32"); "tuple(float32[2], object)".
std::string short_type(const Type& type);

// ---- comparing
enum class Answer { kNo, kMaybe, kYes };
/// kYes if two extents are equal for all values of their variables, kNo if for none, else kMaybe.
Answer equal_extents(const PrimExpr& a, const PrimExpr& b);
Answer equal_shapes(const Shape& a, const Shape& b);
/// The number of elements, simplified.
PrimExpr num_elements(const Shape& shape);
/// kYes if a value of type `given` may be passed as `expected`, kMaybe if it must be checked, else kNo.
Answer is_subtype(const Type& given, const Type& expected);
/// The smallest type that includes both: the type of an `if`.
Type common_type(const Type& a, const Type& b);
/// `type` without variables outside `known`: shapes that use others keep only their number of dimensions.
Type erase_unknown_dims(const Type& type, const std::vector<const tir::VarNode*>& known);
/// Appends the variables that `type` uses as plain dimensions, in order: those that a
/// parameter of it defines.
void collect_defined_dims(const Type& type, std::vector<const tir::VarNode*>* out);

}  // namespace tilewright::relax
