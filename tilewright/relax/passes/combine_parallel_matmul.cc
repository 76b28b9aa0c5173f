// Combines matmuls of one value with several weights into one matmul.
//   q = R.matmul(x, a); k = R.matmul(x, b)               a: [k, m], b: [k, n]
//   ->  w = R.concat((a, b), axis=1); y = R.matmul(x, w); s = R.split(y, [m], axis=-1); q = s[0]; k = s[1]
// Works in dataflow blocks.  The weights must be defined before the first of the matmuls and have constant
// numbers of columns.  Weights that are constants are concatenated at compile time by fold_constant.
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Options {
  int64_t min_branches = 2;
  static constexpr auto fields() {
    return std::tuple{field<&Options::min_branches>("min_branches", "fewest matmuls to combine, at least 2")};
  }
};

struct Branch {
  size_t binding = 0;
  const CallNode* call = nullptr;
  int64_t num_columns = 0;
};
using Group = std::vector<Branch>;

// The shape of a weight [.., k, n] with a constant n; null for others.
const Shape* weight_shape(const CallNode* call, int64_t* num_columns) {
  const Shape* shape = known_shape(call->args[1]);
  return shape && shape->size() >= 2 && tir::as_const_int(shape->back(), num_columns) ? shape : nullptr;
}

// True if `b` multiplies the same value and the weights differ only in their columns.
bool can_join(const CallNode* a, const CallNode* b) {
  const Type type_a = type_of(a->args[1]), type_b = type_of(b->args[1]);
  if (a->args[0] != b->args[0] || !structural_equal(a->attrs.get("out_dtype"), b->attrs.get("out_dtype")) ||
      type_a.as<TensorTypeNode>()->dtype != type_b.as<TensorTypeNode>()->dtype)
    return false;
  const Shape &left = *known_shape(a->args[1]), &right = *known_shape(b->args[1]);
  return equal_shapes({left.begin(), left.end() - 1}, {right.begin(), right.end() - 1}) == Answer::kYes;
}

class Groups {
 public:
  explicit Groups(const DataflowBlockNode* block) {
    for (size_t n = 0; n < block->bindings.size(); ++n) {
      const Binding& binding = block->bindings[n];
      defined_at_[binding->var.get()] = n;
      const auto* call = is<VarBindingNode>(binding) ? binding->value.as<CallNode>() : nullptr;
      if (call && op_name(call) == "relax.matmul") add(n, call);
    }
  }

  std::vector<Group> groups;

 private:
  void add(size_t n, const CallNode* call) {
    Branch branch{n, call};
    if (!weight_shape(call, &branch.num_columns)) return;
    std::vector<size_t>& same_value = by_value_[call->args[0].get()];
    for (size_t group : same_value) {
      const Branch& first = groups[group].front();
      const auto weight = defined_at_.find(call->args[1].get());
      const bool is_known = weight == defined_at_.end() || weight->second < first.binding;
      if (!is_known || !can_join(first.call, call)) continue;
      groups[group].push_back(branch);
      return;
    }
    same_value.push_back(groups.size());
    groups.push_back({branch});
  }

  std::unordered_map<const Object*, size_t> defined_at_;             // variables of the block
  std::unordered_map<const Object*, std::vector<size_t>> by_value_;  // groups by the value that is multiplied
};

Expr define(std::vector<Binding>& bindings, const std::string& name, const Expr& value) {
  const DataflowVar var = DataflowVarNode::make(name, Type());
  bindings.push_back(VarBindingNode::make(AnyVar(var), value));
  return var;
}

// Binds the combined product; returns its pieces, a tuple.
Expr combined(std::vector<Binding>& bindings, const Group& group) {
  std::vector<Expr> weights;
  std::vector<int64_t> starts;
  int64_t start = 0;
  for (const Branch& branch : group) {
    if (start > 0) starts.push_back(start);
    weights.push_back(branch.call->args[1]);
    start += branch.num_columns;
  }
  const auto last = static_cast<int64_t>(known_shape(weights[0])->size()) - 1;
  AttrMap columns, pieces;
  columns.set("axis", attr(last));
  pieces.set("indices_or_sections", attr(starts));
  pieces.set("axis", attr(int64_t{-1}));
  const CallNode* first = group.front().call;
  const Expr weight =
      define(bindings, "weights", call_op("relax.concat", {TupleNode::make(std::move(weights))}, columns));
  const Expr product = define(bindings, "product",
                              call_op("relax.matmul", {first->args[0], weight}, first->attrs, first->span));
  return define(bindings, "pieces", call_op("relax.split", {product}, pieces));
}

DataflowBlock combine(const DataflowBlockNode* block, int64_t min_branches) {
  std::vector<Group> groups = Groups(block).groups;
  std::erase_if(groups,
                [&](const Group& group) { return static_cast<int64_t>(group.size()) < min_branches; });
  if (groups.empty()) return DataflowBlock(block);
  std::unordered_map<size_t, std::pair<const Group*, int64_t>> place;  // by binding
  for (const Group& group : groups) {
    for (size_t n = 0; n < group.size(); ++n) place[group[n].binding] = {&group, static_cast<int64_t>(n)};
  }
  std::unordered_map<const Group*, Expr> pieces;
  std::vector<Binding> bindings;
  for (size_t n = 0; n < block->bindings.size(); ++n) {
    const auto found = place.find(n);
    if (found == place.end()) {
      bindings.push_back(block->bindings[n]);
      continue;
    }
    const auto [group, piece] = found->second;
    if (piece == 0) pieces[group] = combined(bindings, *group);
    const Expr value = TupleGetItemNode::make(pieces[group], piece, Type());
    bindings.push_back(with(ref_as<VarBindingNode>(block->bindings[n]),
                            [&](VarBindingNode& changed) { changed.value = value; }));
  }
  return DataflowBlockNode::make(std::move(bindings));
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  if (options.min_branches < 2)
    throw UserError("min_branches is {}, expected at least 2", options.min_branches);
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const Function changed = rewrite(func, [&](auto&, const DataflowBlockNode* block) -> DataflowBlock {
      return combine(block, options.min_branches);
    });
    return changed == func ? func : BlockBuilder(module).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo combine_parallel_matmul_info = module_pass<run, Options>(
    "combine_parallel_matmul", "Combines matmuls of one value with several weights.");

}  // namespace tilewright::relax
