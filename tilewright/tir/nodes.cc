// The checks that nodes make when they are created, and the dtypes that follow from their operands.
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace {

// Nodes that come from Python or JSON may lack fields, which the rest of the compiler relies on.
template <class T>
void require(const Ref<T>& part, std::string_view node, std::string_view name) {
  TILEWRIGHT_CHECK(part, "{}: the {} is missing", node, name);
}
template <class T>
void require_all(const std::vector<Ref<T>>& parts, std::string_view node, std::string_view name) {
  for (const Ref<T>& part : parts) require(part, node, name);
}

DataType vector_of(const PrimExprNode* node, std::string_view name, DataType element, int64_t lanes) {
  // one of the 16 bits of DataType::lanes marks scalable vectors
  constexpr int64_t kScalable = DataType::kScalable;
  const int64_t count = lanes > kScalable ? lanes - kScalable : lanes;
  if (count < 1 || count >= kScalable || count * (element.lanes & ~kScalable) >= kScalable)
    throw UserError(node, "{}: {} lanes, expected 1 to {}", name, lanes, kScalable - 1);
  return element.with_lanes(static_cast<int>(lanes) * element.lanes);
}

void require_equal_dtypes(const BinaryOpNode& node, std::string_view name) {
  if (!node.a || !node.b) throw InternalError("{}: an operand is missing", name);
  if (node.a->dtype != node.b->dtype)
    throw UserError(&node, "{}: operands have dtypes {} and {}", name, node.a->dtype.str(),
                    node.b->dtype.str());
}

bool is_arithmetic(DataType dtype) { return dtype.is_integral() || dtype.is_float(); }

void arithmetic_verify(BinaryOpNode& node, std::string_view name) {
  require_equal_dtypes(node, name);
  if (!is_arithmetic(node.a->dtype) && !node.a->dtype.is_bool())
    throw UserError(&node, "{}: operands have dtype {}, which has no arithmetic", name, node.a->dtype.str());
  node.dtype = node.a->dtype;
}
void compare_verify(BinaryOpNode& node, std::string_view name) {
  require_equal_dtypes(node, name);
  node.dtype = DataType::bool_(node.a->dtype.lanes);
}
void logic_verify(BinaryOpNode& node, std::string_view name) {
  require_equal_dtypes(node, name);
  if (!node.a->dtype.is_bool())
    throw UserError(&node, "{}: operands have dtype {}, expected bool", name, node.a->dtype.str());
  node.dtype = node.a->dtype;
}

// dtype of an access: the element type times the lanes of the last index
DataType access_dtype(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
  int lanes = buffer->dtype.lanes;
  if (!indices.empty()) lanes *= indices.back()->dtype.lanes;
  return buffer->dtype.with_lanes(lanes);
}

template <class N>
void verify_access(const N& node, std::string_view verb) {
  require(node.buffer, verb, "buffer");
  require_all(node.indices, verb, "index");
  const size_t ndim = node.buffer->shape.size();
  if (node.indices.size() != ndim)
    throw UserError(&node, "buffer {} has {}, but is {} with {} ind{}", node.buffer->name,
                    count_text(ndim, "dimension"), verb, node.indices.size(),
                    node.indices.size() == 1 ? "ex" : "ices");
  for (size_t n = 0; n < ndim; ++n) {
    const DataType dtype = node.indices[n]->dtype;
    if (!dtype.is_integral() && !dtype.is_bool())
      throw UserError(node.indices[n], "an index of buffer {} has dtype {}, expected an integer",
                      node.buffer->name, dtype.str());
    if (n + 1 < ndim && !dtype.is_scalar())
      throw UserError(node.indices[n], "only the last index of buffer {} may be a vector", node.buffer->name);
  }
}

}  // namespace

#define ARITHMETIC(Name, text) \
  void Name##Node::verify() { arithmetic_verify(*this, text); }
ARITHMETIC(Add, "+")
ARITHMETIC(Sub, "-")
ARITHMETIC(Mul, "*")
ARITHMETIC(Div, "/")
ARITHMETIC(Mod, "truncmod")
ARITHMETIC(FloorDiv, "//")
ARITHMETIC(FloorMod, "%")
ARITHMETIC(Min, "min")
ARITHMETIC(Max, "max")
#undef ARITHMETIC
#define COMPARE(Name, text) \
  void Name##Node::verify() { compare_verify(*this, text); }
COMPARE(EQ, "==")
COMPARE(NE, "!=")
COMPARE(LT, "<")
COMPARE(LE, "<=")
COMPARE(GT, ">")
COMPARE(GE, ">=")
#undef COMPARE
void AndNode::verify() { logic_verify(*this, "and"); }
void OrNode::verify() { logic_verify(*this, "or"); }

PrimExpr make_binary(Kind kind, PrimExpr a, PrimExpr b, Span span) {
  switch (kind) {
#define CASE(Name) \
  case Kind::k##Name: return Name##Node::make(std::move(a), std::move(b), std::move(span));
    // clang-format off: it reads the macros as an unfinished expression
    CASE(Add) CASE(Sub) CASE(Mul) CASE(Div) CASE(Mod) CASE(FloorDiv) CASE(FloorMod) CASE(Min) CASE(Max)
    CASE(EQ) CASE(NE) CASE(LT) CASE(LE) CASE(GT) CASE(GE) CASE(And) CASE(Or)
#undef CASE
    default: throw InternalError("make_binary: kind {} has no two operands", static_cast<int>(kind));
    // clang-format on
  }
}

void NotNode::verify() {
  require(a, "not", "operand");
  if (!a->dtype.is_bool())
    throw UserError(this, "not: the operand has dtype {}, expected bool", a->dtype.str());
  dtype = a->dtype;
}

void SelectNode::verify() {
  require(condition, "select", "condition");
  require(true_value, "select", "first value");
  require(false_value, "select", "second value");
  if (!condition->dtype.is_bool())
    throw UserError(this, "select: the condition has dtype {}, expected bool", condition->dtype.str());
  if (true_value->dtype != false_value->dtype)
    throw UserError(this, "select: the values have dtypes {} and {}", true_value->dtype.str(),
                    false_value->dtype.str());
  dtype = true_value->dtype;
}

void BufferLoadNode::verify() {
  verify_access(*this, "read");
  dtype = access_dtype(buffer, indices);
}

void BufferStoreNode::verify() const {
  verify_access(*this, "written");
  require(value, "store", "value");
  const DataType expected = access_dtype(buffer, indices);
  if (value->dtype != expected)
    throw UserError(this, "buffer {} holds {}, but the stored value has dtype {}", buffer->name,
                    expected.str(), value->dtype.str())
        .help("cast the value, e.g. T.Cast(\"{}\", ...)", expected.str());
}

void RampNode::verify() {
  require(base, "ramp", "base");
  require(stride, "ramp", "stride");
  if (base->dtype != stride->dtype)
    throw UserError(this, "ramp: base is {}, stride is {}", base->dtype.str(), stride->dtype.str());
  dtype = vector_of(this, "ramp", base->dtype, lanes);
}

void BroadcastNode::verify() {
  require(value, "broadcast", "value");
  dtype = vector_of(this, "broadcast", value->dtype, lanes);
}

void ShuffleNode::verify() {
  if (vectors.empty() || indices.empty()) throw UserError(this, "shuffle: no vectors or no lanes");
  require_all(vectors, "shuffle", "vector");
  require_all(indices, "shuffle", "lane number");
  dtype = vectors[0]->dtype.with_lanes(static_cast<int>(indices.size()));
}

void LetNode::verify() {
  require(var, "let", "variable");
  require(value, "let", "value");
  require(body, "let", "body");
  if (var->dtype != value->dtype)
    throw UserError(this, "let: {} is {}, its value {}", var->name_hint, var->dtype.str(),
                    value->dtype.str());
  dtype = body->dtype;
}

void ForNode::verify() const {
  TILEWRIGHT_CHECK(loop_var && min && extent && body, "a loop lacks a part");
  const DataType dtype = loop_var->dtype;
  if (!dtype.is_integral() || !dtype.is_scalar())
    throw UserError(this, "loop {} has dtype {}, expected an integer", loop_var->name_hint, dtype.str());
  if (min->dtype != dtype || extent->dtype != dtype)
    throw UserError(this, "loop {} is {}, but its bounds are {} and {}", loop_var->name_hint, dtype.str(),
                    min->dtype.str(), extent->dtype.str());
}

void SeqStmtNode::verify() const {
  TILEWRIGHT_CHECK(seq.size() > 1, "a sequence of {} statements", seq.size());
  for (const Stmt& stmt : seq)
    TILEWRIGHT_CHECK(stmt && !is<SeqStmtNode>(stmt), "a sequence inside a sequence");
}

void BlockRealizeNode::verify() const {
  require(block, "block", "block");
  require(predicate, "block", "predicate");
  require_all(iter_values, "block", "value of an axis");
  if (iter_values.size() != block->iter_vars.size())
    throw UserError(this, "block {} has {} axes, but {} values are given", block->name_hint,
                    block->iter_vars.size(), iter_values.size());
}

void PrimFuncNode::verify() const {
  TILEWRIGHT_CHECK(params.size() == buffers.size(), "a function has {} parameters and {} buffer slots",
                   params.size(), buffers.size());
}

Buffer PrimFuncNode::buffer_of(const VarNode* param) const {
  for (size_t n = 0; n < params.size(); ++n) {
    if (params[n].get() == param) return buffers[n];
  }
  return nullptr;
}

std::string BufferNode::scope() const {
  const auto* pointer = data ? data->type_annotation.as<PointerTypeNode>() : nullptr;
  return pointer && !pointer->storage_scope.empty() ? pointer->storage_scope : "global";
}

}  // namespace tilewright::tir
