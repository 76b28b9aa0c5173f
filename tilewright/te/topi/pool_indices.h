// Windows over [n, c, spatial ...] whose padding may be an expression of open extents: the largest elements with
// their places, and sums.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

struct Windows {
  std::vector<int64_t> kernel, strides, dilations;  // of each spatial dimension
  Shape before;                                     // the elements that padding adds before the first
  Shape extents;                                    // the number of windows
};

/// The largest element of each window, the first of equal ones, and its place among all elements of `data`, int64.
/// Padding and NaN are never the largest; a window with nothing else has the least value and the place of its
/// last element in data.
///
/// is_column_major  whether places count the first spatial dimension fastest, else the last
std::vector<Tensor> max_pool_with_indices(const Tensor& data, const Windows& windows, bool is_column_major);
/// The sums of the elements of windows, in dtype_of_sums.
Tensor window_sums(const Tensor& data, const Windows& windows);

/// A list of `size` zeros but for `values` [n] at `places` [n], integers from -size to size - 1; of several values with
/// one place the last counts.
Tensor spread(const Tensor& values, const Tensor& places, const PrimExpr& size);

}  // namespace tilewright::topi
