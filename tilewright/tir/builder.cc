// Literals, variables, buffers and statements.  Arithmetic is in arithmetic.cc.
#include "tilewright/tir/builder.h"

#include <limits>

#include "tilewright/tir/op.h"
#include "tilewright/tir/storage_scope.h"

namespace tilewright::tir {

PrimExpr imm(int64_t value, DataType dtype) { return IntImm(IntImmNode::make(dtype, value)); }

FloatImm float_imm(double value, DataType dtype) {
  if (dtype == kFloat32) value = static_cast<double>(static_cast<float>(value));
  return FloatImmNode::make(dtype, value);
}

IntImm bool_imm(bool value) { return IntImmNode::make(kBoolType, static_cast<int64_t>(value)); }
StringImm string_imm(std::string value) { return StringImmNode::make(std::move(value)); }

namespace {
PrimExpr broadcast_to(const PrimExpr& scalar, DataType dtype) {
  if (dtype.is_scalar()) return scalar;
  return BroadcastNode::make(scalar, static_cast<int64_t>(dtype.lanes));
}
}  // namespace

PrimExpr make_const(DataType dtype, double value) {
  const DataType element = dtype.element();
  if (element.is_float()) return broadcast_to(float_imm(value, element), dtype);
  return make_const_int(dtype, static_cast<int64_t>(value));
}

PrimExpr make_const_int(DataType dtype, int64_t value) {
  const DataType element = dtype.element();
  if (element.is_float()) return broadcast_to(float_imm(static_cast<double>(value), element), dtype);
  TILEWRIGHT_CHECK(element.is_integral() || element.is_bool(), "there is no literal of dtype {}",
                   dtype.str());
  return broadcast_to(imm(value, element), dtype);
}

Var make_var(std::string name, DataType dtype, Span span) {
  return VarNode::make(std::move(name), dtype, Type(), std::move(span));
}

Var pointer_var(std::string name, DataType dtype, std::string scope) {
  check_storage_scope(scope);
  Type type = PointerTypeNode::make(Type(PrimTypeNode::make(dtype)), std::move(scope));
  return VarNode::make(std::move(name), DataType::handle(), type);
}

Buffer make_buffer(std::string name, std::vector<PrimExpr> shape, DataType dtype, std::string scope) {
  Var data = pointer_var(name, dtype, std::move(scope));
  return BufferNode::make(data, dtype, std::move(shape), std::vector<PrimExpr>{}, PrimExpr(),
                          std::move(name));
}

Range make_range(PrimExpr min, PrimExpr extent) { return RangeNode::make(std::move(min), std::move(extent)); }

bool as_const_int(const PrimExpr& expr, int64_t* value) {
  if (const auto* literal = expr.as<IntImmNode>()) return *value = literal->value, true;
  if (const auto* vector = expr.as<BroadcastNode>()) return as_const_int(vector->value, value);
  return false;
}

bool is_const_int(const PrimExpr& expr, int64_t value) {
  int64_t found;
  return expr && as_const_int(expr, &found) && found == value;
}

PrimExpr call(DataType dtype, std::string_view op_name, std::vector<PrimExpr> args) {
  return CallNode::make(dtype, Expr(find_op(op_name)), std::move(args));
}

PrimExpr load(const Buffer& buffer, std::vector<PrimExpr> indices) {
  return BufferLoadNode::make(buffer, std::move(indices));
}

Stmt store(const Buffer& buffer, PrimExpr value, std::vector<PrimExpr> indices) {
  return BufferStoreNode::make(buffer, std::move(value), std::move(indices));
}

BufferRegion full_region(const Buffer& buffer) {
  std::vector<Range> region;
  for (const PrimExpr& extent : buffer->shape) region.push_back(make_range(imm(0, extent->dtype), extent));
  return BufferRegionNode::make(buffer, std::move(region));
}

namespace {
void flatten_into(std::vector<Stmt>* out, const Stmt& stmt) {
  if (!stmt || is_no_op(stmt)) return;
  if (const auto* list = stmt.as<SeqStmtNode>()) {
    for (const Stmt& item : list->seq) flatten_into(out, item);
    return;
  }
  out->push_back(stmt);
}
}  // namespace

Stmt seq(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  for (const Stmt& stmt : stmts) flatten_into(&flat, stmt);
  if (flat.empty()) return EvaluateNode::make(imm(0));
  if (flat.size() == 1) return flat[0];
  return SeqStmtNode::make(std::move(flat));
}

Stmt loop(Var loop_var, PrimExpr extent, Stmt body, ForKind kind, AttrMap annotations) {
  PrimExpr zero = imm(0, loop_var->dtype);
  return ForNode::make(zero, std::move(extent), std::move(loop_var), kind, std::string(),
                       std::move(annotations), std::move(body));
}

bool is_no_op(const Stmt& stmt) {
  const auto* evaluate = stmt.as<EvaluateNode>();
  return evaluate && evaluate->value.as<IntImmNode>();
}

PrimExpr min_value(DataType dtype) {
  if (dtype.is_float()) return make_const(dtype, -std::numeric_limits<double>::infinity());
  if (dtype.is_int())
    return make_const_int(dtype, dtype.bits == 64 ? INT64_MIN : -(int64_t{1} << (dtype.bits - 1)));
  if (dtype.is_uint() || dtype.is_bool()) return make_const_int(dtype, 0);
  throw UserError("dtype {} has no smallest value", dtype.str());
}

PrimExpr max_value(DataType dtype) {
  if (dtype.is_float()) return make_const(dtype, std::numeric_limits<double>::infinity());
  if (dtype.is_int())
    return make_const_int(dtype, dtype.bits == 64 ? INT64_MAX : (int64_t{1} << (dtype.bits - 1)) - 1);
  if (dtype.is_uint()) return make_const_int(dtype, dtype.bits == 64 ? -1 : (int64_t{1} << dtype.bits) - 1);
  if (dtype.is_bool()) return make_const_int(dtype, 1);
  throw UserError("dtype {} has no largest value", dtype.str());
}

}  // namespace tilewright::tir
