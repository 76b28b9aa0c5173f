// Blocks whose first axes are the same rows: sums, maxima and what is made of them, softmax, norms.
#pragma once
#include "tilewright/schedule/default/cpu/shape.h"

namespace tilewright::schedule {

/// The spatial axes with more than one value.
std::vector<size_t> spatial_axes(const BlockShape& shape);
/// True if neighbours along `axis` are neighbours in memory in what is read, as far as it depends on the axis.
bool is_contiguous_alone(const BlockShape& sum, size_t axis);
/// The reason why the first `num_rows` axes of `shape` are not those of `last`, the last of `shapes`, in all
/// that it reads and writes; nothing if they are.
std::optional<Reason> why_other_rows(const BlockShape& shape, const BlockShape& last, size_t num_rows,
                                     const std::vector<BlockShape>& shapes);

}  // namespace tilewright::schedule
