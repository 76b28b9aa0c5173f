// The derivative of one expression by one element that it reads.
#pragma once
#include "tilewright/te/compute.h"

namespace tilewright::te {

/// The derivative of `value` by the element that `element` reads, where all other reads are constants; null if it is 0
/// everywhere.  Raises Unsupported for an operator without a derivative.
///   A(i) * A(i), A(i)   ->   A(i) + A(i)
/// At a kink, where max(a, b) has a == b, it is that of a; that of abs is 0 at 0, and floor and the like have 0.
PrimExpr derivative(const PrimExpr& value, const ProducerLoadNode* element);

}  // namespace tilewright::te
