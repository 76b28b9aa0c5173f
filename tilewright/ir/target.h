// The target of code generation: a kind ("llvm", "c", "cuda", ...) and its attributes.  Layer `target` has
// the kinds, the names of machines and the data about processors.
#pragma once
#include "tilewright/ir/node.h"

namespace tilewright::ir {

/// Target("llvm -mcpu=skylake-avx512")
struct TargetNode final : Node<TargetNode, Object, Kind::kTarget> {
  std::string kind_name;
  AttrMap attrs;
  std::vector<std::string> keys;
  Ref<TargetNode> host;
  static constexpr auto fields() {
    return std::tuple{
        field<&TargetNode::kind_name>("kind_name", "\"llvm\", \"c\", \"cuda\", \"opencl\", \"metal\""),
        field<&TargetNode::attrs>("attrs", "\"mcpu\", \"mtriple\", \"num_cores\", ..."),
        field<&TargetNode::keys>("keys", "\"cpu\", \"gpu\", ...: what rules ask for"),
        field<&TargetNode::host>("host", "where the host part of a device program runs; may be null")};
  }
  /// "llvm -mcpu=native -num-cores=2"; target::parse_target parses it.
  std::string str() const;
};
using Target = Ref<TargetNode>;

}  // namespace tilewright::ir
