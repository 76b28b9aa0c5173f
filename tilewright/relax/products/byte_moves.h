// Operators whose results hold elements of their first argument: they do the same to bytes that stand for numbers.
#pragma once
#include "tilewright/relax/graph/type_util.h"

namespace tilewright::relax {

/// True if the result of `call` holds elements of its first argument, a tensor or a tuple of tensors, and perhaps zeros
/// around them.
bool only_moves(const CallNode* call);

/// True if each element of the result is the largest of some elements of the first argument: bytes that stand for
/// numbers by a positive scale are in the order of these.
bool takes_largest(const CallNode* call);

/// `call` with `bytes`, which stand for its first argument, in place of it; zeros around them become `zero`.
Call moved(const CallNode* call, const Expr& bytes, int64_t zero);

}  // namespace tilewright::relax
