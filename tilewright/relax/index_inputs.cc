#include "tilewright/relax/index_inputs.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <unordered_map>

#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/memory/liveness.h"

namespace tilewright::relax {
namespace {

/// An operator whose argument 0 is indexed.
struct Indexing {
  std::string_view op;
  size_t indices;              // the argument that holds the indices: a tensor, or a tuple of tensors
  std::string_view axis = {};  // the attribute with the indexed dimension; empty: several are
};
constexpr Indexing kIndexing[] = {
    {"relax.take", 1, "axis"}, {"relax.gather_elements", 1, "axis"},
    {"relax.gather_nd", 1},    {"relax.index_tensor", 1},
    {"relax.index_put", 1},    {"relax.scatter_elements", 1, "axis"},
    {"relax.scatter_nd", 1},
};

// Operators whose results hold elements of their arguments.
constexpr std::string_view kMoves[] = {
    "relax.astype",       "relax.reshape",         "relax.squeeze",      "relax.expand_dims",
    "relax.permute_dims", "relax.broadcast_to",    "relax.flatten",      "relax.concat",
    "relax.stack",        "relax.split",           "relax.flip",         "relax.tile",
    "relax.repeat",       "relax.strided_slice",   "relax.where",        "relax.take",
    "relax.gather_nd",    "relax.gather_elements", "relax.index_tensor", "relax.dynamic_strided_slice"};

// Operators that compute new indices from others; from zeros they compute small values.
constexpr std::string_view kArithmetic[] = {"relax.add",          "relax.subtract",  "relax.multiply",
                                            "relax.mod",          "relax.floor_mod", "relax.minimum",
                                            "relax.maximum",      "relax.clip",      "relax.negative",
                                            "relax.floor_divide", "relax.abs"};

template <class List>
bool has(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != std::end(list);
}

int64_t least_of(const Shape& extents) {
  int64_t least = INT64_MAX;
  for (const PrimExpr& extent : extents) {
    const auto* number = extent.as<IntImmNode>();
    least = std::min(least, number ? std::max<int64_t>(number->value, 1) : 1);
  }
  return least;
}

class Bounds {
 public:
  // Visits bindings in reverse, so that the uses of a value are known before its binding is visited.
  void sequence(const SeqExprNode* body) {
    for (const BindingBlock& block : std::views::reverse(body->blocks)) {
      for (const Binding& each : std::views::reverse(block->bindings)) binding(each.get());
    }
  }

  const std::unordered_map<const Object*, int64_t>& known() const { return known_; }

 private:
  void binding(const BindingNode* node) {
    const auto found = known_.find(node->var.get());
    const int64_t bound = found == known_.end() ? 0 : found->second;
    if (const auto* choice = node->value.as<IfNode>()) {
      branch(choice->true_branch, bound);
      branch(choice->false_branch, bound);
    } else if (const auto* call = node->value.as<CallNode>()) {
      this->call(call, bound);
    } else if (bound > 0) {
      limit(node->value, bound);
    }
  }

  void branch(const Expr& body, int64_t bound) {
    const auto* inner = body.as<SeqExprNode>();
    if (bound > 0) limit(inner ? inner->body : body, bound);
    if (inner) sequence(inner);
  }

  void call(const CallNode* call, int64_t bound) {
    const std::string_view op = op_name(call);
    const Shape* extents = op == "relax.require_indices" ? known_shape(call->args[1]) : nullptr;
    if (op == "relax.require_indices")
      limit(call->args[0], extents ? least_of(*extents) : 1);
    else if (op == "relax.require_range")
      limit(call->args[0], 1);
    for (const Indexing& each : kIndexing) {
      if (each.op == op) limit(call->args[each.indices], legal(call, each));
    }
    if (bound <= 0) return;
    if (has(kMoves, op) || op == "relax.require_indices" || op == "relax.require_range")
      for (const Expr& arg : call->args) limit(arg, bound);
    if (has(kArithmetic, op))
      for (const Expr& arg : call->args) limit(arg, 1);
  }

  static int64_t legal(const CallNode* call, const Indexing& indexing) {
    const Shape* shape = known_shape(call->args[0]);
    if (!shape || shape->empty()) return 1;
    const auto ndim = static_cast<int64_t>(shape->size());
    if (indexing.axis.empty() || !call->attrs.contains(indexing.axis)) return least_of(*shape);
    const int64_t axis = call->attrs.get_int(indexing.axis, 0);
    return least_of({shape->at(static_cast<size_t>(axis < 0 ? axis + ndim : axis))});
  }

  void limit(const Expr& value, int64_t bound) {
    if (const auto* tuple = value.as<TupleNode>()) {
      for (const Expr& element : tuple->elements) limit(element, bound);
    } else if (const auto* item = value.as<TupleGetItemNode>()) {
      limit(item->tuple, bound);
    } else if (VarBaseNode::classof(*value)) {
      int64_t& known = known_.try_emplace(value.get(), bound).first->second;
      known = std::min(known, bound);
    }
  }

  std::unordered_map<const Object*, int64_t> known_;  // of variables
};

}  // namespace

std::map<size_t, int64_t> index_inputs(const Function& func) {
  Bounds bounds;
  if (const auto* body = func->body.as<SeqExprNode>()) bounds.sequence(body);
  std::map<size_t, int64_t> result;
  for (size_t n = 0; n < func->params.size(); ++n) {
    const auto found = bounds.known().find(func->params[n].get());
    if (found != bounds.known().end()) result[n] = found->second;
  }
  return result;
}

}  // namespace tilewright::relax
