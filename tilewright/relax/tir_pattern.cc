#include "tilewright/relax/tir_pattern.h"

#include <algorithm>

#include "tilewright/ir/walk.h"
#include "tilewright/tir/op.h"

namespace tilewright::relax {
namespace {
using namespace tir;

bool has_reduction(const BlockNode* block) {
  return std::any_of(block->iter_vars.begin(), block->iter_vars.end(),
                     [](const IterVar& axis) { return axis->iter_type == IterType::kReduce; });
}

// elementwise: the very indices of the store; broadcast: some of them, in order, or constants
FusePattern pattern_of_load(const BufferLoadNode* load, const std::vector<PrimExpr>& stored) {
  if (load->indices == stored) return FusePattern::kElementwise;
  size_t next = 0;
  for (const PrimExpr& index : load->indices) {
    if (is<IntImmNode>(index)) continue;
    while (next < stored.size() && stored[next] != index) ++next;
    if (next++ == stored.size()) return FusePattern::kInjective;
  }
  return FusePattern::kBroadcast;
}

FusePattern pattern_of_spatial(const BlockNode* block) {
  const auto* target = block->body.as<BufferStoreNode>();
  if (!target) return FusePattern::kOpaque;
  FusePattern worst = FusePattern::kElementwise;
  bool loads_any = false;
  walk(target->value, [&](const BufferLoadNode* load) {
    loads_any = true;
    worst = std::max(worst, pattern_of_load(load, target->indices));
  });
  return loads_any ? worst : FusePattern::kInjective;
}

bool sums_products(const BlockNode* block) {
  bool found = false;
  walk(block->body, [&](const MulNode* product) {
    bool left = false, right = false;
    walk(product->a, [&](const BufferLoadNode*) { left = true; });
    walk(product->b, [&](const BufferLoadNode*) { right = true; });
    found |= left && right;
  });
  return found;
}

}  // namespace

FusePattern pattern_of(const PrimFunc& func) {
  if (func->attrs.contains("op_pattern"))
    return static_cast<FusePattern>(std::clamp<int64_t>(func->attrs.get_int("op_pattern", 6), 0,
                                                        static_cast<int64_t>(FusePattern::kOpaque)));
  const auto* root = func->body.as<BlockRealizeNode>();
  if (!root || !root->block->iter_vars.empty()) return FusePattern::kOpaque;
  std::vector<const BlockNode*> blocks;
  bool is_plain = true;
  walk(
      root->block->body, [&](const BlockNode* block) { blocks.push_back(block); },
      [&](const WhileNode*) { is_plain = false; }, [&](const AttrStmtNode*) { is_plain = false; },
      [&](const EvaluateNode*) { is_plain = false; },
      [&](const tir::CallNode* call) { is_plain &= is_pure(call->op); });
  if (!is_plain || blocks.empty()) return FusePattern::kOpaque;
  const bool reduces = std::any_of(blocks.begin(), blocks.end(), has_reduction);
  if (blocks.size() > 1) return reduces ? FusePattern::kOutFusable : FusePattern::kInjective;
  if (!reduces) return pattern_of_spatial(blocks[0]);
  return sums_products(blocks[0]) ? FusePattern::kOutFusable : FusePattern::kReduction;
}

}  // namespace tilewright::relax
