// Which calls of loop programs become one: the decision of fuse_ops, apart from the graph.
#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

/// A call that may be fused, as the decision sees it.
struct FusionNode {
  FusePattern pattern = FusePattern::kOpaque;  // kElementwise .. kOutFusable
  bool reads_once = false;                     // of a reduction: it uses each element once
  const Shape* shape = nullptr;                // of the result
  bool escapes = false;                        // its value is needed by something that is no node
  std::vector<size_t> users;                   // the nodes that use its value, ascending, each once
};

/// For each of `nodes`, which stand in program order, the last node of its group; groups have at most
/// `max_size` nodes.  The value of a group is that of its last node, no other is used outside of it.
///
/// First each matmul, convolution and reduction takes the elementwise work that follows it, as far as shapes
/// stay the same, also through branches that join again (x * sigmoid(x)).  Then what is elementwise,
/// broadcasting or moves elements joins the group of all its users; it never moves into a matmul, convolution
/// or pooling, which would compute it again for each use, nor into work over a larger shape.
std::vector<size_t> fusion_groups(const std::vector<FusionNode>& nodes, size_t max_size);

}  // namespace tilewright::relax
