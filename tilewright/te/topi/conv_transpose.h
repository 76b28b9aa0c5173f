// Transposed convolutions as sums without gaps.  With stride s and distance d of kernel elements, element y of
// the result adds x[i] * w[k] for all i * s + k * d = y + before.  All y of one phase (y + before) mod s use
// the kernel elements of one residue k mod (s / gcd(s, d)), so that each phase is an ordinary convolution with
// these elements.  Data has its channels last.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

/// One spatial dimension of a transposed convolution.
struct TransposedAxis {
  int64_t window = 1, stride = 1, dilation = 1;
  int64_t before = 0, after = 0;  // elements of the full result that are left out at its ends
  int64_t output_padding = 0;     // elements that are added at its end
};

/// Residues of kernel elements, one after the other, that have the same number of elements.
struct Residues {
  int64_t begin = 0, count = 0, taps = 0;
};
/// The residues of the elements of a kernel along `axis`: those with the most elements first.
std::vector<Residues> residues_of(const TransposedAxis& axis);
/// The sums of conv_transpose_by_phase: for each a number of residues_of(axis) for each axis.
std::vector<std::vector<size_t>> parts_of(const std::vector<TransposedAxis>& axes);

/// The index in the kernel along `axis` of element `tap` of residue number `place` of `residues`: in order, or,
/// if there is one part alone, in that of the phases of y that use them.
int64_t kernel_index(const std::vector<TransposedAxis>& axes, size_t axis, const Residues& residues,
                     int64_t place, int64_t tap);

/// The elements of a kernel that part `part` of the sums multiplies by:
/// [residues..., elements of a residue..., inputs of a group, outputs of all groups].
///
/// weight         of a transposed convolution
/// kernel_layout  of its dimensions: I for all inputs, O for the outputs of a group, D, H, W
Tensor phase_weight(const Tensor& weight, const std::string& kernel_layout,
                    const std::vector<TransposedAxis>& axes, int64_t groups, const std::vector<size_t>& part);

struct TransposedSums {
  std::vector<TransposedAxis> axes;
  int64_t groups = 1;
  bool is_channel_first = false;  // in data
  DataType dtype;                 // of the result
};
/// The transposed convolution of `data`, [n, spatial..., o].
///
/// weights  phase_weight for each of parts_of(how.axes)
Tensor conv_transpose_by_phase(const Tensor& data, const std::vector<Tensor>& weights,
                               const TransposedSums& how);

/// The phases of dimensions, which lie in channels, next to each other: element y of the result is element
/// (y + before) // stride of phase (y + before) mod stride.
///
/// data            [n, channels * strides..., spatial...]
/// before, strides  for each spatial dimension
/// extents         of the result's spatial dimensions
Tensor interleave_phases(const Tensor& data, const std::vector<int64_t>& before,
                         const std::vector<int64_t>& strides, const Shape& extents);

/// An extent of the result of a transposed convolution.  Extents may be symbolic.
PrimExpr conv_transpose_extent(const PrimExpr& extent, const TransposedAxis& axis);

}  // namespace tilewright::topi
