// Small steps that many primitives share: looking at loops, putting expressions for loop variables.
#pragma once
#include "tilewright/arith/iter_map.h"
#include "tilewright/ir/rewrite.h"
#include "tilewright/schedule/core/state.h"
#include "tilewright/tir/uses.h"

namespace tilewright::schedule {

/// (variable, range) of each loop.
arith::IterRanges ranges_of(const State& state, const std::vector<NodeId>& loops);
/// Binds the variables of the loops around `id`, up to the root of the function, to their ranges.
void bind_loops_above(const State& state, NodeId id, arith::Analyzer& analyzer);

/// Raises UserError unless the loop is serial, without annotations and not bound to a thread.
void require_plain(const State& state, NodeId loop);
/// The constant extent of a loop, or nothing.
std::optional<int64_t> const_extent(const ForNode* loop);

/// `body` with expressions for loop variables; block bindings, predicates and loop bounds that change are
/// simplified. `analyzer` knows the loops around `body`.
Stmt substitute_loops(const Stmt& body, const Substitution& values, arith::Analyzer& analyzer);
/// `body` run only where `condition` holds: as predicate of the blocks directly inside, or as an `if` around
/// statements that are in no block.
Stmt guarded(const Stmt& body, const PrimExpr& condition, arith::Analyzer& analyzer);

/// Raises UserError unless the loops, outermost first, are each the only statement of the one before.
void require_chain(const State& state, const std::vector<NodeId>& loops);

/// The lowest node that has both inside (or is one of them).
NodeId common_ancestor(const State& state, NodeId a, NodeId b);
/// True if `a` comes before `b` in the program; false when one is inside the other.
bool is_before(const State& state, NodeId a, NodeId b);
/// The child of `ancestor` on the way to `id`.
NodeId child_towards(const State& state, NodeId ancestor, NodeId id);

}  // namespace tilewright::schedule
