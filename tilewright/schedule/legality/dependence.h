// Decides if the order of a loop's iterations matters: per element, from the declared regions, never from
// axis types.
#pragma once
#include "tilewright/schedule/core/access.h"

namespace tilewright::schedule {

/// The loops of `loops` (one nest, outermost first) whose iterations must be the same when the two accesses
/// touch the same element: two instances that differ in one of them never meet.
std::vector<NodeId> determined_loops(const State& state, const Access& a, const Access& b,
                                     const std::vector<NodeId>& loops);

/// The same for two boxes of one buffer that move with the loops.
std::vector<NodeId> determined_loops(const State& state, const arith::IntervalRegion& a,
                                     const arith::IntervalRegion& b, const std::vector<NodeId>& loops,
                                     arith::Analyzer& analyzer);

/// A loop, of `last` and those around it inside of `outer`, in which a later iteration may write again what
/// `read` reads; none: what it reads stays until all of them have ended.  Both accesses are inside of `last`.
std::optional<NodeId> loop_that_rewrites(const State& state, const Access& read, const Access& write,
                                         NodeId outer, NodeId last);

/// Raises UserError if `writer` may write again, and something else, what `read` reads, in a later iteration
/// of one of these loops.
void require_not_rewritten(const State& state, const Access& read, NodeId writer, NodeId outer, NodeId last);

/// Two accesses to one buffer, at least one a write, that different iterations of `loop` may make to the same
/// element.
struct Conflict {
  Access first, second;
  NodeId loop = kNoNode;
  std::string witness =
      {};  // two iterations that show it: "block C at i=2 reads Y[3], written by block Y at i=3"
  /// "block Y writes Y[vi, vj] in several iterations of loop k"
  std::string str(const State& state) const;
  /// The refusal with the witness, if there is one, as a note.
  void explain(Error& error) const;
};

/// A reason why iterations of `loop` may not run at the same time, or nothing.  Buffers that every iteration
/// fills before it reads them do not count: each iteration has its own.  `thread_tag` is what the loop is or will
/// be bound to: threads of one block (threadIdx) may add their terms to one sum, which lowering combines.
std::optional<Conflict> parallel_conflict(const State& state, NodeId loop, std::string_view thread_tag);

/// True if no loop around `loop` chooses terms of the sum of `block`: each iteration of it has consecutive terms.
bool is_outermost_of_sum(const State& state, NodeId block, NodeId loop);

/// A buffer that only `loop` uses, and in which an iteration finds what it has not written itself: when its
/// iterations run at the same time, lowering gives each a buffer of its own, and what was in it is gone when
/// the loops around run it again.
std::optional<Conflict> private_conflict(const State& state, NodeId loop);

/// A reason why the nest may not run in the order `after` instead of `before` (the same loops), or nothing.
/// A reduction with a commutative update may change the order of its terms.
std::optional<Conflict> order_conflict(const State& state, const std::vector<NodeId>& before,
                                       const std::vector<NodeId>& after);

}  // namespace tilewright::schedule
