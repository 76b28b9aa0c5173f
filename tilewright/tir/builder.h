// Functions that make TIR: literals, operators that fold constants, statement sequences.
// The operators match dtypes as Python users expect (an int literal takes the other side's type; else the
// wider wins) and fold constants; X::make() builds exactly the node asked for.
#pragma once
#include <initializer_list>
#include <span>

#include "tilewright/tir/tir.h"

namespace tilewright::tir {

// ---- literals and variables
PrimExpr imm(int64_t value, DataType dtype = kInt32);
/// A literal of any arithmetic dtype; vectors become Broadcast.
PrimExpr make_const(DataType dtype, double value);
PrimExpr make_const_int(DataType dtype, int64_t value);
FloatImm float_imm(double value, DataType dtype = kFloat32);
IntImm bool_imm(bool value);
StringImm string_imm(std::string value);
Var make_var(std::string name, DataType dtype = kInt32, Span span = {});
/// A pointer to elements of `dtype` in `scope`.
Var pointer_var(std::string name, DataType dtype, std::string scope = "global");
/// A buffer with its own pointer.
Buffer make_buffer(std::string name, std::vector<PrimExpr> shape, DataType dtype,
                   std::string scope = "global");
Range make_range(PrimExpr min, PrimExpr extent);

/// True if `expr` is an IntImm or the Broadcast of one; *value is then the constant.
bool as_const_int(const PrimExpr& expr, int64_t* value);
bool is_const_int(const PrimExpr& expr, int64_t value);
inline bool is_zero(const PrimExpr& expr) { return is_const_int(expr, 0); }
inline bool is_one(const PrimExpr& expr) { return is_const_int(expr, 1); }

// ---- arithmetic with dtype matching and constant folding
/// Converts both sides to one dtype.  Raises UserError if they have none in common (e.g. handle and int).
void match_dtypes(PrimExpr* a, PrimExpr* b, const Span& where = {});
PrimExpr binary(Kind kind, PrimExpr a, PrimExpr b, Span span = {});
PrimExpr operator+(PrimExpr a, PrimExpr b);
PrimExpr operator-(PrimExpr a, PrimExpr b);
PrimExpr operator*(PrimExpr a, PrimExpr b);
PrimExpr operator-(PrimExpr a);
PrimExpr operator+(PrimExpr a, int64_t b);
PrimExpr operator-(PrimExpr a, int64_t b);
PrimExpr operator*(PrimExpr a, int64_t b);
PrimExpr div(PrimExpr a, PrimExpr b);  // true division of floats, truncating of integers
PrimExpr floordiv(PrimExpr a, PrimExpr b);
PrimExpr floormod(PrimExpr a, PrimExpr b);
PrimExpr floordiv(PrimExpr a, int64_t b);
PrimExpr floormod(PrimExpr a, int64_t b);
PrimExpr ceildiv(PrimExpr a, PrimExpr b);
PrimExpr min(PrimExpr a, PrimExpr b);
PrimExpr max(PrimExpr a, PrimExpr b);
PrimExpr operator<(PrimExpr a, PrimExpr b);
PrimExpr operator<=(PrimExpr a, PrimExpr b);
PrimExpr operator>(PrimExpr a, PrimExpr b);
PrimExpr operator>=(PrimExpr a, PrimExpr b);
PrimExpr operator<(PrimExpr a, int64_t b);
PrimExpr operator<=(PrimExpr a, int64_t b);
PrimExpr operator>(PrimExpr a, int64_t b);
PrimExpr operator>=(PrimExpr a, int64_t b);
PrimExpr equal(PrimExpr a, PrimExpr b);
PrimExpr not_equal(PrimExpr a, PrimExpr b);
PrimExpr logical_and(PrimExpr a, PrimExpr b);
PrimExpr logical_or(PrimExpr a, PrimExpr b);
PrimExpr logical_not(PrimExpr a);
PrimExpr select(PrimExpr condition, PrimExpr true_value, PrimExpr false_value);
/// `value` converted to `dtype`: unchanged if it has that dtype, a converted literal, or a Cast.
PrimExpr cast(DataType dtype, PrimExpr value);
/// A call of an operator of tir/op.h: call(dtype, "tir.exp", {x}).
PrimExpr call(DataType dtype, std::string_view op_name, std::vector<PrimExpr> args);
/// The product of `factors`; int32 1 if there are none.
PrimExpr product(std::span<const PrimExpr> factors);

// ---- buffers
PrimExpr load(const Buffer& buffer, std::vector<PrimExpr> indices);
Stmt store(const Buffer& buffer, PrimExpr value, std::vector<PrimExpr> indices);
/// The region that covers all of `buffer`.
BufferRegion full_region(const Buffer& buffer);

// ---- statements
/// Statements in order: nested sequences are flattened and nulls dropped; none gives an empty Evaluate.
Stmt seq(std::vector<Stmt> stmts);
/// for loop_var in range(extent): body
Stmt loop(Var loop_var, PrimExpr extent, Stmt body, ForKind kind = ForKind::kSerial,
          AttrMap annotations = {});
bool is_no_op(const Stmt& stmt);

// ---- identities of the reductions
/// The smallest / largest value, -inf / inf for floats: where max / min start.
PrimExpr min_value(DataType dtype);
PrimExpr max_value(DataType dtype);

}  // namespace tilewright::tir
