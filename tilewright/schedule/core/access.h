// The memory that blocks read and write, seen from the loops around them.
// Regions are those that blocks declare, which the verifier has compared with their bodies.
#pragma once
#include "tilewright/arith/int_set.h"
#include "tilewright/arith/iter_map.h"
#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// One region that a block declares, written with the loops around it.
struct Access {
  NodeId block = kNoNode;
  Buffer buffer;
  arith::Region region;  // block axes replaced by their bindings
  bool is_write = false;
  bool is_update = false;  // a write of a block that reads the same elements first: Y[i] = Y[i] + x
};

/// The region with the whole of each dimension in which values of a buffer choose the elements: where the
/// block does not run, such values need not be there.
BufferRegion without_loads(const BufferRegion& region);

/// The accesses of a block, without_loads; the implicit read of a reduction counts as update.
std::vector<Access> accesses_of(const State& state, NodeId block);
/// True if one of them is to `buffer` or what shares its memory, without working them out.
bool has_access(const State& state, NodeId block, const Buffer& buffer);
/// The accesses of the outermost blocks in `id`, which may itself be a block.
std::vector<Access> accesses_below(const State& state, NodeId id);
/// True if two buffers may share memory.
bool may_alias(const Buffer& a, const Buffer& b);
/// True if `expr` loads from memory that `buffer` may share.
bool loads_from(const PrimExpr& expr, const Buffer& buffer);

/// All loops around `block` that are strictly inside of `outer`, outermost first.
std::vector<NodeId> loops_between(const State& state, NodeId outer, NodeId block);
/// The elements touched while the loops strictly inside of `outer` run, as far as the block's predicate lets
/// it run.
arith::IntervalRegion relaxed(const State& state, const Access& access, NodeId outer,
                              arith::Analyzer& analyzer);
/// The same as if the block had no predicate: bounds stay simple.
arith::IntervalRegion relaxed_unguarded(const State& state, const Access& access, NodeId outer,
                                        arith::Analyzer& analyzer);

/// The blocks of the same scope that write what `block` reads and come before it, or read what it writes and
/// come after.
std::vector<NodeId> producers_of(const State& state, NodeId block);
std::vector<NodeId> consumers_of(const State& state, NodeId block);
/// The loops and blocks of `ids` that are inside of `around`, and what is between, in program order: each
/// before what is inside of it.
std::vector<NodeId> with_ways_to(const State& state, NodeId around, std::span<const NodeId> ids);
/// All blocks inside of `scope` in program order; those that hold `id` are opened, so that `id` and all
/// beside it is met.
std::vector<NodeId> blocks_beside(const State& state, NodeId scope, NodeId id);
/// The accesses among them that may be to `buffer` (has_access).
std::vector<NodeId> users_beside(const State& state, NodeId scope, const Buffer& buffer, NodeId id = kNoNode);
/// The blocks among them that write / read `buffer`.
std::vector<NodeId> writers_of(const State& state, NodeId scope, const Buffer& buffer, NodeId id = kNoNode);
std::vector<NodeId> readers_of(const State& state, NodeId scope, const Buffer& buffer, NodeId id = kNoNode);

/// The block in whose alloc_buffers `buffer` is, looking from `from` outwards; kNoNode for parameters.
NodeId allocation_of(const State& state, const Buffer& buffer, NodeId from);

/// True if `buffer` may share memory with a parameter of the function that `near` is in.
bool is_parameter_of(const State& state, NodeId near, const Buffer& buffer);
/// For a buffer that no block allocates: "a parameter of the function", or "allocated by a statement, not by
/// a block".
std::string where_from(const State& state, NodeId near, const Buffer& buffer);

}  // namespace tilewright::schedule
