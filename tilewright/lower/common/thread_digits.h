// Whether an index says which thread it is of, by the digits that it is made of.
#pragma once
#include "tilewright/arith/iter_map.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// True if it is proved that two threads have different values of `index`, wherever `condition` (null: always) holds and
/// whatever the iterations of `loops` are that they are in.  False may mean that nothing is known.
///
///   index  threads // 3 * 4 + threads % 3 * 2 + i, for i in range(2), where threads % 3 < 2
bool tells_threads(const PrimExpr& index, const PrimExpr& condition, const arith::IterRanges& threads,
                   const arith::IterRanges& loops);

}  // namespace tilewright::lower
