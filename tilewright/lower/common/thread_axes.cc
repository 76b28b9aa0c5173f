#include "tilewright/lower/common/thread_axes.h"

#include <algorithm>

#include "tilewright/ir/walk.h"

namespace tilewright::lower {

std::optional<size_t> kernel_axis(std::string_view tag) {
  const auto found = std::find(kKernelAxes.begin(), kKernelAxes.end(), tag);
  if (found == kKernelAxes.end()) return std::nullopt;
  return static_cast<size_t>(found - kKernelAxes.begin());
}

const IterVarNode* launched_axis(const AttrStmtNode* attr) {
  const auto* axis = attr->attr_key == "thread_extent" ? attr->node.as<IterVarNode>() : nullptr;
  return axis && kernel_axis(axis->thread_tag) ? axis : nullptr;
}

bool has_kernel(const Stmt& stmt) {
  bool found = false;
  ir::walk(
      stmt, [&](const ForNode* loop) { found |= kernel_axis(loop).has_value(); },
      [&](const AttrStmtNode* attr) { found |= launched_axis(attr) != nullptr; });
  return found;
}

}  // namespace tilewright::lower
