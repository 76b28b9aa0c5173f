// Targets as text, and the kinds there are.  The folder kinds/ is the registry: each file defines
// `extern constinit const TargetKind <stem>_info`.
#pragma once
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "tilewright/ir/target.h"

namespace tilewright::target {
using namespace ir;

/// An attribute that a kind of target knows.
struct TargetAttr {
  std::string_view name;
  enum Type { kInt, kString, kStrings } type;
  std::string_view doc;
  std::string_view unit = {};                           // of an integer: "bytes"
  int64_t least = std::numeric_limits<int64_t>::min();  // that an integer may be
  int64_t most = std::numeric_limits<int64_t>::max();
  std::span<const std::string_view> values = {};  // that a string may be; empty: any
};
struct TargetKind {
  std::string_view name, device, doc;
  std::span<const TargetAttr> attrs;
  std::string_view default_keys;  // comma separated
};

/// Made from the folder kinds/.
extern const TargetKind* const k_kinds[];
extern const std::size_t k_kinds_count;
/// All kinds of target, sorted by name.
std::span<const TargetKind* const> all_kinds();
/// Null if `name` is none of them.
const TargetKind* find_target_kind(std::string_view name);

/// The command line that a tag ("nvidia/tesla-p100", "native") stands for; empty if there is no such tag.
std::string_view find_target_tag(std::string_view tag);
/// All tags, sorted.
std::vector<std::string_view> target_tags();

/// The target written as `text`: a kind ("llvm"), a command line ("llvm -mcpu=core-avx2"), a tag
/// ("nvidia/tesla-p100", "native"), also with options after it, or a JSON object ({"kind": "llvm", "mcpu":
/// ...} or {"tag": ...}).
/// Raises UserError for an unknown kind or attribute, naming the nearest, and for a value that is out of
/// range.
Target parse_target(std::string_view text);

}  // namespace tilewright::target
