// Shared by compute_inline and reverse_compute_inline.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/core/edit.h"
#include "tilewright/schedule/legality/block_checks.h"

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

/// The indices of the loads of `buffer` in the store's value.  Raises UserError unless they are all the same.
std::vector<PrimExpr> require_one_index(const State& state, NodeId block, const BufferStoreNode* store,
                                        const Buffer& buffer);
/// Raises UserError unless `block` can be computed where `producer` is: what it reads beside `buffer` is
/// there already, and nothing uses what it writes before it.
void require_order_free(const State& state, NodeId block, NodeId producer, const Buffer& buffer);
/// Raises UserError unless each element of `buffer` that `block` reads is one that `producer` writes: an
/// instance that reads nothing that there is would have no producer to be computed by.
void require_all_written(const State& state, NodeId block, NodeId producer, const Buffer& buffer);
/// The values that the block's axes take.  Raises UserError unless it runs once for each.
std::vector<Range> require_bijective(const State& state, NodeId block);

/// Takes `buffer`, which goes, off what the blocks around `block`, inside of `owner`, say that they access.
void drop_regions(const State& state, NodeId block, NodeId owner, const Buffer& buffer, Edit* edit);

/// `realize` with `edit` run on its statements, and the declared regions of every block in it whose body
/// changes found anew.  Changed blocks are entered in `forwarded`.
BlockRealize with_changed_body(const BlockRealizeNode* realize, const std::function<Stmt(const Stmt&)>& edit,
                               BlockMap* forwarded);

}  // namespace tilewright::schedule
