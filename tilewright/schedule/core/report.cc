#include "tilewright/schedule/core/report.h"

#include <cctype>

#include "tilewright/ir/services.h"
#include "tilewright/script/print.h"
#include "tilewright/tir/text.h"

namespace tilewright::schedule {
namespace {

bool has_word(std::string_view line, std::string_view word) {
  auto is_part_of_name = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '_' || std::isalnum(byte) || byte >= 0x80;
  };
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part_of_name(line[at - 1])) && (end == line.size() || !is_part_of_name(line[end])))
      return true;
  }
  return false;
}

// True if the line of `span` names the loop or block: what a step makes has the place of its origin, which
// may have another name.
bool is_named_at(const Span& span, const std::string& name) {
  return has_word(span.source->line_text(span.line), name);
}

}  // namespace

std::string text(const ObjectRef& node) {
  if (is<PrimExprNode>(node)) return expr_text(ref_as<PrimExprNode>(node));
  if (is<BufferRegionNode>(node)) return region_text(ref_as<BufferRegionNode>(node));
  return script::print(node);
}

Location location_of(const State& state, NodeId id) {
  const TreeNode& node = state.node(id);
  const Span& written = node.block() ? span_of(node.realize()->block) : span_of(node.stmt);
  if (written && (node.name.empty() || is_named_at(written, node.name))) return {written, {}};
  const State::Func& func = state.func_of(id);
  const script::PrintedProgram program = script::print_with_places(
      func.func, {.show_header = false}, "<" + func.name->name_hint + " as scheduled>");
  const Span printed =
      program.find(node.block() ? static_cast<const Object*>(node.block()) : node.stmt.get());
  return printed ? Location{printed, written} : Location{written, {}};
}

Span locate(const State& state, NodeId id) { return location_of(state, id).span; }

}  // namespace tilewright::schedule
