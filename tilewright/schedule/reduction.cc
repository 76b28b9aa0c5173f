#include "tilewright/schedule/reduction.h"

#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/schedule/access.h"

namespace tilewright::schedule {
namespace {

bool is_commutative(Kind kind, DataType dtype) {
  switch (kind) {
    case Kind::kAdd:
    case Kind::kMul:
    case Kind::kMin:
    case Kind::kMax:
    case Kind::kAnd:
    case Kind::kOr:
      return !dtype.is_bool() || kind == Kind::kAnd || kind == Kind::kOr || kind == Kind::kMin ||
             kind == Kind::kMax;
    default: return false;
  }
}

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

bool is_commutative_update(const BlockNode* block) {
  std::unordered_map<const BufferNode*, Kind> kinds;
  bool is_update = true;
  std::vector<const BufferStoreNode*> stores;
  walk(
      block->body, [&](const BufferStoreNode* store) { stores.push_back(store); },
      [&](const CallNode*) { return true; },
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
  for (const BufferStoreNode* store : stores) {
    for (const auto& [buffer, kind] : kinds) {
      if (buffer != store->buffer.get()) is_update &= !loads_from(store->value, Buffer(buffer));
    }
  }
  return is_update && !stores.empty();
}

}  // namespace tilewright::schedule
