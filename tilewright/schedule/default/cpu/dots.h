// Sums of products of bytes or bfloat16, which dot product instructions add by groups.
//   C[i, j] += cast(A[i, k]) * cast(B[k, j])  ->  C[i, j] += A[i, 4 * k + 0..3] . B[j // w, k, j % w, 0..3]
#pragma once
#include "tilewright/schedule/default/cpu/shape.h"

namespace tilewright::schedule {

/// A sum that such instructions compute.
struct DotSum {
  size_t axis = 0;                         // summed by groups
  int64_t group = 1;                       // elements in 32 bits
  int64_t lanes = 1;                       // of one vector, which all columns fill
  const BufferLoadNode* row = nullptr;     // contiguous along `axis`: one group, for all lanes
  const BufferLoadNode* column = nullptr;  // a group for each lane
  bool is_grouped = false;                 // `column` is stored so: [..., axis // group, ..., axis % group]
  std::string intrinsic;                   // that computes one vector
};
/// `sum`, whose vectors run along axis `column_axis`, by such instructions; or why the machine has none that
/// suits it.
OrReason<DotSum> dot_sum(const BlockShape& sum, size_t column_axis, const Features& features);

}  // namespace tilewright::schedule
