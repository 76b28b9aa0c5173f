// A block around several blocks: what blockize does with a list.
#include <algorithm>

#include "tilewright/analysis/regions.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/core/loops.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/schedule/core/stage.h"
#include "tilewright/schedule/legality/block_checks.h"
#include "tilewright/schedule/transforms/blockize.h"
#include "tilewright/tir/builder.h"

namespace tilewright::schedule {

void read(const ArgValue& value, std::string_view name, TileTarget* out) {
  if (const auto* loop = value.as<LoopRef>()) {
    out->which = *loop;
    return;
  }
  std::vector<BlockRef> blocks;
  const auto* list = value.as<ArgValue::List>();
  if (!list) throw UserError("argument {} must be a loop or a list of blocks, but is {}", name, value.str());
  for (const ArgValue& item : *list) {
    blocks.emplace_back();
    primitive_detail::read(item, name, &blocks.back());
  }
  out->which = std::move(blocks);
}

namespace {

NodeId require_common_body(const State& state, const std::vector<NodeId>& blocks) {
  for (NodeId block : blocks) {
    if (require_scope(state, block) != require_scope(state, blocks[0]))
      throw refuse(state, block, "blocks {} and {} are not inside the same block", state.node(blocks[0]).name,
                   state.node(block).name);
  }
  NodeId around = blocks[0];
  for (NodeId block : blocks) around = common_ancestor(state, around, block);
  return around == blocks[0] ? state.node(around).parent : around;
}

// The kind of the new block's axis for `loop`: instances of the new block depend on each other as the blocks
// inside do.
IterType type_of(const State& state, const std::vector<NodeId>& blocks, const VarNode* loop) {
  bool feeds_spatial = false, feeds_other = false;
  for (NodeId id : blocks) {
    const BlockRealizeNode* realize = state.node(id).realize();
    bool is_used = false;
    for (size_t n = 0; n < realize->iter_values.size(); ++n) {
      if (!uses(realize->iter_values[n], loop)) continue;
      is_used = true;
      (realize->block->iter_vars[n]->iter_type == IterType::kSpatial ? feeds_spatial : feeds_other) = true;
    }
    feeds_other |= !is_used;  // it runs again with the same axes
  }
  return feeds_other ? (feeds_spatial ? IterType::kOpaque : IterType::kReduce) : IterType::kSpatial;
}

}  // namespace

Enclosed enclosed(const State& state, const std::vector<NodeId>& blocks, bool preserve_unit_iters) {
  Enclosed result;
  result.around = require_common_body(state, blocks);
  const TreeNode& around = state.node(result.around);
  std::vector<Stmt> items = statements_of(around.is_loop() ? around.loop()->body : around.block()->body);
  size_t first = items.size(), last = 0;
  for (NodeId block : blocks) {
    const Stmt& child = state.node(child_towards(state, result.around, block)).stmt;
    const auto at = std::find(items.begin(), items.end(), child);
    if (at == items.end())
      throw refuse(state, block, "block {} stands in a condition or definition", state.node(block).name);
    const auto position = static_cast<size_t>(at - items.begin());
    first = std::min(first, position), last = std::max(last, position);
  }
  std::vector<NodeId> inside;
  for (NodeId block : state.blocks_below(result.around)) {
    const Stmt& child = state.node(child_towards(state, result.around, block)).stmt;
    const auto at = std::find(items.begin() + static_cast<long>(first),
                              items.begin() + static_cast<long>(last) + 1, child);
    if (at == items.begin() + static_cast<long>(last) + 1) continue;
    if (std::find(blocks.begin(), blocks.end(), block) == blocks.end())
      throw refuse(state, block, "block {} stands among the blocks, but is not in the list",
                   state.node(block).name);
    inside.push_back(block);
  }
  std::vector<NodeId> loops = around.is_loop() ? state.loops_above(result.around) : std::vector<NodeId>();
  if (around.is_loop()) loops.push_back(result.around);
  arith::Analyzer analyzer;
  Stmt body = seq({items.begin() + static_cast<long>(first), items.begin() + static_cast<long>(last) + 1});
  std::vector<IterVar> axes;
  std::vector<PrimExpr> values;
  Substitution renamed;
  for (NodeId id : loops) {
    const ForNode* loop = state.node(id).loop();
    if (is_one(loop->extent) && !preserve_unit_iters) {
      renamed[loop->loop_var.get()] = loop->min;
      continue;
    }
    const Var var = make_var("v" + loop->loop_var->name_hint, loop->loop_var->dtype);
    axes.push_back(IterVarNode::make(var, make_range(loop->min, loop->extent),
                                     type_of(state, inside, loop->loop_var.get()), std::string()));
    analyzer.bind(var, axes.back()->dom);
    values.push_back(loop->loop_var);
    renamed[loop->loop_var.get()] = var;
  }
  body = substitute_loops(body, renamed, analyzer);
  std::string name;
  for (NodeId block : inside) name += state.node(block).name + "_";
  const Span& written = span_of(state.node(blocks[0]).realize()->block);
  result.block = new_block(name + "o", axes, Stmt(), body, written);
  items.erase(items.begin() + static_cast<long>(first), items.begin() + static_cast<long>(last) + 1);
  items.insert(items.begin() + static_cast<long>(first),
               new_stage(result.block, values, bool_imm(true), {}).stmt);
  if (around.is_loop()) {
    result.stmt = with(around.loop(), [&](ForNode& n) { n.body = seq(items); });
  } else {
    const Block outer = with(around.realize()->block, [&](BlockNode& n) { n.body = seq(items); });
    result.forwarded[around.block()] = outer;
    result.stmt = with(around.realize(), [&](BlockRealizeNode& n) { n.block = outer; });
  }
  return result;
}

}  // namespace tilewright::schedule
