// Pools of large windows, one dimension after the other: rows are combined first, then what is along a row in
// steps, each of which doubles the width of a window.
//   rows[.., y, x]    = max over r of data[.., y * stride + r, x - padding]
//   step2[.., y, x]   = max(rows[.., y, x], rows[.., y, x + 1])
//   step4[.., y, x]   = max(step2[.., y, x], step2[.., y, x + 2])
//   result[.., y, x]  = max(step4[.., y, x * stride], step4[.., y, x * stride + 3])          a window of 7
// Each element is added in the same order whatever the extents are.
#pragma once
#include "tilewright/te/topi/pool_windows.h"

namespace tilewright::topi {

enum class PoolKind { kMax, kSum };

/// True if windows of `options` take less work by steps than all at once.
bool is_pooled_by_steps(PoolKind kind, const PoolOptions& options);
/// The largest elements of windows, or their sums, in dtype_of_sums.
Tensor pool_by_steps(PoolKind kind, const Pooling& pooling);

}  // namespace tilewright::topi
