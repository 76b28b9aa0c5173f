// Chooses the convolutions to compute by Winograd's algorithm, and their tiles.
#pragma once
#include <optional>

#include "tilewright/relax/graph/relax.h"
#include "tilewright/te/topi/winograd.h"

namespace tilewright::relax {

/// Winograd's algorithm with tiles of `tile` x `tile` results.
struct WinogradChoice {
  int64_t tile = 2;          // 2 or 4
  double share_of_work = 1;  // time, relative to direct convolution
};

/// nullopt if direct convolution takes less time, or if `call` is no float32 convolution with channels last
/// and a constant window of 3 x 3.
///
/// tile          2, 4, or 0 for the faster one
/// likely_sizes  likely extents of an image that are not known (arith/likely.h); without them it has none
std::optional<WinogradChoice> winograd_choice(const Call& call, const topi::WinogradLimits& limits = {},
                                              int64_t tile = 0, const ir::AttrMap& likely_sizes = {});

}  // namespace tilewright::relax
