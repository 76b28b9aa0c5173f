// Sums over decision trees, whose nodes are arrays.
#pragma once
#include "tilewright/te/compute.h"

namespace tilewright::topi {
using namespace te;

/// So many trees are walked beside each other: the loads of one wait for each other, those of several do not.
inline constexpr int64_t kTreesAtOnce = 8;

/// Groups of kTreesAtOnce trees.  A leaf is its own child, so that all trees of a group take as many steps.
struct Trees {
  Tensor roots;     // int32 [num_groups * kTreesAtOnce]: nodes
  Tensor depths;    // int32 [num_groups]: steps from the root to the deepest leaf of the group
  Tensor features;  // int32 [num_nodes]: a column of x
  Tensor values;    // [num_nodes], in the dtype of x
  Tensor children;  // int32 [num_nodes * c]: where x <= value, where not, and with c = 3 where x is NaN
  Tensor weights;   // [num_nodes, num_targets], or [num_nodes] with targets; those of leaves count
  Tensor targets;   // int32 [num_nodes]: the column that the weight is for; null if weights has columns
};

enum class TreeJoin : uint8_t { kSum, kMin, kMax };

/// [rows of x, num_targets]: the sums, or the least or largest, of the weights of the leaves that each row of x
/// reaches, from `init` on; in the dtype of the weights.
Tensor joined_trees(const Tensor& x, const Trees& trees, int64_t num_targets, TreeJoin join, double init);

}  // namespace tilewright::topi
