// Lanes of registers that no statement keeps need no mask: C holds 16 numbers, of which 4 are computed.
//   C[0:16] = T.Select(T.Ramp(0, 1, 16) < T.Broadcast(4, 16), C[0:16] + A[0:16], C[0:16])
//   ->  C[0:16] = C[0:16] + A[0:16]
// Where each store to a vector of local memory keeps the same other lanes as they are, nothing ever was in
// them.  With the mask LLVM keeps a register of 4 numbers, and joins it with the vector after each addition.
#include <map>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/passes/passes.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

/// Neighbouring elements of one memory.
struct Slot {
  int64_t begin = 0, end = 0;
};

/// Vectors of one memory: where they begin, and what stores to them have in common.
struct Vectors {
  struct Vector {
    int64_t end = 0;
    PrimExpr mask;  // of all stores; null: there was none yet
    bool is_whole = false;
  };
  std::map<int64_t, Vector> by_begin;
  bool is_known = true;  // all accesses are of vectors that do not overlap
};

std::optional<Slot> slot_of(const std::vector<PrimExpr>& indices) {
  int64_t begin;
  if (indices.size() != 1) return std::nullopt;
  const auto* ramp = indices[0].as<RampNode>();
  if (!as_const_int(ramp ? ramp->base : indices[0], &begin) || (ramp && !is_one(ramp->stride)))
    return std::nullopt;
  return Slot{begin, begin + (ramp ? ramp->lanes : 1)};
}

// The choice that keeps what the store's vector has in lanes outside of a constant mask.
const SelectNode* keeping_choice(const BufferStoreNode* store) {
  const auto* choice = store->value.as<SelectNode>();
  const auto* old = choice ? choice->false_value.as<BufferLoadNode>() : nullptr;
  if (!old || store->predicate || old->predicate || old->buffer != store->buffer ||
      !structural_equal(old->indices[0], store->indices[0]))
    return nullptr;
  bool is_constant = true;
  walk(
      choice->condition, [&](const VarNode*) { is_constant = false; },
      [&](const BufferLoadNode*) { is_constant = false; }, [&](const CallNode*) { is_constant = false; });
  return is_constant ? choice : nullptr;
}

class Registers {
 public:
  explicit Registers(const PrimFunc& func) {
    walk(func->body, [&](const AllocBufferNode* alloc) {
      if (alloc->buffer->scope() == "local") memories_[alloc->buffer->data.get()];
    });
    walk(
        func->body, [&](const BufferLoadNode* load) { meet(load->buffer, load->indices); },
        [&](const BufferStoreNode* store) {
          Vectors::Vector* vector = meet(store->buffer, store->indices);
          if (vector) meet_store(store, *vector);
        },
        // its address may go anywhere
        [&](const LetStmtNode* let) { forget(let->value.as<VarNode>()); },
        [&](const CallNode* call) {
          const auto* op = call->op.as<OpNode>();
          if (op && op->name != "tir.address_of" && is_pure(call->op)) return;
          for (const PrimExpr& arg : call->args) {
            forget(arg.as<VarNode>());
            if (const auto* element = arg.as<BufferLoadNode>()) forget(element->buffer->data.get());
          }
        },
        [&](const DeclBufferNode* view) { forget(view->buffer->data.get()); });
  }

  /// Whether other lanes than those of the choice that `store` makes hold nothing.
  bool needs_no_mask(const BufferStoreNode* store) const {
    const auto found = memories_.find(store->buffer->data.get());
    if (found == memories_.end() || !found->second.is_known || !keeping_choice(store)) return false;
    const Vectors::Vector& vector = found->second.by_begin.at(slot_of(store->indices)->begin);
    return !vector.is_whole && vector.mask;
  }

 private:
  void forget(const VarNode* memory) {
    if (const auto found = memories_.find(memory); found != memories_.end()) found->second.is_known = false;
  }

  Vectors::Vector* meet(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    const auto found = memories_.find(buffer->data.get());
    if (found == memories_.end() || !found->second.is_known) return nullptr;
    Vectors& vectors = found->second;
    const std::optional<Slot> slot = slot_of(indices);
    vectors.is_known = slot.has_value();
    if (!slot) return nullptr;
    auto [place, is_new] = vectors.by_begin.try_emplace(slot->begin);
    if (is_new) place->second.end = slot->end;
    const auto next = std::next(place);
    vectors.is_known = place->second.end == slot->end &&
                       (place == vectors.by_begin.begin() || std::prev(place)->second.end <= slot->begin) &&
                       (next == vectors.by_begin.end() || slot->end <= next->first);
    return &place->second;
  }

  static void meet_store(const BufferStoreNode* store, Vectors::Vector& vector) {
    const SelectNode* choice = keeping_choice(store);
    if (!choice || (vector.mask && !structural_equal(vector.mask, choice->condition))) vector.is_whole = true;
    if (choice && !vector.mask) vector.mask = choice->condition;
  }

  std::unordered_map<const VarNode*, Vectors> memories_;
};

}  // namespace

PrimFunc whole_registers(const PrimFunc& func) {
  const Registers registers(func);
  return rewrite(func, [&](auto&, const BufferStoreNode* store) -> Stmt {
    if (!registers.needs_no_mask(store)) return Stmt(store);
    return with(store, [&](BufferStoreNode& changed) { changed.value = keeping_choice(store)->true_value; });
  });
}

}  // namespace tilewright::lower
