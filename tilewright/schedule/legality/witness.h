// A concrete pair of iterations for a refusal: found by going through the first iterations of the loops.
#pragma once
#include <functional>
#include <map>

#include "tilewright/schedule/core/access.h"

namespace tilewright::schedule {

/// The values of the loops around a block.
using Iteration = std::map<NodeId, int64_t>;

/// "block C at i=2 reads Y[3, 0], written by block Y at i=3": the first pair of instances, of the block of
/// `one` and of that of `other`, which touch the same element and for which `counts` holds.  Only the values
/// of `shown` are written.  Empty if there is none among those that were looked at: loops of constant bounds,
/// and of long nests only the beginning.
std::string find_witness(const State& state, const Access& one, const Access& other,
                         const std::vector<NodeId>& shown,
                         const std::function<bool(const Iteration& one, const Iteration& other)>& counts);

/// "[0, 0] and [1, 0] both go to [0, 0]": two index tuples below `extents` which the map puts in one place;
/// empty if there are none among the first ones.
std::string find_collision(const IndexMap& map, const std::vector<PrimExpr>& extents);

/// Adds as a note of `error`: an instance of `reader` that reads elements which two iterations of `loop`
/// write.
void explain_split(Error& error, const State& state, const Access& reader, const Access& writer, NodeId loop);

/// Adds as a note of `error`: an instance of `reader` that reads an element which an instance of `writer` in
/// a later (`is_later`) or in any other iteration of `loop` writes, if one is found.
void explain_read(Error& error, const State& state, const Access& reader, const Access& writer, NodeId loop,
                  bool is_later);

}  // namespace tilewright::schedule
