// reorder_block_iter_var: the axes of a block in another order.
#include <algorithm>

#include "tilewright/schedule/core/primitive.h"

#include <fmt/format.h>
#include "tilewright/schedule/core/report.h"

namespace tilewright::schedule {
namespace {

struct Args {
  BlockRef block;
  std::vector<int64_t> new_order;
  static constexpr std::string_view kRequired[] = {"new_order"};
  static constexpr auto fields() {
    return std::tuple{field<&Args::block>("block", "whose axes are sorted"),
                      field<&Args::new_order>("new_order", "the old position of each axis")};
  }
};

void require_permutation(const State& state, NodeId block, const std::vector<int64_t>& order, size_t count) {
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.size() == count;
  for (size_t n = 0; n < sorted.size() && is_permutation; ++n)
    is_permutation = sorted[n] == static_cast<int64_t>(n);
  if (!is_permutation)
    throw refuse(state, block, "[{}] is no order of the {} axes of block {}", fmt::join(order, ", "), count,
                 state.node(block).name);
}

void apply(State& state, const Args& args) {
  const NodeId id = state[args.block];
  const BlockRealizeNode* realize = state.node(id).realize();
  require_permutation(state, id, args.new_order, realize->iter_values.size());
  if (std::is_sorted(args.new_order.begin(), args.new_order.end())) return;
  std::vector<IterVar> axes;
  std::vector<PrimExpr> values;
  for (int64_t position : args.new_order) {
    axes.push_back(realize->block->iter_vars[static_cast<size_t>(position)]);
    values.push_back(realize->iter_values[static_cast<size_t>(position)]);
  }
  const Block block = with(realize->block, [&](BlockNode& n) { n.iter_vars = axes; });
  state.replace(id, with(realize, [&](BlockRealizeNode& n) { n.block = block, n.iter_values = values; }),
                {{realize->block.get(), block}});
}

}  // namespace

extern constinit const PrimitiveInfo reorder_block_iter_var_info =
    primitive<apply>("reorder_block_iter_var", R"(
Sorts the axes of a block; what it computes and when stays the same.

    vi, vj = T.axis.remap("SS", [i, j])    ->    vj, vi = T.axis.remap("SS", [j, i])        new_order=[1, 0]

block      stays valid
new_order  the old position of each axis, all of them once
Raises     UserError if new_order is no permutation.
)");
}  // namespace tilewright::schedule
