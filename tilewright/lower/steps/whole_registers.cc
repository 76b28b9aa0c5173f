// Removes masks of stores to registers whose other lanes hold no values.  C holds 16 values, of which 4 are
// computed:
//   C[0:16] = T.Select(T.Ramp(0, 1, 16) < T.Broadcast(4, 16), C[0:16] + A[0:16], C[0:16])
//   ->  C[0:16] = C[0:16] + A[0:16]
// If every store to a vector of local memory leaves the same lanes unchanged, those lanes never held a value.
// With the mask, LLVM uses a register of 4 values and joins it with the vector after each addition.
#include <map>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/services.h"
#include "tilewright/ir/walk.h"
#include "tilewright/lower/step.h"
#include "tilewright/tir/builder.h"
#include "tilewright/tir/op.h"

namespace tilewright::lower {
namespace {

/// A vector or a scalar in one memory.
struct Slot {
  int64_t begin = 0, end = 0;
};

/// The slots of one memory that loads and stores access, as long as no two of them overlap and nothing else
/// has the memory's address.
struct Memory {
  struct Use {
    int64_t end = 0;
    PrimExpr mask;                  // mask of the stores that keep the other lanes; null: none
    bool has_other_stores = false;  // a store to all lanes, or with another mask
  };
  std::map<int64_t, Use> slots;  // by first element
  bool is_known = true;
};

std::optional<Slot> slot_of(const std::vector<PrimExpr>& indices) {
  int64_t begin;
  if (indices.size() != 1) return std::nullopt;
  const auto* ramp = indices[0].as<RampNode>();
  if (!as_const_int(ramp ? ramp->base : indices[0], &begin) || (ramp && !is_one(ramp->stride)))
    return std::nullopt;
  return Slot{begin, begin + (ramp ? ramp->lanes : 1)};
}

// The Select of a store that keeps the vector's lanes outside of a constant mask.
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

// Calls `meet` with each variable in an expression that is not the memory of a load or store: code that gets
// the address of memory may write to all of it.
template <class Meet>
void for_each_address(const Stmt& body, const Meet& meet) {
  rewrite(
      body,
      [&](auto& self, const BufferLoadNode* load) -> PrimExpr {
        self(load->indices);
        return PrimExpr(load);
      },
      [&](auto& self, const BufferStoreNode* store) -> Stmt {
        self(store->value), self(store->indices);
        return Stmt(store);
      },
      [&](auto& self, const AllocBufferNode* alloc) -> Stmt {
        self(alloc->body);
        return Stmt(alloc);
      },
      [&](auto& self, const DeclBufferNode* view) -> Stmt {
        meet(view->buffer->data.get());
        self(view->body);
        return Stmt(view);
      },
      [&](auto& self, const CallNode* call) -> PrimExpr {
        const auto* op = call->op.as<OpNode>();
        if (!op || op->name == "tir.address_of" || !is_pure(call->op)) {
          for (const PrimExpr& arg : call->args)
            walk(arg, [&](const BufferLoadNode* load) { meet(load->buffer->data.get()); });
        }
        self(call->args);
        return PrimExpr(call);
      },
      [&](auto&, const VarNode* var) -> PrimExpr {
        meet(var);
        return PrimExpr(var);
      });
}

/// Properties of the stores to local memory.
class Registers {
 public:
  explicit Registers(const PrimFunc& func) {
    walk(func->body, [&](const AllocBufferNode* alloc) {
      if (alloc->buffer->scope() == "local") memories_[alloc->buffer->data.get()];
    });
    for_each_address(func->body, [&](const VarNode* var) {
      if (const auto found = memories_.find(var); found != memories_.end()) found->second.is_known = false;
    });
    walk(
        func->body, [&](const BufferLoadNode* load) { meet(load->buffer, load->indices); },
        [&](const BufferStoreNode* store) {
          Memory::Use* use = meet(store->buffer, store->indices);
          if (use) meet_store(store, *use);
        });
  }

  /// True if the lanes that the Select of `store` keeps hold no values.
  bool needs_no_mask(const BufferStoreNode* store) const {
    const auto found = memories_.find(store->buffer->data.get());
    if (found == memories_.end() || !found->second.is_known || !keeping_choice(store)) return false;
    const Memory::Use& use = found->second.slots.at(slot_of(store->indices)->begin);
    return !use.has_other_stores && use.mask;
  }

 private:
  Memory::Use* meet(const Buffer& buffer, const std::vector<PrimExpr>& indices) {
    const auto found = memories_.find(buffer->data.get());
    if (found == memories_.end() || !found->second.is_known) return nullptr;
    Memory& memory = found->second;
    const std::optional<Slot> slot = slot_of(indices);
    memory.is_known = slot.has_value();
    if (!slot) return nullptr;
    auto [place, is_new] = memory.slots.try_emplace(slot->begin);
    if (is_new) place->second.end = slot->end;
    const auto next = std::next(place);
    memory.is_known = place->second.end == slot->end &&
                      (place == memory.slots.begin() || std::prev(place)->second.end <= slot->begin) &&
                      (next == memory.slots.end() || slot->end <= next->first);
    return &place->second;
  }

  static void meet_store(const BufferStoreNode* store, Memory::Use& use) {
    const SelectNode* choice = keeping_choice(store);
    if (!choice || (use.mask && !structural_equal(use.mask, choice->condition))) use.has_other_stores = true;
    if (choice && !use.mask) use.mask = choice->condition;
  }

  std::unordered_map<const VarNode*, Memory> memories_;
};

PrimFunc whole_registers(const PrimFunc& func) {
  const Registers registers(func);
  return rewrite(func, [&](auto&, const BufferStoreNode* store) -> Stmt {
    if (!registers.needs_no_mask(store)) return Stmt(store);
    return with(store, [&](BufferStoreNode& changed) { changed.value = keeping_choice(store)->true_value; });
  });
}

}  // namespace

extern constinit const StepInfo whole_registers_info = {
    .name = "whole_registers",
    .doc = "lanes of registers that hold nothing have no mask",
    .uses = kVectors,
    .without = kVectorLoops,
    .run = without_options<whole_registers>,
};

}  // namespace tilewright::lower
