#include "tilewright/relax/infer/loop_types.h"

#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/infer/infer.h"
#include "tilewright/relax/infer/op_util.h"
#include "tilewright/support/count_text.h"

namespace tilewright::relax {
namespace {

std::vector<Type> tuple_arg(const Call& call, size_t n) {
  const Type type = type_of(call->args[n]);
  const auto* tuple = type.as<TupleTypeNode>();
  if (!tuple) fail(call, "{} is {}, expected a tuple", arg_name(call, n), type_text(type));
  return tuple->elements;
}

// Raises UserError unless argument `n` is a scalar of `dtype` or the empty tuple, which stands for none.
void require_scalar_or_none(const Call& call, size_t n, DataType dtype) {
  const Type type = type_of(call->args[n]);
  if (!type || is<ObjectTypeNode>(type) || is_void(type)) return;
  const auto* tensor = type.as<TensorTypeNode>();
  const auto* prim = type.as<PrimTypeNode>();
  const bool fits = (tensor && tensor->ndim <= 0 && (tensor->dtype == dtype || tensor->dtype.is_void())) ||
                    (prim && prim->dtype == dtype);
  if (!fits)
    throw UserError(call->args[n], "{}: {} is {}, expected {} scalar", name_of(call), arg_name(call, n),
                    type_text(type), dtype == kInt64 ? "an int64" : "a bool")
        .help("write R.tuple() for none");
}

PrimExpr count_of(const Call& call) {
  if (!is_void(type_of(call->args[2]))) return nullptr;
  const Expr& most = call->args[1];
  PrimExpr count;
  if (const auto* prim = most.as<PrimValueNode>()) count = prim->value;
  if (const auto* constant = most.as<ConstantNode>()) count = literal_of(constant);
  if (!count || is<tir::VarNode>(count)) return count;
  return arith::simplify(tir::max(as_extent(count), extent_imm(0)));
}

/// The types of one iteration: what the body returns for the given types of carried values.
class Iteration {
 public:
  Iteration(const Call& call, const CallableTypeNode* body)
      : call_(call), body_(body), captured_(tuple_arg(call, 4)) {}

  std::vector<Type> results(const std::vector<Type>& carried) const {
    std::vector<Type> args{tensor_type({}, kInt64), tensor_type({}, DataType::bool_())};
    args.insert(args.end(), carried.begin(), carried.end());
    args.insert(args.end(), captured_.begin(), captured_.end());
    const Type type = infer_result(body_, args, call_, "loop: body");
    const auto* tuple = type.as<TupleTypeNode>();
    if (!tuple || tuple->elements.size() < 1 + carried.size())
      fail(call_, "the body returns {}, expected a tuple of the condition, {} and the values to collect",
           type_text(type), count_text(carried.size(), "carried value"));
    return tuple->elements;
  }

 private:
  const Call& call_;
  const CallableTypeNode* body_;
  std::vector<Type> captured_;
};

}  // namespace

Type LoopTypes::collected(const Type& element) const {
  const auto* tensor = element.as<TensorTypeNode>();
  if (!tensor) return tensor_type_of_ndim(-1, DataType::void_());
  const Shape* shape = known_shape(tensor);
  if (!count || !shape) return tensor_type_of_ndim(tensor->ndim < 0 ? -1 : tensor->ndim + 1, tensor->dtype);
  Shape stacked = *shape;
  stacked.insert(stacked.begin(), count);
  return tensor_type(std::move(stacked), tensor->dtype);
}

LoopTypes loop_types(const Call& call, const CallableTypeNode* body) {
  require_scalar_or_none(call, 1, kInt64);
  require_scalar_or_none(call, 2, DataType::bool_());
  LoopTypes types{tuple_arg(call, 3), {}, count_of(call)};
  const Iteration iteration(call, body);
  std::vector<Type> results;
  // a dimension that an iteration changes is unknown from then on, as are those that follow from it
  for (bool changed = true; changed;) {
    changed = false;
    results = iteration.results(types.carried);
    for (size_t n = 0; n < types.carried.size(); ++n) {
      const Type both = common_type(types.carried[n], results[1 + n]);
      if (is_subtype(both, types.carried[n]) == Answer::kYes) continue;
      types.carried[n] = both;
      changed = true;
    }
  }
  types.elements.assign(results.begin() + 1 + static_cast<std::ptrdiff_t>(types.carried.size()),
                        results.end());
  for (size_t n = 0; n < types.elements.size(); ++n) {
    if (!is<TensorTypeNode>(types.elements[n]) && !is<ObjectTypeNode>(types.elements[n]))
      fail(call, "the body returns {} to collect, expected a tensor", type_text(types.elements[n]));
  }
  return types;
}

}  // namespace tilewright::relax
