// Questions about blocks and buffers that schedules, lowering and checks ask.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "tilewright/ir/module.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// A block at its place.
struct BlockPlace {
  BlockRealize realize;
  std::vector<For> loops;      // between it and the block around it, outermost first
  std::vector<Block> parents;  // blocks around it, outermost first
  const BlockNode* block() const { return realize->block.get(); }
};

/// All blocks executed in `root`, in program order, an outer one before those inside.
std::vector<BlockPlace> find_blocks(const Stmt& root);
/// The block called `name`.  Raises UserError if there is none (naming the nearest) or more than one.
BlockPlace find_block(const Stmt& root, std::string_view name);

/// True if the block sums up: it has an init, or a reduce axis.
bool is_reduction_block(const BlockNode* block);

/// Empty if `block`, executed inside `scope`, only computes elements of its own: all axes are spatial, it
/// reads nothing that it writes, and no other block in `scope` writes what it writes.  Else the reason.
std::string why_not_complete(const BlockNode* block, const BlockNode* scope);
inline bool is_complete_block(const BlockNode* block, const BlockNode* scope) {
  return why_not_complete(block, scope).empty();
}
/// Empty if `block` is a sum that starts itself: it has an init, its axes are spatial or reduce, reduce axes
/// do not choose the element that is written, and no other block in `scope` writes that.  Else the reason.
std::string why_not_reduction(const BlockNode* block, const BlockNode* scope);

/// The blocks directly inside of `scope` (not those inside of these) that write what `block` reads, in
/// program order, `block` itself left out.
std::vector<Block> producers_of(const BlockNode* block, const BlockNode* scope);
/// Those that read what `block` writes.
std::vector<Block> consumers_of(const BlockNode* block, const BlockNode* scope);

/// For each buffer that `func` accesses the innermost statement that holds all accesses (a loop, block,
/// sequence, ...); a buffer of a parameter has the whole body.  T.reads and T.writes count as accesses.
std::unordered_map<const BufferNode*, const StmtNode*> buffer_lcas(const PrimFunc& func);

/// The buffers that belong to one iteration of a loop that runs its iterations at the same time: a block
/// outside of the loop allocates them, but all accesses (T.reads and T.writes do not count) are inside, so
/// that lowering gives each iteration its own.  By loop (or T.launch_thread statement), each buffer with the
/// innermost such loop.  Threads of a block share buffers of a shared scope; a buffer whose address is taken
/// is nobody's own.
std::unordered_map<const StmtNode*, std::vector<Buffer>> private_buffers(const PrimFunc& func);

/// True if something in `stmt` does not run each time that `stmt` does, or not as often as its loops say: behind a
/// condition, in a while loop, in a block with a predicate.
bool has_conditional_statements(const Stmt& stmt);
/// True if an expression in it has a part that is not computed each time: Select, T.if_then_else.
bool has_conditional_values(const Stmt& stmt);

/// True if computing `expr` twice, or not at all, could be noticed: it calls something impure.
bool has_side_effect(const PrimExpr& expr);

}  // namespace tilewright::analysis
