// Properties of blocks and buffers that schedules, lowering and checks need.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "tilewright/ir/module.h"
#include "tilewright/tir/tir.h"

namespace tilewright::analysis {
using namespace tir;

/// A block with its surrounding loops and blocks.
struct BlockPlace {
  BlockRealize realize;
  std::vector<For> loops;      // between the block and the next outer block, outermost first
  std::vector<Block> parents;  // the enclosing blocks, outermost first
  const BlockNode* block() const { return realize->block.get(); }
};

/// All blocks in `root` in program order; an outer block comes before those inside it.
std::vector<BlockPlace> find_blocks(const Stmt& root);
/// The block called `name`.  Raises UserError if there is none (with the nearest names) or more than one.
BlockPlace find_block(const Stmt& root, std::string_view name);

/// True if the block is a reduction: it has an init, or a reduce axis.
bool is_reduction_block(const BlockNode* block);

/// Empty if `block`, executed inside `scope`, computes each of its elements once and alone: all axes are
/// spatial, it does not read a buffer that it writes, and no other block in `scope` writes its buffers.  Else
/// the reason.
std::string why_not_complete(const BlockNode* block, const BlockNode* scope);
inline bool is_complete_block(const BlockNode* block, const BlockNode* scope) {
  return why_not_complete(block, scope).empty();
}
/// Empty if `block` is a complete reduction: it has an init, its axes are spatial or reduce, reduce axes do
/// not select the element that is written, and no other block in `scope` writes its buffers.  Else the
/// reason.
std::string why_not_reduction(const BlockNode* block, const BlockNode* scope);

/// The blocks directly inside `scope` (not nested deeper) that write buffers that `block` reads, in program
/// order, without `block` itself.
std::vector<Block> producers_of(const BlockNode* block, const BlockNode* scope);
/// The blocks directly inside `scope` that read buffers that `block` writes.
std::vector<Block> consumers_of(const BlockNode* block, const BlockNode* scope);

/// For each buffer that `func` accesses, the innermost statement (loop, block, sequence, ...) that contains
/// all accesses; for a parameter's buffer, the whole body.  T.reads and T.writes count as accesses.
std::unordered_map<const BufferNode*, const StmtNode*> buffer_lcas(const PrimFunc& func);

/// The buffers that lowering gives each iteration of a concurrent loop (parallel, vectorized, threads)
/// separately: a block outside of the loop allocates the buffer, but all accesses (T.reads and T.writes do
/// not count) are inside. Maps the loop (or T.launch_thread statement) to its buffers, each under the
/// innermost such loop.  Threads of a block share buffers of a shared scope; a buffer whose address is taken
/// is never private.
std::unordered_map<const StmtNode*, std::vector<Buffer>> private_buffers(const PrimFunc& func);

/// True if something in `stmt` does not run each time that `stmt` does, or not as often as its loops say: behind a
/// condition, in a while loop, in a block with a predicate.
bool has_conditional_statements(const Stmt& stmt);
/// True if an expression in it has a part that is not computed each time: Select, T.if_then_else.
bool has_conditional_values(const Stmt& stmt);

/// True if evaluating `expr` twice, or not at all, would be noticeable: it calls an impure function.
bool has_side_effect(const PrimExpr& expr);

}  // namespace tilewright::analysis
