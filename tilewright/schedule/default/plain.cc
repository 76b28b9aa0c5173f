// Decides if a function is as an operator's definition gives it, or somebody has scheduled it.
#include <algorithm>

#include "tilewright/arith/analyzer.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/default/choices.h"
#include "tilewright/schedule/default/default.h"
#include "tilewright/tir/block_roles.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {
namespace {

template <class... Args>
std::optional<Reason> form(fmt::format_string<Args...> format, Args&&... args) {
  return Reason(Reason::kForm, format, std::forward<Args>(args)...);
}

bool is_unit(const IterVar& axis) { return is_one(axis->dom->extent); }

// One loop per axis, in any order; an axis of one value may stand at a constant.
std::optional<Reason> why_not_plain_block(const BlockRealizeNode* realize,
                                          const std::vector<const ForNode*>& loops) {
  const BlockNode* block = realize->block.get();
  if (!is_one(realize->predicate)) return form("block {} has a predicate", block->name_hint);
  // the role of a block does not say how it is computed, and a plan asks the rules for it
  const bool has_others =
      std::any_of(block->annotations.begin(), block->annotations.end(),
                  [](const AttrMap::Entry& each) { return each.first != kRole && !is_plan(each.first); });
  if (has_others) return form("block {} has annotations", block->name_hint);
  std::vector<bool> is_used(loops.size(), false);
  for (size_t n = 0; n < realize->iter_values.size(); ++n) {
    const PrimExpr& value = realize->iter_values[n];
    if (is<IntImmNode>(value) && is_unit(block->iter_vars[n])) continue;
    bool found = false;
    for (size_t loop = 0; loop < loops.size() && !found; ++loop) {
      found = !is_used[loop] && loops[loop]->loop_var.get() == value.as<VarNode>();
      if (found) is_used[loop] = true;
    }
    if (!found)
      return form("axis {} of block {} is not a loop", block->iter_vars[n]->var->name_hint, block->name_hint);
  }
  // loops inside belong to the computation of the block; blocks inside come from a schedule
  bool has_inner = false;
  walk(block->body, [&](const BlockRealizeNode*) { has_inner = true; });
  if (!has_inner) return std::nullopt;
  return form("block {} has blocks inside", block->name_hint);
}

std::optional<Reason> why_not_plain_nest(const Stmt& stmt, std::vector<const ForNode*>* loops) {
  if (const auto* realize = stmt.as<BlockRealizeNode>()) return why_not_plain_block(realize, *loops);
  const auto* loop = stmt.as<ForNode>();
  if (!loop && stmt.as<SeqStmtNode>())
    return form("loop {} has {} statements inside", loops->back()->loop_var->name_hint,
                stmt.as<SeqStmtNode>()->seq.size());
  if (!loop) return form("a statement is in no block");
  if (loop->for_kind != ForKind::kSerial || !loop->annotations.empty() || !is_zero(loop->min))
    return form("loop {} is not a plain serial loop", loop->loop_var->name_hint);
  loops->push_back(loop);
  return why_not_plain_nest(loop->body, loops);
}

// A view of a part of a parameter, as large as that part: a graph pass has placed it there.
bool is_part_of_param(const PrimFunc& func, const MatchBufferRegion& view) {
  const auto& [buffer, region] = std::tie(view->source->buffer, view->source->region);
  if (std::find(func->buffers.begin(), func->buffers.end(), buffer) == func->buffers.end()) return false;
  if (region.size() != view->buffer->shape.size()) return false;
  for (size_t dim = 0; dim < region.size(); ++dim) {
    if (!arith::Analyzer().can_prove_equal(region[dim]->extent, view->buffer->shape[dim])) return false;
  }
  return true;
}

}  // namespace

std::optional<Reason> why_not_plain(const PrimFunc& func) {
  const auto* realize = func->body.as<BlockRealizeNode>();
  if (!realize || !realize->iter_values.empty()) return form("it has no root block");
  const BlockNode* root = realize->block.get();
  if (!root->annotations.empty()) return form("its root block has annotations");
  for (const Buffer& buffer : root->alloc_buffers) {
    if (buffer->scope() != "global") return form("buffer {} is in scope {}", buffer->name, buffer->scope());
  }
  if (root->init) return form("its root block is more than a list of nests");
  for (const MatchBufferRegion& view : root->match_buffers) {
    if (!is_part_of_param(func, view))
      return form("{} is a view, but not of a part of a parameter", view->buffer->name);
  }
  const auto* list = root->body.as<SeqStmtNode>();
  const std::vector<Stmt> nests = list ? list->seq : std::vector<Stmt>{root->body};
  for (const Stmt& nest : nests) {
    std::vector<const ForNode*> loops;
    if (std::optional<Reason> reason = why_not_plain_nest(nest, &loops)) return reason;
  }
  return std::nullopt;
}

}  // namespace tilewright::schedule
