// What compute_inline and reverse_compute_inline share.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/block_checks.h"

namespace tilewright::schedule {

/// The only statement of a block, if it is an unconditional store and the block is neither a reduction nor
/// opaque. Raises UserError otherwise.
const BufferStoreNode* require_single_store(const State& state, NodeId block);
/// Raises UserError when the block's value uses loops around it or calls something with an effect.
void require_pure_value(const State& state, NodeId block, const BufferStoreNode* store);
/// Raises UserError unless all uses of `buffer` inside of `owner` are plain loads and stores of elements.
void require_element_access(const State& state, NodeId owner, const Buffer& buffer);

/// For each of `axes` its value, when index n of an access has the value `outputs[n]`: `indices` must be one
/// to one. Axes that no index uses must have one value.  Raises UserError with `what` otherwise.
Substitution solve_indices(const State& state, NodeId block, const std::vector<PrimExpr>& indices,
                           const std::vector<PrimExpr>& outputs, const std::string& what);

/// `realize` with `edit` run on its statements, and the declared regions of every block in it whose body
/// changes found anew.  Changed blocks are entered in `forwarded`.
BlockRealize with_changed_body(const BlockRealizeNode* realize, const std::function<Stmt(const Stmt&)>& edit,
                               BlockMap* forwarded);

}  // namespace tilewright::schedule
