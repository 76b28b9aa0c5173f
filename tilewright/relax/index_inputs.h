// Finds the parameters of a graph function that are indices, so that valid random inputs can be generated.
#pragma once
#include <map>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// The parameters of `func`, by position, whose elements are used as indices, directly or after casts, moves
/// and arithmetic, with a bound: values from 0 to below it are valid as far as extents are known.  The bound
/// is 1 where an extent is open, and after arithmetic.  Local functions and calls of
/// other functions are ignored.
std::map<size_t, int64_t> index_inputs(const Function& func);

}  // namespace tilewright::relax
