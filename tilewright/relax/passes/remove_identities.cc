// Removes operators that return their argument unchanged, and joins successive moves.
//   dropout(x)[0], reshape(x, its shape), astype(x, its dtype), permute_dims(x, in order)      =>  x
//   no_grad(x), end_checkpoint(x), hint_on_device(x), stop_lift_params(x)                      =>  x
//   to_vdevice(x, where x is), to_vdevice(a constant, d), which is wherever it is used           =>  x
//   permute_dims(permute_dims(x, p), q)  =>  permute_dims(x, p[q]), or x
//   permute_dims(x, p)                   =>  reshape(x, ...)  if p moves only dimensions of extent 1
//   reshape(reshape(x, s), t)            =>  reshape(x, t)
//   permutations with reshapes between   =>  one permutation of a view, if no part is divided differently:
//     a shuffle of channels              =>  reshape(permute_dims(reshape(x, [1, 56, 56, 4, 28]), ..), ..)
//   x + 0, x - 0, x * 1, x / 1           =>  x    if the result has the type of x
// Only bit-exact rules apply: x + 0.0 of floats stays, since -0.0 + 0.0 is 0.0; x + -0.0 and x - 0.0 go.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/fold/moves.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"

namespace tilewright::relax {
namespace {

bool has_type_of(const Expr& value, const Expr& other) {
  const Type a = type_of(value), b = type_of(other);
  return a && b && is_subtype(a, b) == Answer::kYes && is_subtype(b, a) == Answer::kYes &&
         known_shape(value) != nullptr;
}

template <class T>
bool all_equal(const runtime::Tensor& tensor, T expected) {
  const T* data = tensor.data_as<T>();
  return std::all_of(data, data + tensor.num_elements(),
                     [&](T value) { return std::memcmp(&value, &expected, sizeof(T)) == 0; });
}

// True if every element of `expr` is exactly `number`; -0.0 is not 0.0.
bool is_filled_with(const Expr& expr, double number) {
  const auto* constant = expr.as<ConstantNode>();
  if (!constant) return false;
  const DataType dtype = constant->data.dtype();
  if (dtype == kFloat32) return all_equal(constant->data, static_cast<float>(number));
  if (dtype == DataType::float_(64)) return all_equal(constant->data, number);
  if (std::signbit(number)) return false;
  if (dtype == kInt32) return all_equal(constant->data, static_cast<int32_t>(number));
  if (dtype == kInt64) return all_equal(constant->data, static_cast<int64_t>(number));
  return false;
}

bool is_integral(const Expr& expr) {
  const Type type = type_of(expr);
  const auto* tensor = type.as<TensorTypeNode>();
  return tensor && tensor->dtype.is_integral();
}

class Simplifier {
 public:
  // The expression that replaces `value`, or null.
  Expr simplified(const Expr& value) const {
    if (const auto* item = value.as<TupleGetItemNode>()) {
      const auto* source = definition(item->tuple);
      return source && op_name(source) == "relax.nn.dropout" && item->index == 0 ? source->args[0] : Expr();
    }
    const auto* call = value.as<CallNode>();
    const std::string_view name = call ? op_name(call) : std::string_view();
    if (name.empty() || call->args.empty()) return nullptr;
    if (name == "relax.permute_dims") return simplified_permute(call);
    if (is_reshape_like(name)) return simplified_reshape(call);
    const bool only_says = name == "relax.grad.no_grad" || name == "relax.grad.end_checkpoint" ||
                           name == "relax.hint_on_device" || name == "relax.builtin.stop_lift_params";
    if (only_says) return call->args[0];
    if (name == "relax.to_vdevice" && is_there(call)) return call->args[0];
    const bool keeps_elements = name == "relax.astype" || name == "relax.broadcast_to";
    if (keeps_elements && has_type_of(call->args[0], value)) return call->args[0];
    return without_neutral(call, name);
  }

  void define(const AnyVar& var, const Expr& value) {
    if (const auto* call = value.as<CallNode>()) calls_[var.get()] = Call(call);
  }

 private:
  static bool is_there(const CallNode* call) {
    const auto* type = type_of(call->args[0]).as<TensorTypeNode>();
    return is<ConstantNode>(call->args[0]) ||
           (type && type->device == call->attrs.get_string("dst_vdevice", ""));
  }

  // The call that `var` is bound to, if its first argument is visible wherever `var` is.
  const CallNode* definition(const Expr& var) const {
    auto found = calls_.find(var.get());
    if (found == calls_.end() || found->second->args.empty()) return nullptr;
    const bool is_seen = is<DataflowVarNode>(var) || !is<DataflowVarNode>(found->second->args[0]);
    return is_seen ? found->second.get() : nullptr;
  }

  Expr simplified_permute(const CallNode* call) const {
    const std::vector<int64_t> outer = permutation_of(call);
    bool is_in_order = !outer.empty();
    for (size_t n = 0; n < outer.size(); ++n) is_in_order &= outer[n] == static_cast<int64_t>(n);
    if (is_in_order) return call->args[0];
    if (const Expr view = reshape_instead(call, outer)) return view;
    const CallNode* source = definition(call->args[0]);
    if (source && is_reshape_like(op_name(source))) return joined_moves(call, outer);
    if (!source || op_name(source) != "relax.permute_dims") return nullptr;
    const std::vector<int64_t> inner = permutation_of(source);
    std::vector<int64_t> axes;
    for (int64_t axis : outer) axes.push_back(inner.at(static_cast<size_t>(axis)));
    const Call joined = with(call, [&](CallNode& changed) {
      changed.args[0] = source->args[0];
      changed.attrs.set("axes", attr(axes));
    });
    const Expr shorter = simplified_permute(joined.get());
    return shorter ? shorter : Expr(joined);
  }

  // The extents of `expr` if they are constant and not 0.
  static std::optional<std::vector<int64_t>> extents_of(const Expr& expr) {
    std::optional<std::vector<int64_t>> extents = constant_shape(expr);
    const bool is_empty = extents && std::find(extents->begin(), extents->end(), 0) != extents->end();
    return is_empty ? std::nullopt : extents;
  }

  // One permutation that replaces `call`, a permutation by `axes` of the result of other moves; null if there
  // are no other moves.
  Expr joined_moves(const CallNode* call, const std::vector<int64_t>& axes) const {
    std::vector<const CallNode*> before;  // last first
    for (const CallNode* move = definition(call->args[0]); move; move = definition(move->args[0])) {
      const std::string_view name = op_name(move);
      if ((name != "relax.permute_dims" && !is_reshape_like(name)) || !extents_of(move->args[0])) break;
      before.push_back(move);
    }
    // try the longest sequence of moves first
    for (; !before.empty(); before.pop_back()) {
      Moves moves(*extents_of(before.back()->args[0]));
      if (op_name(before.back()) != "relax.permute_dims" || !follow(moves, before)) continue;
      moves.permute(axes);
      return as_one(before.back()->args[0], moves.permutation(), call);
    }
    return nullptr;
  }

  static bool follow(Moves& moves, const std::vector<const CallNode*>& calls) {
    return std::all_of(calls.rbegin(), calls.rend(), [&](const CallNode* each) {
      const auto shape = extents_of(Expr(each));
      if (is_reshape_like(op_name(each))) return shape && moves.reshape(*shape);
      moves.permute(permutation_of(each));
      return true;
    });
  }

  // The permutation of x that replaces `call`, with the same type.
  Expr as_one(const Expr& x, const Moves::Permutation& permutation, const CallNode* call) const {
    const Shape* shape = known_shape(Expr(call));
    if (!shape) return nullptr;
    if (permutation.is_identity()) {
      const Call view = reshaped(x, *shape, call);
      const Expr shorter = simplified_reshape(view.get());
      return shorter ? shorter : Expr(view);
    }
    Shape parts;
    for (const int64_t extent : permutation.view) parts.push_back(tir::imm(extent, kInt64));
    const Call view = with(call_op("relax.reshape", {x, shape_expr(parts)}, {}, call->span),
                           [&](CallNode& n) { n.type = tensor_type(parts, dtype_of(x)); });
    const Expr shorter = simplified_reshape(view.get());
    const Call moved = call_op("relax.permute_dims", {shorter ? shorter : Expr(view)},
                               {{"axes", attr(permutation.axes)}}, call->span);
    if (permutation.result() != constant_extents(*shape)) return reshaped(moved, *shape, call);
    return with(moved, [&](CallNode& n) { n.type = call->type; });
  }

  // The reshape that replaces a permutation that keeps the order of all elements; else null.
  Expr reshape_instead(const CallNode* call, const std::vector<int64_t>& axes) const {
    const Shape *from = known_shape(call->args[0]), *to = known_shape(Expr(call));
    if (!from || !to) return nullptr;
    int64_t last = -1;
    for (int64_t axis : axes) {
      if (tir::is_one(from->at(static_cast<size_t>(axis)))) continue;
      if (axis < last) return nullptr;
      last = axis;
    }
    const Call view = reshaped(call->args[0], *to, call);
    const Expr shorter = simplified_reshape(view.get());
    return shorter ? shorter : Expr(view);
  }

  // The reshape(x, shape) that replaces `call`, with the same type.
  static Call reshaped(const Expr& x, const Shape& shape, const CallNode* call) {
    const Expr wanted = shape_expr(shape);
    const Call result = call_op("relax.reshape", {x, wanted}, {}, call->span);
    return with(result, [&](CallNode& changed) { changed.type = call->type; });
  }

  Expr simplified_reshape(const CallNode* call) const {
    if (has_type_of(call->args[0], Expr(call))) return call->args[0];
    const CallNode* source = definition(call->args[0]);
    const Shape* shape = known_shape(Expr(call));
    if (!source || !is_reshape_like(op_name(source)) || !shape) return nullptr;
    if (has_type_of(source->args[0], Expr(call))) return source->args[0];
    return reshaped(source->args[0], *shape, call);
  }

  Expr without_neutral(const CallNode* call, std::string_view name) const {
    if (call->args.size() != 2) return nullptr;
    const Expr &a = call->args[0], &b = call->args[1];
    const bool keeps_a = has_type_of(a, Expr(call)), keeps_b = has_type_of(b, Expr(call));
    const double zero = is_integral(a) ? 0.0 : -0.0;
    if (name == "relax.add" && keeps_a && is_filled_with(b, zero)) return a;
    if (name == "relax.add" && keeps_b && is_filled_with(a, zero)) return b;
    if (name == "relax.subtract" && keeps_a && is_filled_with(b, 0.0)) return a;
    if (name == "relax.multiply" && keeps_a && is_filled_with(b, 1.0)) return a;
    if (name == "relax.multiply" && keeps_b && is_filled_with(a, 1.0)) return b;
    if (name == "relax.divide" && keeps_a && is_filled_with(b, 1.0)) return a;
    return nullptr;
  }

  std::unordered_map<const Object*, Call> calls_;
};

Function simplify(const Function& func) {
  Simplifier simplifier;
  return rewrite(func, [&](auto& self, const VarBindingNode* node) -> Binding {
    const VarBinding before = self.children(node);
    VarBinding binding = before;
    if (const Expr value = simplifier.simplified(binding->value)) {
      binding = with(binding, [&](VarBindingNode& changed) { changed.value = value; });
      const bool is_seen = is<DataflowVarNode>(node->var) || is<VarNode>(value);
      if (VarBaseNode::classof(*value) && is_seen) self.replace_uses(node->var.get(), value);
    }
    // several moves that replace one are recorded as that one
    const auto* call = binding->value.as<CallNode>();
    const bool is_nested = call && !call->args.empty() && is<CallNode>(call->args[0]);
    simplifier.define(binding->var, is_nested ? before->value : binding->value);
    return binding;
  });
}

}  // namespace

namespace {
IRModule run(const IRModule& module, const NoOptions&, PassContext&) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const Function changed = simplify(func);
    return changed == func ? func : BlockBuilder(module).normalize_function(changed);
  });
}
}  // namespace

extern constinit const PassInfo remove_identities_info = module_pass<run>(
    "remove_identities", "Removes operators that return their argument, and joins successive moves.", 1);

}  // namespace tilewright::relax
