// The conditions that primitives which move blocks check, each with the objection where it does not hold.
#pragma once
#include "tilewright/schedule/core/access.h"

namespace tilewright::schedule {

/// Why something cannot be done, as the end of a sentence; empty if it can.
using Objection = std::string;

/// The block around `block`; refuses a root block, around which and beside which there is no place.
NodeId require_scope(const State& state, NodeId block);
/// Empty if different values of the spatial axes write different elements, and reduce axes do not choose
/// elements.
Objection why_not_one_to_one(const State& state, NodeId block);
/// Empty if the block's instances may run in another order: axes spatial or reduce, one to one, no read of
/// what other instances write; a reduction needs a commutative update or a single reduce axis.
Objection why_not_reorderable(const State& state, NodeId block);
/// The conditions for `block` to run that use none of the loops inside of `outer`; the constant True if there
/// are none.
PrimExpr guard_outside(const State& state, NodeId block, NodeId outer);
/// Empty if `block` runs exactly once for every value of its axes in `domains` while the loops inside of
/// `outer` run; on success the domains are filled in (written with the loops around).  Where the block's
/// predicate says something of what is outside, `guard` takes it: the block runs so only where that holds.
/// Without `guard` such a predicate is an objection.  With `axis_guard`, so is what the predicate says of
/// several axes together, k0 * 64 + k1 < 1000: the block runs once for the values of which that holds.
Objection why_not_bijective(const State& state, NodeId block, NodeId outer, std::vector<Range>* domains,
                            PrimExpr* guard = nullptr, PrimExpr* axis_guard = nullptr);
/// Empty if a reduction starts and ends while its scope runs once: its result may then be kept in a buffer
/// that lives in the scope.
Objection why_not_whole_sum(const State& state, NodeId block);
/// Empty if the buffers that `block` writes are written by nothing else and allocated in the function, or
/// `may_be_parameters` of it.
Objection why_not_only_writer(const State& state, NodeId block, bool may_be_parameters = false);

}  // namespace tilewright::schedule
