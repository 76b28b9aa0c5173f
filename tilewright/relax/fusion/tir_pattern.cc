#include "tilewright/relax/fusion/tir_pattern.h"

#include <algorithm>
#include <set>

#include "tilewright/ir/walk.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"
#include "tilewright/tir/stmt.h"

namespace tilewright::relax {
namespace {
using namespace tir;

bool has_reduction(const BlockNode* block) {
  return std::any_of(block->iter_vars.begin(), block->iter_vars.end(),
                     [](const IterVar& axis) { return axis->iter_type == IterType::kReduce; });
}

// Elementwise if the load has the indices of the store; broadcast if it has some of
// them, in order, or constants.
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

// The blocks below the root; none if the program has anything but blocks and pure calls.
std::vector<const BlockNode*> blocks_of(const PrimFunc& func) {
  const auto* root = func->body.as<BlockRealizeNode>();
  if (!root || !root->block->iter_vars.empty()) return {};
  std::vector<const BlockNode*> blocks;
  bool is_plain = true;
  walk(
      root->block->body, [&](const BlockNode* block) { blocks.push_back(block); },
      [&](const AttrStmtNode*) { is_plain = false; }, [&](const EvaluateNode*) { is_plain = false; },
      [&](const StmtNode* stmt) { is_plain &= runs_inner(stmt) != Runs::kOpen; },
      [&](const tir::CallNode* call) { is_plain &= is_pure(call->op); });
  return is_plain ? blocks : std::vector<const BlockNode*>{};
}

bool reads(const BlockNode* block, const BufferNode* buffer) {
  bool found = false;
  walk(block->body, [&](const BufferLoadNode* load) { found |= load->buffer.get() == buffer; });
  return found;
}

// True if only one other block reads these sums and it multiplies and adds them: sums of groups are one sum.
bool is_part_of_sum(const BlockNode* block, const std::vector<const BlockNode*>& blocks) {
  if (!has_reduction(block) || !sums_products(block) || block->writes.size() != 1) return false;
  const BufferNode* output = block->writes[0]->buffer.get();
  const BlockNode* reader = nullptr;
  for (const BlockNode* other : blocks) {
    if (other == block || !reads(other, output)) continue;
    if (reader || !has_reduction(other)) return false;
    reader = other;
  }
  bool is_factor = false;
  if (reader)
    walk(reader->body, [&](const MulNode* product) {
      const auto* load = product->a.as<BufferLoadNode>();
      is_factor |= load && load->buffer.get() == output;
    });
  return is_factor;
}

// True if every axis with more than one value is an index, once and alone: each element is then read once.
bool uses_all_axes(const BufferLoadNode* load, const BlockNode* block) {
  for (const IterVar& axis : block->iter_vars) {
    const auto uses = std::count_if(load->indices.begin(), load->indices.end(),
                                    [&](const PrimExpr& index) { return index.get() == axis->var.get(); });
    if (uses != 1 && !is_one(axis->dom->extent)) return false;
  }
  return true;
}

std::set<const BufferNode*> buffers_in(const PrimExpr& expr) {
  std::set<const BufferNode*> buffers;
  walk(expr, [&](const BufferLoadNode* load) { buffers.insert(load->buffer.get()); });
  return buffers;
}

// True if indices of all loads are axes or numbers, and no products of two tensors are summed: squares are.
bool reduces_rows(const BlockNode* block) {
  bool is_plain = true;
  walk(
      block->body,
      [&](const BufferLoadNode* load) {
        for (const PrimExpr& index : load->indices)
          is_plain &= is<tir::VarNode>(index) || is<IntImmNode>(index);
      },
      [&](const MulNode* product) { is_plain &= buffers_in(product->a) == buffers_in(product->b); });
  return is_plain;
}

}  // namespace

bool is_rows(const PrimFunc& func) {
  if (func->attrs.contains("op_pattern") || pattern_of(func) != FusePattern::kOpaque) return false;
  const std::vector<const BlockNode*> blocks = blocks_of(func);
  return !blocks.empty() && !has_reduction(blocks.back()) &&
         std::all_of(blocks.begin(), blocks.end(), [](const BlockNode* block) {
           return block->body.as<BufferStoreNode>() && (!has_reduction(block) || reduces_rows(block));
         });
}

FusePattern pattern_of(const PrimFunc& func) {
  constexpr auto kOpaque = static_cast<int64_t>(FusePattern::kOpaque);
  if (func->attrs.contains("op_pattern"))
    return static_cast<FusePattern>(
        std::clamp<int64_t>(func->attrs.get_int("op_pattern", kOpaque), 0, kOpaque));
  const std::vector<const BlockNode*> blocks = blocks_of(func);
  if (blocks.empty()) return FusePattern::kOpaque;
  const auto num_reductions = std::count_if(blocks.begin(), blocks.end(), [&](const BlockNode* block) {
    return has_reduction(block) && !is_part_of_sum(block, blocks);
  });
  if (num_reductions > 1) return FusePattern::kOpaque;
  if (num_reductions == 0)
    return blocks.size() == 1 ? pattern_of_spatial(blocks[0]) : FusePattern::kInjective;
  const bool has_products = std::any_of(blocks.begin(), blocks.end(), [](const BlockNode* block) {
    return has_reduction(block) && sums_products(block);
  });
  return has_products ? FusePattern::kOutFusable : FusePattern::kReduction;
}

bool reads_once(const PrimFunc& func) {
  const std::vector<const BlockNode*> blocks = blocks_of(func);
  // a block before the reduction (padding) is read more than once
  if (blocks.empty() || !has_reduction(blocks[0])) return false;
  std::vector<const BufferNode*> written;
  for (const BufferRegion& region : blocks[0]->writes) written.push_back(region->buffer.get());
  bool once = true;
  walk(blocks[0]->body, [&](const BufferLoadNode* load) {
    const bool is_own = std::find(written.begin(), written.end(), load->buffer.get()) != written.end();
    once &= is_own || uses_all_axes(load, blocks[0]);
  });
  return once;
}

}  // namespace tilewright::relax
