// Loop programs: the nodes of TIR.  The comment of a node is the text of it in a script.
#pragma once
#include "tilewright/ir/expr.h"

namespace tilewright::tir {
using namespace ir;

// ---------------------------------------------------------------- variables, buffers

/// A named scalar or pointer.  Identity is the node, never the name.
struct VarNode final : Node<VarNode, PrimExprNode, Kind::kVar> {
  std::string name_hint;
  Type type_annotation;
  static constexpr auto fields() {
    return std::tuple{
        field<&VarNode::name_hint>("name_hint", "for printing only", Role::kIgnore),
        field<&VarNode::dtype>("dtype", "type of the value; handle for pointers"),
        field<&VarNode::type_annotation>("type_annotation", "PointerType of a typed pointer, else null"),
        field<&VarNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Var = Ref<VarNode>;

/// A: T.Buffer((n, 4), "float32"): a view of memory.  Identity is the node.
struct BufferNode final : Node<BufferNode, Object, Kind::kBuffer> {
  Var data;
  DataType dtype;
  std::vector<PrimExpr> shape;
  std::vector<PrimExpr> strides;
  PrimExpr elem_offset;
  std::string name;
  int64_t data_alignment = 64;
  int64_t offset_factor = 0;
  std::vector<int64_t> axis_separators;
  static constexpr auto fields() {
    return std::tuple{
        field<&BufferNode::data>("data", "pointer to the first element; its PointerType holds the scope",
                                 Role::kDef),
        field<&BufferNode::dtype>("dtype", "type of an element"),
        field<&BufferNode::shape>("shape", "extent of each dimension"),
        field<&BufferNode::strides>("strides", "in elements; empty means compact row-major"),
        field<&BufferNode::elem_offset>("elem_offset", "first element, in elements; null means 0"),
        field<&BufferNode::name>("name", "for printing only", Role::kIgnore),
        field<&BufferNode::data_alignment>("data_alignment", "bytes by which data is aligned"),
        field<&BufferNode::offset_factor>("offset_factor",
                                          "elem_offset is a multiple of this; 0: not promised"),
        field<&BufferNode::axis_separators>("axis_separators", "where dimensions are cut when flattened")};
  }
  /// "global", "shared", "local", ...
  std::string scope() const;
};
using Buffer = Ref<BufferNode>;

/// A[min:min+extent, ...]
struct BufferRegionNode final : Node<BufferRegionNode, Object, Kind::kBufferRegion> {
  Buffer buffer;
  std::vector<Range> region;
  static constexpr auto fields() {
    return std::tuple{field<&BufferRegionNode::buffer>("buffer", "the buffer"),
                      field<&BufferRegionNode::region>("region", "one range per dimension")};
  }
};
using BufferRegion = Ref<BufferRegionNode>;

/// B = T.match_buffer(A[...], shape)
struct MatchBufferRegionNode final : Node<MatchBufferRegionNode, Object, Kind::kMatchBufferRegion> {
  Buffer buffer;
  BufferRegion source;
  static constexpr auto fields() {
    return std::tuple{field<&MatchBufferRegionNode::buffer>("buffer", "the view", Role::kDefRec),
                      field<&MatchBufferRegionNode::source>("source", "the region it views")};
  }
};
using MatchBufferRegion = Ref<MatchBufferRegionNode>;

enum class IterType : uint8_t { kSpatial, kReduce, kScan, kOpaque, kThread };

/// vi = T.axis.spatial(dom, value): an axis of a block (or a reduction or thread axis outside blocks)
struct IterVarNode final : Node<IterVarNode, Object, Kind::kIterVar> {
  Var var;
  Range dom;
  IterType iter_type = IterType::kSpatial;
  std::string thread_tag;
  static constexpr auto fields() {
    return std::tuple{
        field<&IterVarNode::var>("var", "the axis variable", Role::kDef),
        field<&IterVarNode::dom>("dom", "the values it takes; may be null for threads"),
        field<&IterVarNode::iter_type>("iter_type", "how the block uses it: spatial, reduction, ..."),
        field<&IterVarNode::thread_tag>("thread_tag", "\"threadIdx.x\" and the like, or empty")};
  }
};
using IterVar = Ref<IterVarNode>;

// ---------------------------------------------------------------- expressions

/// T.Cast("float32", value)
struct CastNode final : Node<CastNode, PrimExprNode, Kind::kCast> {
  PrimExpr value;
  static constexpr auto fields() {
    return std::tuple{field<&CastNode::dtype>("dtype", "the new type"),
                      field<&CastNode::value>("value", "converted; float to int truncates"),
                      field<&CastNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Cast = Ref<CastNode>;

/// The common base of all two-operand expressions; `dtype` is set by their verify().
struct BinaryOpNode : PrimExprNode, Group<Kind::kBinaryOpBegin, Kind::kBinaryOpEnd> {
  using PrimExprNode::PrimExprNode;
  using Group<Kind::kBinaryOpBegin, Kind::kBinaryOpEnd>::classof;
  PrimExpr a, b;
};
/// A new two-operand node of `kind` from operands of equal dtype (the result dtype follows from the kind).
PrimExpr make_binary(Kind kind, PrimExpr a, PrimExpr b, Span span = {});

#define TILEWRIGHT_BINARY(Name)                                                                   \
  struct Name##Node final : Node<Name##Node, BinaryOpNode, Kind::k##Name> {                       \
    static constexpr auto fields() {                                                              \
      return std::tuple{field<&Name##Node::a>("a", "left operand"),                               \
                        field<&Name##Node::b>("b", "right operand, of the same dtype"),           \
                        field<&Name##Node::span>("span", "where it was written", Role::kIgnore)}; \
    }                                                                                             \
    void verify();                                                                                \
  };                                                                                              \
  using Name = Ref<Name##Node>;

/// a + b
TILEWRIGHT_BINARY(Add)
/// a - b
TILEWRIGHT_BINARY(Sub)
/// a * b
TILEWRIGHT_BINARY(Mul)
/// a / b for floats; T.truncdiv(a, b) for integers
TILEWRIGHT_BINARY(Div)
/// T.truncmod(a, b)
TILEWRIGHT_BINARY(Mod)
/// a // b
TILEWRIGHT_BINARY(FloorDiv)
/// a % b: a - (a // b) * b
TILEWRIGHT_BINARY(FloorMod)
/// T.min(a, b)
TILEWRIGHT_BINARY(Min)
/// T.max(a, b)
TILEWRIGHT_BINARY(Max)
/// a == b
TILEWRIGHT_BINARY(EQ)
/// a != b
TILEWRIGHT_BINARY(NE)
/// a < b
TILEWRIGHT_BINARY(LT)
/// a <= b
TILEWRIGHT_BINARY(LE)
/// a > b
TILEWRIGHT_BINARY(GT)
/// a >= b
TILEWRIGHT_BINARY(GE)
/// a and b
TILEWRIGHT_BINARY(And)
/// a or b
TILEWRIGHT_BINARY(Or)
#undef TILEWRIGHT_BINARY

/// not a
struct NotNode final : Node<NotNode, PrimExprNode, Kind::kNot> {
  PrimExpr a;
  static constexpr auto fields() {
    return std::tuple{field<&NotNode::a>("a", "bool operand"),
                      field<&NotNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify();
};
using Not = Ref<NotNode>;

/// T.Select(condition, true_value, false_value): both values may be evaluated
struct SelectNode final : Node<SelectNode, PrimExprNode, Kind::kSelect> {
  PrimExpr condition, true_value, false_value;
  static constexpr auto fields() {
    return std::tuple{field<&SelectNode::condition>("condition", "bool"),
                      field<&SelectNode::true_value>("true_value", "result where condition holds"),
                      field<&SelectNode::false_value>("false_value", "result elsewhere, same dtype"),
                      field<&SelectNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify();
};
using Select = Ref<SelectNode>;

/// A[i, j]
struct BufferLoadNode final : Node<BufferLoadNode, PrimExprNode, Kind::kBufferLoad> {
  Buffer buffer;
  std::vector<PrimExpr> indices;
  PrimExpr predicate;
  static constexpr auto fields() {
    return std::tuple{
        field<&BufferLoadNode::buffer>("buffer", "read from"),
        field<&BufferLoadNode::indices>("indices", "one per dimension; the last may be a vector"),
        field<&BufferLoadNode::predicate>("predicate", "bool lanes that are read, or null for all"),
        field<&BufferLoadNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify();
};
using BufferLoad = Ref<BufferLoadNode>;

/// A[i, j] of a tensor expression; `producer` is a te.Tensor
struct ProducerLoadNode final : Node<ProducerLoadNode, PrimExprNode, Kind::kProducerLoad> {
  ObjectRef producer;
  std::vector<PrimExpr> indices;
  static constexpr auto fields() {
    return std::tuple{field<&ProducerLoadNode::producer>("producer", "a te.Tensor"),
                      field<&ProducerLoadNode::indices>("indices", "one per dimension"),
                      field<&ProducerLoadNode::dtype>("dtype", "element type"),
                      field<&ProducerLoadNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using ProducerLoad = Ref<ProducerLoadNode>;

/// T.Ramp(base, stride, lanes): base, base + stride, ...
struct RampNode final : Node<RampNode, PrimExprNode, Kind::kRamp> {
  PrimExpr base, stride;
  int64_t lanes = 1;
  static constexpr auto fields() {
    return std::tuple{field<&RampNode::base>("base", "first lane"),
                      field<&RampNode::stride>("stride", "difference of lanes"),
                      field<&RampNode::lanes>("lanes", "> 1"),
                      field<&RampNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify();
};
using Ramp = Ref<RampNode>;

/// T.Broadcast(value, lanes)
struct BroadcastNode final : Node<BroadcastNode, PrimExprNode, Kind::kBroadcast> {
  PrimExpr value;
  int64_t lanes = 1;
  static constexpr auto fields() {
    return std::tuple{field<&BroadcastNode::value>("value", "scalar repeated in each lane"),
                      field<&BroadcastNode::lanes>("lanes", "> 1"),
                      field<&BroadcastNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify();
};
using Broadcast = Ref<BroadcastNode>;

/// T.Shuffle([vectors...], [indices...]): lanes picked from the concatenated vectors
struct ShuffleNode final : Node<ShuffleNode, PrimExprNode, Kind::kShuffle> {
  std::vector<PrimExpr> vectors, indices;
  static constexpr auto fields() {
    return std::tuple{field<&ShuffleNode::vectors>("vectors", "at least one, equal element type"),
                      field<&ShuffleNode::indices>("indices", "constant lane numbers"),
                      field<&ShuffleNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify();
};
using Shuffle = Ref<ShuffleNode>;

/// T.Let(body, where={var: value})
struct LetNode final : Node<LetNode, PrimExprNode, Kind::kLet> {
  Var var;
  PrimExpr value, body;
  static constexpr auto fields() {
    return std::tuple{field<&LetNode::value>("value", "computed once"),
                      field<&LetNode::var>("var", "names it in body", Role::kDef),
                      field<&LetNode::body>("body", "the result"),
                      field<&LetNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify();
};
using Let = Ref<LetNode>;

/// T.exp(x), T.call_extern(...), a call of another function of the module
struct CallNode final : Node<CallNode, PrimExprNode, Kind::kCall> {
  Expr op;
  std::vector<PrimExpr> args;
  AttrMap annotations;
  static constexpr auto fields() {
    return std::tuple{field<&CallNode::dtype>("dtype", "type of the result"),
                      field<&CallNode::op>("op", "an Op of tir/op.h or a GlobalVar"),
                      field<&CallNode::args>("args", "arguments in order"),
                      field<&CallNode::annotations>("annotations", "hints"),
                      field<&CallNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Call = Ref<CallNode>;

/// T.comm_reducer(lambda x, y: ..., [identity])
struct CommReducerNode final : Node<CommReducerNode, Object, Kind::kCommReducer> {
  std::vector<Var> lhs, rhs;
  std::vector<PrimExpr> result, identity;
  static constexpr auto fields() {
    return std::tuple{field<&CommReducerNode::lhs>("lhs", "accumulated values", Role::kDef),
                      field<&CommReducerNode::rhs>("rhs", "new values", Role::kDef),
                      field<&CommReducerNode::result>("result", "the combination, one per value"),
                      field<&CommReducerNode::identity>("identity", "neutral elements")};
  }
};
using CommReducer = Ref<CommReducerNode>;

/// te.sum(source, axis=...): a reduction inside a tensor expression
struct ReduceNode final : Node<ReduceNode, PrimExprNode, Kind::kReduce> {
  CommReducer combiner;
  std::vector<PrimExpr> source;
  std::vector<IterVar> axis;
  PrimExpr condition;
  int64_t value_index = 0;
  std::vector<PrimExpr> init;
  static constexpr auto fields() {
    return std::tuple{field<&ReduceNode::combiner>("combiner", "how two values become one"),
                      field<&ReduceNode::axis>("axis", "the reduction axes", Role::kDef),
                      field<&ReduceNode::source>("source", "the values, one per result"),
                      field<&ReduceNode::condition>("condition", "elements that count; null for all"),
                      field<&ReduceNode::value_index>("value_index", "which result this is"),
                      field<&ReduceNode::init>("init", "starting values instead of the identity, or empty"),
                      field<&ReduceNode::dtype>("dtype", "type of the result"),
                      field<&ReduceNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Reduce = Ref<ReduceNode>;

/// T.index_map(lambda i, j: ...)
struct IndexMapNode final : Node<IndexMapNode, Object, Kind::kIndexMap> {
  std::vector<Var> initial_indices;
  std::vector<PrimExpr> final_indices;
  static constexpr auto fields() {
    return std::tuple{
        field<&IndexMapNode::initial_indices>("initial_indices", "the lambda's parameters", Role::kDef),
        field<&IndexMapNode::final_indices>("final_indices", "the new indices")};
  }
};
using IndexMap = Ref<IndexMapNode>;

// ---------------------------------------------------------------- statements

/// A[i, j] = value
struct BufferStoreNode final : Node<BufferStoreNode, StmtNode, Kind::kBufferStore> {
  Buffer buffer;
  PrimExpr value;
  std::vector<PrimExpr> indices;
  PrimExpr predicate;
  static constexpr auto fields() {
    return std::tuple{
        field<&BufferStoreNode::buffer>("buffer", "written to"),
        field<&BufferStoreNode::value>("value", "of the buffer's dtype, lanes as the indices"),
        field<&BufferStoreNode::indices>("indices", "one per dimension; the last may be a vector"),
        field<&BufferStoreNode::predicate>("predicate", "bool lanes that are written, or null for all"),
        field<&BufferStoreNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify() const;
};
using BufferStore = Ref<BufferStoreNode>;

enum class ForKind : uint8_t { kSerial, kParallel, kVectorized, kUnrolled, kThreadBinding };

/// for loop_var in range(min, min + extent): body
struct ForNode final : Node<ForNode, StmtNode, Kind::kFor> {
  Var loop_var;
  PrimExpr min, extent;
  ForKind for_kind = ForKind::kSerial;
  Stmt body;
  std::string thread_tag;
  AttrMap annotations;
  static constexpr auto fields() {
    return std::tuple{
        field<&ForNode::min>("min", "first value"),
        field<&ForNode::extent>("extent", "trip count; none if <= 0"),
        field<&ForNode::loop_var>("loop_var", "bound in body", Role::kDef),
        field<&ForNode::for_kind>("for_kind", "how it runs"),
        field<&ForNode::thread_tag>("thread_tag", "\"blockIdx.x\", ... when kind is thread binding"),
        field<&ForNode::annotations>("annotations", "hints"),
        field<&ForNode::body>("body", "loop body"),
        field<&ForNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify() const;
};
using For = Ref<ForNode>;

/// while condition: body
struct WhileNode final : Node<WhileNode, StmtNode, Kind::kWhile> {
  PrimExpr condition;
  Stmt body;
  static constexpr auto fields() {
    return std::tuple{field<&WhileNode::condition>("condition", "tested before each iteration"),
                      field<&WhileNode::body>("body", "loop body"),
                      field<&WhileNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using While = Ref<WhileNode>;

/// if condition: then_case else: else_case
struct IfThenElseNode final : Node<IfThenElseNode, StmtNode, Kind::kIfThenElse> {
  PrimExpr condition;
  Stmt then_case, else_case;
  static constexpr auto fields() {
    return std::tuple{field<&IfThenElseNode::condition>("condition", "bool"),
                      field<&IfThenElseNode::then_case>("then_case", "run if it holds"),
                      field<&IfThenElseNode::else_case>("else_case", "run otherwise; may be null"),
                      field<&IfThenElseNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using IfThenElse = Ref<IfThenElseNode>;

/// several statements in order; never empty, never nested
struct SeqStmtNode final : Node<SeqStmtNode, StmtNode, Kind::kSeqStmt> {
  std::vector<Stmt> seq;
  static constexpr auto fields() {
    return std::tuple{field<&SeqStmtNode::seq>("seq", "at least two; none is a SeqStmt"),
                      field<&SeqStmtNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify() const;
};
using SeqStmt = Ref<SeqStmtNode>;

/// var = value (in the rest of the statements, here `body`)
struct LetStmtNode final : Node<LetStmtNode, StmtNode, Kind::kLetStmt> {
  Var var;
  PrimExpr value;
  Stmt body;
  static constexpr auto fields() {
    return std::tuple{field<&LetStmtNode::value>("value", "computed once"),
                      field<&LetStmtNode::var>("var", "names it in body", Role::kDef),
                      field<&LetStmtNode::body>("body", "where it holds"),
                      field<&LetStmtNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using LetStmt = Ref<LetStmtNode>;

/// with T.attr(node, key, value): body.  T.launch_thread(iv, extent) is the key "thread_extent" with an
/// IterVar node.
struct AttrStmtNode final : Node<AttrStmtNode, StmtNode, Kind::kAttrStmt> {
  ObjectRef node;
  std::string attr_key;
  PrimExpr value;
  Stmt body;
  static constexpr auto fields() {
    return std::tuple{field<&AttrStmtNode::node>("node", "the object it describes; may be null", Role::kDef),
                      field<&AttrStmtNode::attr_key>("attr_key", "the property"),
                      field<&AttrStmtNode::value>("value", "its value"),
                      field<&AttrStmtNode::body>("body", "where it holds"),
                      field<&AttrStmtNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using AttrStmt = Ref<AttrStmtNode>;

/// assert condition, message
struct AssertStmtNode final : Node<AssertStmtNode, StmtNode, Kind::kAssertStmt> {
  PrimExpr condition;
  std::string message;
  static constexpr auto fields() {
    return std::tuple{field<&AssertStmtNode::condition>("condition", "must hold at run time"),
                      field<&AssertStmtNode::message>("message", "the error otherwise"),
                      field<&AssertStmtNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using AssertStmt = Ref<AssertStmtNode>;

/// A = T.alloc_buffer(...) as a statement: memory that lives during `body`
struct AllocBufferNode final : Node<AllocBufferNode, StmtNode, Kind::kAllocBuffer> {
  Buffer buffer;
  AttrMap annotations;
  Stmt body;
  static constexpr auto fields() {
    return std::tuple{
        field<&AllocBufferNode::buffer>("buffer", "the new buffer; its data is new too", Role::kDef),
        field<&AllocBufferNode::annotations>("annotations", "hints"),
        field<&AllocBufferNode::body>("body", "where it lives"),
        field<&AllocBufferNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using AllocBuffer = Ref<AllocBufferNode>;

/// A = T.decl_buffer(shape, dtype, data=pointer): another view of existing memory
struct DeclBufferNode final : Node<DeclBufferNode, StmtNode, Kind::kDeclBuffer> {
  Buffer buffer;
  Stmt body;
  static constexpr auto fields() {
    return std::tuple{
        field<&DeclBufferNode::buffer>("buffer", "the view; its data is defined outside", Role::kDef),
        field<&DeclBufferNode::body>("body", "where it may be used"),
        field<&DeclBufferNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using DeclBuffer = Ref<DeclBufferNode>;

/// T.evaluate(value)
struct EvaluateNode final : Node<EvaluateNode, StmtNode, Kind::kEvaluate> {
  PrimExpr value;
  static constexpr auto fields() {
    return std::tuple{field<&EvaluateNode::value>("value", "computed for its effect"),
                      field<&EvaluateNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Evaluate = Ref<EvaluateNode>;

/// with T.block(name): the unit of computation that schedules move
struct BlockNode final : Node<BlockNode, StmtNode, Kind::kBlock> {
  std::string name_hint;
  std::vector<IterVar> iter_vars;
  std::vector<BufferRegion> reads, writes;
  std::vector<Buffer> alloc_buffers;
  std::vector<MatchBufferRegion> match_buffers;
  AttrMap annotations;
  Stmt init, body;
  static constexpr auto fields() {
    return std::tuple{
        field<&BlockNode::name_hint>("name_hint", "how schedules find it", Role::kIgnore),
        field<&BlockNode::iter_vars>("iter_vars", "its axes", Role::kDef),
        field<&BlockNode::alloc_buffers>("alloc_buffers", "memory that lives during the block", Role::kDef),
        field<&BlockNode::reads>("reads", "what it reads, over-approximated"),
        field<&BlockNode::writes>("writes", "what it writes"),
        field<&BlockNode::match_buffers>("match_buffers", "views of regions", Role::kDef),
        field<&BlockNode::annotations>("annotations", "hints and requests"),
        field<&BlockNode::init>("init", "run when all reduce axes are at their start; may be null"),
        field<&BlockNode::body>("body", "what it computes"),
        field<&BlockNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Block = Ref<BlockNode>;

/// the block at its place: axis n takes iter_values[n], where predicate holds
struct BlockRealizeNode final : Node<BlockRealizeNode, StmtNode, Kind::kBlockRealize> {
  std::vector<PrimExpr> iter_values;
  PrimExpr predicate;
  Block block;
  static constexpr auto fields() {
    return std::tuple{
        field<&BlockRealizeNode::iter_values>("iter_values", "value of each axis"),
        field<&BlockRealizeNode::predicate>("predicate", "bool; the block is skipped where false"),
        field<&BlockRealizeNode::block>("block", "what is run"),
        field<&BlockRealizeNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify() const;
};
using BlockRealize = Ref<BlockRealizeNode>;

/// @T.prim_func.  A scheduled function's body is a BlockRealize of the root block; a lowered one's is plain
/// statements.
struct PrimFuncNode final : Node<PrimFuncNode, BaseFuncNode, Kind::kPrimFunc> {
  std::vector<Var> params;
  std::vector<Buffer> buffers;
  Stmt body;
  Type ret_type;
  static constexpr auto fields() {
    return std::tuple{field<&PrimFuncNode::params>("params", "handles and scalars", Role::kDefRec),
                      field<&PrimFuncNode::buffers>(
                          "buffers", "the buffer of each handle parameter; null for others", Role::kDefRec),
                      field<&PrimFuncNode::body>("body", "what it does"),
                      field<&PrimFuncNode::ret_type>("ret_type", "type of the result; null: none"),
                      field<&PrimFuncNode::attrs>("attrs", "\"global_symbol\", \"tir.noalias\", ..."),
                      field<&PrimFuncNode::span>("span", "where it was written", Role::kIgnore)};
  }
  void verify() const;
  /// The buffer that parameter `param` stands for, or null.
  Buffer buffer_of(const VarNode* param) const;
};
using PrimFunc = Ref<PrimFuncNode>;

}  // namespace tilewright::tir
