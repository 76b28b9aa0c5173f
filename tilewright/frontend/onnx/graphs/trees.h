// Decision trees of ai.onnx.ml, as the kernel te/topi/trees.h takes them.
#pragma once
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/te/topi/trees.h"

namespace tilewright::frontend::onnx {

enum class TreeMode : uint8_t {
  kLessEqual,
  kLess,
  kGreaterEqual,
  kGreater,
  kEqual,
  kNotEqual,
  kMember,
  kLeaf
};

struct TreeNode {
  TreeMode mode = TreeMode::kLeaf;
  int64_t feature = 0;          // a column of x
  double value = 0;             // that it is compared with
  std::vector<double> members;  // kMember: those that are one
  int64_t yes = 0, no = 0;      // nodes
  bool nan_is_yes = false;
  std::vector<std::pair<int64_t, double>> weights;  // of a leaf: column of the result, number
};

struct TreeModel {
  std::vector<TreeNode> nodes;
  std::vector<int64_t> roots;
  int64_t num_targets = 1;
};

/// [n, num_targets]: what the leaves that each row of `x`, float32 or float64 [n, columns], reaches add up to, or the
/// least or largest of them.  Raises UserError if a node is reached in two ways, or is not there.
Expr joined_trees(Importer& importer, const Node& node, const Expr& x, const TreeModel& model,
                  topi::TreeJoin join);

}  // namespace tilewright::frontend::onnx
