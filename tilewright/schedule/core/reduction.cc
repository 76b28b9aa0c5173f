#include "tilewright/schedule/core/reduction.h"

#include <algorithm>

#include "tilewright/analysis/update.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/core/access.h"

namespace tilewright::schedule {
namespace {

using analysis::is_commutative;

// The kind of op in Y[idx] = op(Y[idx], x); nothing for other stores.
std::optional<Kind> update_kind(const BufferStoreNode* store) {
  const auto* op = store->value.as<BinaryOpNode>();
  if (!op || !is_commutative(op->kind, op->dtype)) return std::nullopt;
  auto is_self = [&](const PrimExpr& side) {
    const auto* load = side.as<BufferLoadNode>();
    if (!load || load->buffer != store->buffer) return false;
    for (size_t n = 0; n < load->indices.size(); ++n) {
      if (!structural_equal(load->indices[n], store->indices[n])) return false;
    }
    return true;
  };
  if (is_self(op->a) && !loads_from(op->b, store->buffer)) return op->kind;
  if (is_self(op->b) && !loads_from(op->a, store->buffer)) return op->kind;
  return std::nullopt;
}

}  // namespace

namespace {

// True if all stores of the block are Y[...] = op(Y[...], x), where x, with names replaced by their values,
// reads no running value.
bool has_commutative_stores(const BlockNode* block) {
  std::unordered_map<const BufferNode*, Kind> kinds;
  bool is_update = true;
  std::vector<const BufferStoreNode*> stores;
  std::vector<PrimExpr> named;
  walk(
      block->body, [&](const BufferStoreNode* store) { stores.push_back(store); },
      [&](const LetStmtNode* let) { named.push_back(let->value); }, [&](const CallNode*) { return true; },
      [&](const BlockNode* inner) {
        is_update &= inner->init == nullptr || inner == block;
        return true;
      });
  for (const BufferStoreNode* store : stores) {
    const std::optional<Kind> kind = update_kind(store);
    if (!kind) return false;
    auto [known, is_new] = kinds.try_emplace(store->buffer.get(), *kind);
    is_update &= is_new || known->second == *kind;
  }
  // Another buffer's running value in x would make the order count.
  for (const auto& [buffer, kind] : kinds) {
    for (const BufferStoreNode* store : stores) {
      if (buffer != store->buffer.get()) is_update &= !loads_from(store->value, Buffer(buffer));
    }
    for (const PrimExpr& value : named) is_update &= !loads_from(value, Buffer(buffer));
  }
  return is_update && !stores.empty();
}

}  // namespace

bool is_commutative_update(const BlockNode* block) {
  if (has_commutative_stores(block)) return true;
  const std::optional<analysis::Update> update = analysis::update_of(block);
  return update && update->order == analysis::TermOrder::kFree;
}

bool is_own_sum(const BlockNode* block, const BufferRegion& read, const std::vector<BufferRegion>& writes) {
  return block->init && std::any_of(writes.begin(), writes.end(),
                                    [&](const BufferRegion& write) { return structural_equal(read, write); });
}

std::string why_not_apart(const State& state, NodeId id, const Buffer& buffer) {
  const BlockNode* block = state.node(id).block();
  for (const BufferRegion& read : block->reads) {
    if (is_own_sum(block, read, block->writes)) continue;
    for (const BufferRegion& write : block->writes) {
      const bool is_asked = !buffer || may_alias(write->buffer, buffer);
      if (is_asked && may_alias(read->buffer, write->buffer))
        return fmt::format("block {} reads {}, which it also writes", block->name_hint, read->buffer->name);
    }
  }
  return {};
}

}  // namespace tilewright::schedule
