#include "tilewright/schedule/report.h"

#include "tilewright/ir/services.h"

namespace tilewright::schedule {

std::string text(const ObjectRef& node) { return repr(node); }

std::string list_text(const std::vector<std::string>& names) {
  std::string out;
  for (size_t n = 0; n < names.size(); ++n) out += (n == 0 ? "" : n + 1 == names.size() ? " and " : ", ") + names[n];
  return out;
}

Span locate(const State& state, NodeId id) {
  const TreeNode& node = state.node(id);
  return node.block() ? span_of(node.realize()->block) : span_of(node.stmt);
}

}  // namespace tilewright::schedule
