// Expressions common to loop programs and graphs: base classes, literals, ranges, operators and global names.
#pragma once
#include "tilewright/ir/node.h"
#include "tilewright/support/error.h"

namespace tilewright::ir {

struct TypeNode : Object, Group<Kind::kTypeBegin, Kind::kTypeEnd> {
  using Group::classof;
  using Object::Object;
};
using Type = Ref<TypeNode>;

/// Any expression.  `span` is its source location.
struct ExprNode : Object, Group<Kind::kExprBegin, Kind::kExprEnd> {
  using Group::classof;
  using Object::Object;
  Span span;
};
using Expr = Ref<ExprNode>;

/// A scalar or short vector of `dtype`: the expressions of loop programs.
struct PrimExprNode : ExprNode, Group<Kind::kPrimExprBegin, Kind::kPrimExprEnd> {
  using ExprNode::ExprNode;
  using Group<Kind::kPrimExprBegin, Kind::kPrimExprEnd>::classof;
  DataType dtype = DataType::void_();
};
using PrimExpr = Ref<PrimExprNode>;

/// A graph value; `type` is the inferred type, null before inference.
struct RelaxExprNode : ExprNode, Group<Kind::kRelaxExprBegin, Kind::kRelaxExprEnd> {
  using ExprNode::ExprNode;
  using Group<Kind::kRelaxExprBegin, Kind::kRelaxExprEnd>::classof;
  Type type;
};

/// A statement of a loop program.
struct StmtNode : Object, Group<Kind::kStmtBegin, Kind::kStmtEnd> {
  using Group::classof;
  using Object::Object;
  Span span;
};
using Stmt = Ref<StmtNode>;

/// The source location of an expression or statement; unknown for other nodes.
const Span& span_of_node(const Object& object);

/// [items...]: a list attribute.
struct ArrayNode final : Node<ArrayNode, Object, Kind::kArray> {
  std::vector<ObjectRef> items;
  static constexpr auto fields() {
    return std::tuple{field<&ArrayNode::items>("items", "the elements, in order")};
  }
};
using Array = Ref<ArrayNode>;

/// {key: value}: a nested attribute map.
struct DictNode final : Node<DictNode, Object, Kind::kDict> {
  AttrMap items;
  static constexpr auto fields() { return std::tuple{field<&DictNode::items>("items", "values by key")}; }
};
using Dict = Ref<DictNode>;

/// T.int32(5), True
struct IntImmNode final : Node<IntImmNode, PrimExprNode, Kind::kIntImm> {
  int64_t value = 0;
  static constexpr auto fields() {
    return std::tuple{field<&IntImmNode::dtype>("dtype", "an integer, unsigned or bool type"),
                      field<&IntImmNode::value>("value", "the constant; uint64 is kept by its bits"),
                      field<&IntImmNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using IntImm = Ref<IntImmNode>;

/// T.float32(0.5)
struct FloatImmNode final : Node<FloatImmNode, PrimExprNode, Kind::kFloatImm> {
  double value = 0;
  static constexpr auto fields() {
    return std::tuple{field<&FloatImmNode::dtype>("dtype", "a floating-point type"),
                      field<&FloatImmNode::value>("value", "the constant, already rounded to dtype"),
                      field<&FloatImmNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using FloatImm = Ref<FloatImmNode>;

/// "text"
struct StringImmNode final : Node<StringImmNode, PrimExprNode, Kind::kStringImm> {
  std::string value;
  static constexpr auto fields() {
    return std::tuple{field<&StringImmNode::value>("value", "the text"),
                      field<&StringImmNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using StringImm = Ref<StringImmNode>;

/// T.Range(min, min + extent)
struct RangeNode final : Node<RangeNode, Object, Kind::kRange> {
  PrimExpr min, extent;
  static constexpr auto fields() {
    return std::tuple{field<&RangeNode::min>("min", "first value"),
                      field<&RangeNode::extent>("extent", "how many values, >= 0")};
  }
};
using Range = Ref<RangeNode>;

/// A named operator ("tir.exp", "relax.matmul"); its layer's operator table defines its meaning.
struct OpNode final : Node<OpNode, ExprNode, Kind::kOp> {
  std::string name;
  static constexpr auto fields() { return std::tuple{field<&OpNode::name>("name", "layer.operator")}; }
};
using Op = Ref<OpNode>;

/// The name of a function of the module.
struct GlobalVarNode final : Node<GlobalVarNode, RelaxExprNode, Kind::kGlobalVar> {
  std::string name_hint;
  static constexpr auto fields() {
    return std::tuple{
        field<&GlobalVarNode::name_hint>("name_hint", "unique in the module; equality is by this name"),
        field<&GlobalVarNode::type>("type", "the function's type, if known", Role::kIgnore),
        field<&GlobalVarNode::span>("span", "where it was written", Role::kIgnore)};
  }
};
using GlobalVar = Ref<GlobalVarNode>;

/// A function of a module: tir.PrimFunc, relax.Function or relax.ExternFunc.
struct BaseFuncNode : RelaxExprNode, Group<Kind::kBaseFuncBegin, Kind::kBaseFuncEnd> {
  using RelaxExprNode::RelaxExprNode;
  using Group<Kind::kBaseFuncBegin, Kind::kBaseFuncEnd>::classof;
  AttrMap attrs;
};
using BaseFunc = Ref<BaseFuncNode>;

// ---- types ----

/// R.Prim("int64"), a scalar of `dtype`, with its `value` if known.
struct PrimTypeNode final : Node<PrimTypeNode, TypeNode, Kind::kPrimType> {
  DataType dtype;
  PrimExpr value;
  static constexpr auto fields() {
    return std::tuple{field<&PrimTypeNode::dtype>("dtype", "the scalar's type; void is `no value`"),
                      field<&PrimTypeNode::value>("value", "the value, if known")};
  }
};
using PrimType = Ref<PrimTypeNode>;

/// T.handle("float32", "global"): the address of elements in a storage scope.
struct PointerTypeNode final : Node<PointerTypeNode, TypeNode, Kind::kPointerType> {
  Type element_type;
  std::string storage_scope;
  static constexpr auto fields() {
    return std::tuple{
        field<&PointerTypeNode::element_type>("element_type", "the type of the elements it points to"),
        field<&PointerTypeNode::storage_scope>("storage_scope", "\"global\", \"shared\", \"local\", ...")};
  }
};
using PointerType = Ref<PointerTypeNode>;

/// R.Tuple(...)
struct TupleTypeNode final : Node<TupleTypeNode, TypeNode, Kind::kTupleType> {
  std::vector<Type> elements;
  static constexpr auto fields() {
    return std::tuple{field<&TupleTypeNode::elements>("elements", "the type of each element")};
  }
};
using TupleType = Ref<TupleTypeNode>;

/// R.Object: any value
struct ObjectTypeNode final : Node<ObjectTypeNode, TypeNode, Kind::kObjectType> {
  static constexpr auto fields() { return std::tuple{}; }
};
using ObjectType = Ref<ObjectTypeNode>;

template <class T>
  requires std::is_base_of_v<Object, T>
const Span& span_of(const T* node) {
  return span_of_node(*node);
}
template <class T>
  requires std::is_base_of_v<Object, T>
const Span& span_of(const Ref<T>& ref) {
  static const Span unknown{};
  return ref ? span_of_node(*ref) : unknown;
}

}  // namespace tilewright::ir
