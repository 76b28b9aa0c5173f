// Which parameters of a graph function are indices, so that numbers can be made up that it takes.
#pragma once
#include <map>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// The parameters of `func`, by number, whose elements are indices, as they are or after casts, moves and
/// arithmetic, with a bound: numbers from 0 up to it, without it, are legal as far as extents are known; 1
/// where an extent is open, and behind arithmetic.  Local functions and calls of others are not looked into.
std::map<size_t, int64_t> index_inputs(const Function& func);

}  // namespace tilewright::relax
