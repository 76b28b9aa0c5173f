// What is known of a block that updates what it has written before.
#pragma once
#include "tilewright/schedule/state.h"

namespace tilewright::schedule {

/// Whether all that `block` does is Y[...] = op(Y[...], x) with op one of + * min max and or, x without Y:
/// its instances may run in any order (sums of floats are then rounded differently).
bool is_commutative_update(const BlockNode* block);

}  // namespace tilewright::schedule
