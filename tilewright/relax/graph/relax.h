// Graphs: the nodes of Relax.  The comment of a node is the text of it in a script.
#pragma once
#include "tilewright/ir/module.h"
#include "tilewright/runtime/tensor.h"
#include "tilewright/tir/tir.h"

namespace tilewright::relax {
using namespace ir;
using RelaxExpr = Ref<RelaxExprNode>;

// ---------------------------------------------------------------- types

/// R.Tensor((n, 4), "float32"), R.Tensor("float32", ndim=2), R.Tensor
struct TensorTypeNode final : Node<TensorTypeNode, TypeNode, Kind::kTensorType> {
  Expr shape;
  DataType dtype = DataType::void_();
  int64_t ndim = -1;
  std::string device;
  static constexpr auto fields() {
    return std::tuple{
        field<&TensorTypeNode::shape>("shape", "a ShapeExpr, or a Var of shape type, or null: unknown"),
        field<&TensorTypeNode::dtype>("dtype", "element type; void: unknown"),
        field<&TensorTypeNode::ndim>("ndim", "number of dimensions; -1: unknown"),
        field<&TensorTypeNode::device>("device", "virtual device, e.g. \"cpu:0\"; empty: any")};
  }
  void verify();  // ndim follows from a known shape
};
using TensorType = Ref<TensorTypeNode>;

/// R.Shape([n, 4]), R.Shape(ndim=2), R.Shape
struct ShapeTypeNode final : Node<ShapeTypeNode, TypeNode, Kind::kShapeType> {
  std::vector<PrimExpr> values;
  int64_t ndim = -1;
  bool is_known = false;
  static constexpr auto fields() {
    return std::tuple{field<&ShapeTypeNode::values>("values", "the extents, when is_known"),
                      field<&ShapeTypeNode::ndim>("ndim", "number of dimensions; -1: unknown"),
                      field<&ShapeTypeNode::is_known>("is_known", "true if values are the extents")};
  }
};
using ShapeType = Ref<ShapeTypeNode>;

/// R.Callable((params...), ret, purity)
struct CallableTypeNode final : Node<CallableTypeNode, TypeNode, Kind::kCallableType> {
  std::vector<Type> params;
  Type ret;
  bool is_pure = true;
  bool is_opaque = false;
  static constexpr auto fields() {
    return std::tuple{
        field<&CallableTypeNode::params>("params", "parameter types, unless is_opaque", Role::kDefRec),
        field<&CallableTypeNode::ret>("ret", "type of the result"),
        field<&CallableTypeNode::is_pure>("is_pure", "no side effect"),
        field<&CallableTypeNode::is_opaque>("is_opaque", "parameters unknown")};
  }
};
using CallableType = Ref<CallableTypeNode>;

// ---------------------------------------------------------------- expressions

/// A named value; its type is known.  Identity is the node.
struct VarBaseNode : RelaxExprNode {
  using RelaxExprNode::RelaxExprNode;
  static bool classof(const Object& o) { return o.kind == Kind::kRelaxVar || o.kind == Kind::kDataflowVar; }
  std::string name_hint;
};
using AnyVar = Ref<VarBaseNode>;

/// x: R.Tensor(...)
struct VarNode final : Node<VarNode, VarBaseNode, Kind::kRelaxVar> {
  static constexpr auto fields() {
    return std::tuple{field<&VarNode::name_hint>("name_hint", "for printing only", Role::kIgnore),
                      field<&VarNode::type>("type", "type of the value"),
                      field<&VarNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Var = Ref<VarNode>;

/// lv: a variable visible only inside its dataflow block
struct DataflowVarNode final : Node<DataflowVarNode, VarBaseNode, Kind::kDataflowVar> {
  static constexpr auto fields() {
    return std::tuple{field<&DataflowVarNode::name_hint>("name_hint", "for printing only", Role::kIgnore),
                      field<&DataflowVarNode::type>("type", "type of the value"),
                      field<&DataflowVarNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using DataflowVar = Ref<DataflowVarNode>;

/// R.const(value): a tensor held in the program
struct ConstantNode final : Node<ConstantNode, RelaxExprNode, Kind::kConstant> {
  runtime::Tensor data;
  static constexpr auto fields() {
    return std::tuple{field<&ConstantNode::data>("data", "the values, on the CPU, compact"),
                      field<&ConstantNode::type>("type", "R.Tensor of its shape and dtype", Role::kIgnore),
                      field<&ConstantNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Constant = Ref<ConstantNode>;

/// (a, b)
struct TupleNode final : Node<TupleNode, RelaxExprNode, Kind::kRelaxTuple> {
  std::vector<Expr> elements;
  static constexpr auto fields() {
    return std::tuple{field<&TupleNode::elements>("elements", "in order"),
                      field<&TupleNode::type>("type", "what inference found", Role::kIgnore),
                      field<&TupleNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Tuple = Ref<TupleNode>;

/// t[0]
struct TupleGetItemNode final : Node<TupleGetItemNode, RelaxExprNode, Kind::kTupleGetItem> {
  Expr tuple;
  int64_t index = 0;
  static constexpr auto fields() {
    return std::tuple{field<&TupleGetItemNode::tuple>("tuple", "of tuple type"),
                      field<&TupleGetItemNode::index>("index", "0 <= index < number of elements"),
                      field<&TupleGetItemNode::type>("type", "what inference found", Role::kIgnore),
                      field<&TupleGetItemNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using TupleGetItem = Ref<TupleGetItemNode>;

/// R.shape([n, 4])
struct ShapeExprNode final : Node<ShapeExprNode, RelaxExprNode, Kind::kShapeExpr> {
  std::vector<PrimExpr> values;
  static constexpr auto fields() {
    return std::tuple{field<&ShapeExprNode::values>("values", "int64 extents"),
                      field<&ShapeExprNode::type>("type", "what inference found", Role::kIgnore),
                      field<&ShapeExprNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using ShapeExpr = Ref<ShapeExprNode>;

/// R.prim_value(n)
struct PrimValueNode final : Node<PrimValueNode, RelaxExprNode, Kind::kPrimValue> {
  PrimExpr value;
  static constexpr auto fields() {
    return std::tuple{field<&PrimValueNode::value>("value", "a scalar"),
                      field<&PrimValueNode::type>("type", "what inference found", Role::kIgnore),
                      field<&PrimValueNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using PrimValue = Ref<PrimValueNode>;

/// R.str("text")
struct StringValueNode final : Node<StringValueNode, RelaxExprNode, Kind::kStringValue> {
  std::string value;
  static constexpr auto fields() {
    return std::tuple{field<&StringValueNode::value>("value", "the text"),
                      field<&StringValueNode::type>("type", "R.Object", Role::kIgnore),
                      field<&StringValueNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using StringValue = Ref<StringValueNode>;

/// R.dtype("float32")
struct DataTypeValueNode final : Node<DataTypeValueNode, RelaxExprNode, Kind::kDataTypeValue> {
  DataType value;
  static constexpr auto fields() {
    return std::tuple{field<&DataTypeValueNode::value>("value", "the dtype"),
                      field<&DataTypeValueNode::type>("type", "R.Object", Role::kIgnore),
                      field<&DataTypeValueNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using DataTypeValue = Ref<DataTypeValueNode>;

/// R.matmul(a, b), R.call_tir(cls.f, (x,), out_sinfo=...), f(x)
/// call_tir:
///   op         "relax.call_tir"
///   args       GlobalVar or ExternFunc, Tuple of tensors [, ShapeExpr of extra integers]
///   type_args  one TensorType per output
/// call_dps_packed: the same with an ExternFunc.
struct CallNode final : Node<CallNode, RelaxExprNode, Kind::kRelaxCall> {
  Expr op;
  std::vector<Expr> args;
  AttrMap attrs;
  std::vector<Type> type_args;
  static constexpr auto fields() {
    return std::tuple{
        field<&CallNode::op>("op", "an Op, a GlobalVar, an ExternFunc or a variable of callable type"),
        field<&CallNode::args>("args", "arguments in order"),
        field<&CallNode::attrs>("attrs", "the operator's attributes"),
        field<&CallNode::type_args>("type_args", "types given by the user, e.g. of call_tir's outputs"),
        field<&CallNode::type>("type", "what inference found", Role::kIgnore),
        field<&CallNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Call = Ref<CallNode>;

struct SeqExprNode;

/// if cond: true_branch else: false_branch
struct IfNode final : Node<IfNode, RelaxExprNode, Kind::kRelaxIf> {
  Expr cond, true_branch, false_branch;
  static constexpr auto fields() {
    return std::tuple{field<&IfNode::cond>("cond", "a bool scalar tensor"),
                      field<&IfNode::true_branch>("true_branch", "a SeqExpr"),
                      field<&IfNode::false_branch>("false_branch", "a SeqExpr"),
                      field<&IfNode::type>("type", "what inference found", Role::kIgnore),
                      field<&IfNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using If = Ref<IfNode>;

// ---------------------------------------------------------------- bindings

struct BindingNode : Object, Group<Kind::kBindingBegin, Kind::kBindingEnd> {
  using Group::classof;
  using Object::Object;
  AnyVar var;
  Expr value;
  Span span;
};
using Binding = Ref<BindingNode>;

/// var = value
struct VarBindingNode final : Node<VarBindingNode, BindingNode, Kind::kVarBinding> {
  static constexpr auto fields() {
    // the variable is defined first: a local function may call itself
    return std::tuple{field<&VarBindingNode::var>("var", "names it", Role::kDef),
                      field<&VarBindingNode::value>("value", "the value"),
                      field<&VarBindingNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using VarBinding = Ref<VarBindingNode>;

/// var = R.match_cast(value, type): checked at run time; defines the variables of `pattern` that are new
struct MatchCastNode final : Node<MatchCastNode, BindingNode, Kind::kMatchCast> {
  Type pattern;
  static constexpr auto fields() {
    return std::tuple{field<&MatchCastNode::value>("value", "the value"),
                      field<&MatchCastNode::pattern>("pattern", "the type it must have", Role::kDefRec),
                      field<&MatchCastNode::var>("var", "names it", Role::kDef),
                      field<&MatchCastNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using MatchCast = Ref<MatchCastNode>;

struct BindingBlockNode : Object, Group<Kind::kBindingBlockBegin, Kind::kBindingBlockEnd> {
  using Group::classof;
  using Object::Object;
  std::vector<Binding> bindings;
};
using BindingBlock = Ref<BindingBlockNode>;

/// bindings outside a dataflow block
struct PlainBlockNode final : Node<PlainBlockNode, BindingBlockNode, Kind::kPlainBlock> {
  static constexpr auto fields() {
    return std::tuple{field<&PlainBlockNode::bindings>("bindings", "in order")};
  }
};
using PlainBlock = Ref<PlainBlockNode>;

/// with R.dataflow(): no side effects, no branches; only plain variables (not
/// DataflowVar) are visible outside
struct DataflowBlockNode final : Node<DataflowBlockNode, BindingBlockNode, Kind::kDataflowBlock> {
  static constexpr auto fields() {
    return std::tuple{field<&DataflowBlockNode::bindings>("bindings", "in order")};
  }
};
using DataflowBlock = Ref<DataflowBlockNode>;

/// bindings, then the result
struct SeqExprNode final : Node<SeqExprNode, RelaxExprNode, Kind::kSeqExpr> {
  std::vector<BindingBlock> blocks;
  Expr body;
  static constexpr auto fields() {
    return std::tuple{
        field<&SeqExprNode::blocks>("blocks", "in order"),
        field<&SeqExprNode::body>("body", "the result; a leaf: variable, constant, tuple of leaves, ..."),
        field<&SeqExprNode::type>("type", "what inference found", Role::kIgnore),
        field<&SeqExprNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using SeqExpr = Ref<SeqExprNode>;

/// @R.function
struct FunctionNode final : Node<FunctionNode, BaseFuncNode, Kind::kRelaxFunction> {
  std::vector<Var> params;
  Expr body;
  Type ret_type;
  bool is_pure = true;
  static constexpr auto fields() {
    return std::tuple{
        field<&FunctionNode::params>("params", "parameters; their shapes define dimensions", Role::kDefRec),
        field<&FunctionNode::body>("body", "a SeqExpr"),
        field<&FunctionNode::ret_type>("ret_type", "type of the result"),
        field<&FunctionNode::is_pure>("is_pure", "no side effect"),
        field<&FunctionNode::attrs>("attrs", "\"global_symbol\", \"num_input\", ..."),
        field<&FunctionNode::type>("type", "CallableType, what inference found", Role::kIgnore),
        field<&FunctionNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using Function = Ref<FunctionNode>;

/// R.ExternFunc("env.linear"): a function of the run-time registry, which may have a name in the module
struct ExternFuncNode final : Node<ExternFuncNode, BaseFuncNode, Kind::kExternFunc> {
  std::string global_symbol;
  static constexpr auto fields() {
    return std::tuple{field<&ExternFuncNode::global_symbol>("global_symbol", "name in the registry"),
                      field<&ExternFuncNode::attrs>("attrs", "of the function, where it has some"),
                      field<&ExternFuncNode::type>("type", "CallableType, if known", Role::kIgnore),
                      field<&ExternFuncNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using ExternFunc = Ref<ExternFuncNode>;

}  // namespace tilewright::relax
