// softmax and log_softmax along one axis, shifted by the maximum so that exp never overflows.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

Tensor softmax(const Tensor& x, int64_t axis);
Tensor log_softmax(const Tensor& x, int64_t axis);

}  // namespace tilewright::topi
