#include "tilewright/schedule/describe.h"

#include <map>

#include "tilewright/schedule/core/access.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/legality/block_checks.h"

namespace tilewright::schedule {
namespace {

using HandleNames = std::map<NodeId, std::string>;

HandleNames handle_names(const State& state) {
  HandleNames names;
  auto add = [&](NodeId id, const std::string& name) {
    if (id != kNoNode && state.node(id).stmt) names[id] += " " + name;
  };
  for (int32_t n = 0; n < static_cast<int32_t>(state.num_handles()); ++n) {
    if (state.special_place(LoopRef{n})) continue;
    add(state.node_of_handle(LoopRef{n}), handle_name(LoopRef{n}));
    add(state.node_of_handle(BlockRef{n}), handle_name(BlockRef{n}));
  }
  return names;
}

std::string kind_of(const ForNode* loop) {
  switch (loop->for_kind) {
    case ForKind::kSerial: return "";
    case ForKind::kParallel: return " parallel";
    case ForKind::kVectorized: return " vectorized";
    case ForKind::kUnrolled: return " unrolled";
    case ForKind::kThreadBinding: return " " + loop->thread_tag;
  }
  return "";
}

std::string axes_of(const BlockNode* block) {
  std::string letters;
  for (const IterVar& axis : block->iter_vars) letters += "SRCOT"[static_cast<size_t>(axis->iter_type)];
  return letters.empty() ? "" : " " + letters;
}

void append_tree(const State& state, NodeId id, int depth, const HandleNames& names, std::string* out) {
  const TreeNode& node = state.node(id);
  *out += std::string(static_cast<size_t>(depth) * 2, ' ');
  if (const ForNode* loop = node.loop())
    *out += fmt::format("for {} in [{}, {}){}", node.name, text(loop->min),
                        text(arith::simplify(loop->min + loop->extent)), kind_of(loop));
  else
    *out += fmt::format("block {}{}", node.name, axes_of(node.block()));
  const auto named = names.find(id);
  *out += named == names.end() ? "\n" : "  #" + named->second + "\n";
  for (NodeId child : node.children) append_tree(state, child, depth + 1, names, out);
}

}  // namespace

std::string tree_text(const State& state) {
  const HandleNames names = handle_names(state);
  std::string out;
  for (const State::Func& func : state.funcs()) {
    if (func.root == kNoNode) continue;
    out += func.name->name_hint + ":\n";
    append_tree(state, func.root, 1, names, &out);
  }
  return out;
}

std::vector<Dependence> dependences_of(const State& state, NodeId scope) {
  const std::vector<NodeId> blocks = state.child_blocks(scope);
  std::vector<Dependence> found;
  for (size_t later = 0; later < blocks.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const BlockNode *from = state.node(blocks[earlier]).block(), *to = state.node(blocks[later]).block();
      auto meet = [&](const std::vector<BufferRegion>& before, const std::vector<BufferRegion>& after,
                      std::string_view kind) {
        for (const BufferRegion& first : before) {
          for (const BufferRegion& second : after) {
            if (may_alias(first->buffer, second->buffer))
              found.push_back({from->name_hint, to->name_hint, std::string(kind), first->buffer->name});
          }
        }
      };
      meet(from->writes, to->reads, "RAW");
      meet(from->reads, to->writes, "WAR");
      meet(from->writes, to->writes, "WAW");
    }
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> properties_of(const State& state, NodeId block) {
  return {{"writes each element in one iteration of its spatial axes", why_not_one_to_one(state, block)},
          {"may run its iterations in any order", why_not_reorderable(state, block)},
          {"begins and ends its sums within its scope", why_not_whole_sum(state, block)},
          {"alone writes what it writes", why_not_only_writer(state, block)}};
}

}  // namespace tilewright::schedule
