// Which convolutions are Winograd's, and with which tile.
#pragma once
#include "tilewright/relax/graph/relax.h"
#include "tilewright/te/topi/winograd.h"

namespace tilewright::relax {

/// A way to compute a convolution by tiles of `tile` x `tile` results.
struct WinogradChoice {
  int64_t tile = 2;          // or 4
  double share_of_work = 1;  // of the time that sums in order take
};

/// Nothing if sums in order take less time, or `call` is no convolution of float32, channels last, with a
/// constant window of 3 x 3.
///
/// tile  2, 4, or 0 for what takes less time
std::optional<WinogradChoice> winograd_choice(const Call& call, const topi::WinogradLimits& limits = {},
                                              int64_t tile = 0);

}  // namespace tilewright::relax
