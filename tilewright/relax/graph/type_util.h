// Types of graph values: making them, taking them apart, comparing them when dimensions are symbolic.
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
/// R.Tensor(dtype, ndim=ndim): the extents are unknown; ndim -1: so is their number; 0: there are none, the
/// shape is ().
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
/// An int64 literal, what extents are made of.
PrimExpr extent_imm(int64_t value);
Shape extents(const std::vector<int64_t>& values);
/// R.const(data), with its type; `data` is copied only if it is not compact.
Constant make_constant(const runtime::Tensor& data);
/// R.const(value, dtype), without dimensions; null for dtypes other than float16, bfloat16, float32, float64,
/// int8, uint8, int16, int32 and int64.
Constant make_scalar(double value, DataType dtype);
/// The number that a constant without dimensions holds, as a literal; null for other constants, and for
/// dtypes other than float32, float64, bool and the integers of 8 to 64 bits.
PrimExpr literal_of(const ConstantNode* constant);
/// Whether `expr` is made of more than `most` nodes.  Each choice between two open extents names one of them
/// twice: without a limit such expressions double from operator to operator.
bool has_more_nodes(const PrimExpr& expr, int most);
/// `value` as int64: dimensions of graph types have one dtype.
PrimExpr as_extent(PrimExpr value);
/// The same for what a user has written at `span`: raises UserError if it is no integer, or below 0.
PrimExpr checked_extent(const PrimExpr& value, Span span = {});

// ---- taking apart
/// The type of `expr`: the one that inference found, or what a leaf (variable, constant, shape, literal,
/// tuple of such) says by itself; null when it is not known yet.
Type type_of(const Expr& expr);
/// The dtype of the tensor `expr`; void for other values.
DataType dtype_of(const Expr& expr);
/// The extents of a tensor type, or null when they are unknown.
const Shape* known_shape(const TensorTypeNode* type);
/// The extents of the tensor or shape `expr`, or null.
const Shape* known_shape(const Expr& expr);
std::optional<std::vector<int64_t>> constant_extents(const Shape& shape);
/// The same of a tensor expression; nothing if its shape is not known.
std::optional<std::vector<int64_t>> constant_shape(const Expr& expr);

// ---- text for messages
/// "[n, 4]"
std::string shape_text(const Shape& shape);
/// "R.Tensor((n, 4), \"float32\")"
std::string type_text(const Type& type);
/// "R.Tensor((n, 4), \"float32\")" in short: "float32[n, 4]", "tuple(float32[2], object)".
std::string short_type(const Type& type);

// ---- comparing
enum class Answer { kNo, kMaybe, kYes };
/// Whether two extents are equal for all, no, or some values of their variables.
Answer equal_extents(const PrimExpr& a, const PrimExpr& b);
Answer equal_shapes(const Shape& a, const Shape& b);
/// The number of elements, simplified.
PrimExpr num_elements(const Shape& shape);
/// Whether a value of type `given` may be passed where `expected` is asked for: kYes always, kMaybe after a
/// check.
Answer is_subtype(const Type& given, const Type& expected);
/// The smallest type that both belong to: what an `if` gives.
Type common_type(const Type& a, const Type& b);
/// `type` without what uses variables outside `known`: such shapes keep only their number of dimensions.
Type erase_unknown_dims(const Type& type, const std::vector<const tir::VarNode*>& known);
/// The variables that `type` uses as plain dimensions, in order: what a parameter of this type defines.
void collect_defined_dims(const Type& type, std::vector<const tir::VarNode*>* out);

}  // namespace tilewright::relax
