// What machine code is made for: a kind ("llvm", "c", "cuda", ...) and its attributes.
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
  /// "llvm -mcpu=native -num-cores=2": what parse_target reads back.
  std::string str() const;
};
using Target = Ref<TargetNode>;

/// One attribute a target kind knows.
struct TargetAttr {
  std::string_view name;
  enum Type { kInt, kString, kStrings } type;
  std::string_view doc;
};
struct TargetKind {
  std::string_view name, device, doc;
  const TargetAttr* attrs;
  size_t num_attrs;
  std::string_view default_keys;  // comma separated
};
/// All kinds of target; null if `name` is none of them.
const TargetKind* find_target_kind(std::string_view name);

/// The command line that a tag ("nvidia/tesla-p100", "native") stands for; empty if there is no such tag.
std::string_view find_target_tag(std::string_view tag);
/// All tags, sorted.
std::vector<std::string_view> target_tags();

/// The target written as `text`: a kind ("llvm"), a command line ("llvm -mcpu=core-avx2"), a tag
/// ("nvidia/tesla-p100", "native"), also with options after it, or a JSON object ({"kind": "llvm", "mcpu":
/// ...} or
/// {"tag": ...}).
/// Raises UserError for an unknown kind or attribute, naming the nearest.
Target parse_target(std::string_view text);

}  // namespace tilewright::ir
