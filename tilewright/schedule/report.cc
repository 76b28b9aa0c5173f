#include "tilewright/schedule/report.h"

#include "tilewright/ir/services.h"
#include "tilewright/script/print.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {

std::string text(const ObjectRef& node) {
  if (is<PrimExprNode>(node)) return expr_text(ref_as<PrimExprNode>(node));
  if (is<BufferRegionNode>(node)) return region_text(ref_as<BufferRegionNode>(node));
  return script::print(node);
}

Span locate(const State& state, NodeId id) {
  const TreeNode& node = state.node(id);
  const Span& written = node.block() ? span_of(node.realize()->block) : span_of(node.stmt);
  if (written) return written;
  const State::Func& func = state.func_of(id);
  const script::PrintedProgram program = script::print_with_places(
      func.func, {.show_header = false}, "<" + func.name->name_hint + " as scheduled>");
  return program.find(node.block() ? static_cast<const Object*>(node.block()) : node.stmt.get());
}

}  // namespace tilewright::schedule
