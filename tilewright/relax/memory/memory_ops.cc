#include "tilewright/relax/memory/memory_ops.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {

bool is_alloc_storage(std::string_view op_name) {
  return op_name == kMemoryAllocStorage || op_name == kVmAllocStorage;
}
bool is_alloc_in_storage(std::string_view op_name) {
  return op_name == kMemoryAllocTensor || op_name == kVmAllocTensor;
}
bool is_kill(std::string_view op_name) {
  return op_name == kMemoryKillStorage || op_name == kMemoryKillTensor || op_name == kVmKillObject;
}

PrimExpr StorageAlloc::num_bytes() const {
  const Shape* extents = known_shape(size);
  TILEWRIGHT_CHECK(extents && extents->size() == 1, "alloc_storage: the size is no single number");
  return (*extents)[0];
}

PrimExpr PlacedAlloc::offset_bytes() const {
  const Type type = type_of(offset);
  const auto* prim = type.as<PrimTypeNode>();
  TILEWRIGHT_CHECK(prim && prim->value, "alloc_tensor: the offset is not known");
  return as_extent(prim->value);
}

namespace {
Expr arg_or(const CallNode* call, size_t n, Expr otherwise) {
  return n < call->args.size() ? call->args[n] : std::move(otherwise);
}
}  // namespace

TensorAlloc tensor_alloc(const CallNode* call) {
  return {call->args.at(0), call->args.at(1), arg_or(call, 2, int_value(extent_imm(0))),
          arg_or(call, 3, text_value("global"))};
}

StorageAlloc storage_alloc(const CallNode* call) {
  const bool is_vm = op_of(call)->name == kVmAllocStorage;
  const Expr scope = arg_or(call, is_vm ? 3 : 2, text_value("global"));
  return {call->args.at(0), call->args.at(1), scope, call->args.at(is_vm ? 2 : 3)};
}

PlacedAlloc placed_alloc(const CallNode* call) {
  return {call->args.at(0), call->args.at(1), call->args.at(2), call->args.at(3)};
}

Expr int_value(PrimExpr value) {
  const Type type = prim_type(value->dtype, value);
  return PrimValueNode::make(std::move(value), type);
}
Expr text_value(std::string text) { return StringValueNode::make(std::move(text), object_type()); }
Expr dtype_value(DataType dtype) { return DataTypeValueNode::make(dtype, object_type()); }

Call memory_call(std::string_view op, std::vector<Expr> args, const Span& span) {
  const Call call = call_op(op, std::move(args), {}, span);
  const Type type = infer_type(call);
  return with(call, [&](CallNode& node) { node.type = type; });
}

Call call_for_effect(const Expr& callee, std::vector<Expr> args, const Span& span) {
  std::vector<Type> types;
  if (is<ExternFuncNode>(callee)) types.push_back(void_type());
  return CallNode::make(callee, std::move(args), AttrMap{}, std::move(types), void_type(), span);
}

Binding effect(const Call& call) {
  return bind(AnyVar(VarNode::make("_", call->type, call->span)), call, call->span);
}

Binding bind(const AnyVar& var, const Expr& value, const Span& span) {
  return VarBindingNode::make(var, value, span);
}

UpperBounds upper_bounds(const Function& func) {
  UpperBounds bounds;
  const ObjectRef given = func->attrs.get(kUpperBounds);
  if (!given) return bounds;
  const auto* dict = given.as<DictNode>();
  if (!dict) throw UserError(func, "{}: expected a dict from names of dimensions to numbers", kUpperBounds);
  for (const auto& [name, value] : dict->items) {
    const auto* number = value.as<IntImmNode>();
    if (!number || number->dtype.is_bool() || number->value < 1)
      throw UserError(func, "{}: the bound of {} is not an integer above 0", kUpperBounds, name);
    bounds[name] = number->value;
  }
  return bounds;
}

PrimExpr num_bytes(const TensorType& type) {
  const Shape* shape = known_shape(type.get());
  TILEWRIGHT_CHECK(shape, "num_bytes: the extents of a tensor are not known");
  return arith::simplify(num_elements(*shape) * extent_imm(type->dtype.num_bytes()));
}

std::optional<int64_t> most_bytes(const TensorType& type, const UpperBounds& bounds) {
  const Shape* shape = known_shape(type.get());
  if (!shape) return std::nullopt;
  int64_t bytes = type->dtype.num_bytes();
  for (const PrimExpr& extent : *shape) {
    int64_t most;
    if (!tir::as_const_int(extent, &most)) {
      if (bounds.empty()) return std::nullopt;
      arith::Analyzer analyzer;
      walk(extent, [&](const tir::VarNode* var) {
        const auto bound = bounds.find(var->name_hint);
        if (bound != bounds.end())
          analyzer.bind(tir::Var(var),
                        tir::RangeNode::make(tir::make_const_int(var->dtype, 0),
                                             tir::make_const_int(var->dtype, bound->second + 1)));
      });
      most = analyzer.const_bounds(extent).max;
      if (most == arith::kPosInf) return std::nullopt;
    }
    if (__builtin_mul_overflow(bytes, most, &bytes))
      throw UserError("a tensor of type {} is larger than memory", short_type(type));
  }
  return bytes;
}

}  // namespace tilewright::relax
