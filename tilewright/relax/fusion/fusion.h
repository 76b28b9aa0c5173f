// Groups calls of loop programs for fusion: the decision of fuse_ops, independent of the graph.
#pragma once
#include <cstdint>
#include <vector>

#include "tilewright/relax/infer/op.h"

namespace tilewright::relax {

/// A call that may be fused.
struct FusionNode {
  FusePattern pattern = FusePattern::kOpaque;  // kElementwise .. kOutFusable
  bool reads_once = false;                     // a reduction that uses each element once
  bool widens_bytes = false;      // elementwise, of one tensor of bytes: cheaper than to read floats
  bool narrows_to_bytes = false;  // elementwise, with a result of bytes
  bool is_rows = false;           // reductions of rows, which take in only such conversions
  const Shape* shape = nullptr;   // shape of the result
  bool escapes = false;           // its value is needed outside of `nodes`
  std::vector<size_t> users;      // the nodes that use its value, ascending, each once
};

/// For each of `nodes`, which are in program order, the last node of its group; groups have at most
/// `max_size` nodes.  The value of a group is that of its last node; no other value of it is used outside.
///
/// First each matmul, convolution and reduction takes the elementwise work that follows it, as long as shapes
/// stay the same, also through branches that join again (x * sigmoid(x)); but if the last of it widens bytes, and all
/// that read it can do so, it does not, and bytes are stored.  Then each node that is
/// elementwise, broadcasting or injective joins the group of all its users.  It is never fused into a matmul,
/// convolution or pooling, which would recompute it for each use, nor into a computation over a larger shape; but
/// what widens bytes is fused into pooling, and conversions from and to bytes are with norms of rows.
std::vector<size_t> fusion_groups(const std::vector<FusionNode>& nodes, size_t max_size);

/// True if `node`, one of `nodes`, widens bytes and all that read it can do so themselves.
bool readers_may_widen(const FusionNode& node, const std::vector<FusionNode>& nodes);

}  // namespace tilewright::relax
