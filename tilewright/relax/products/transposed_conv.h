// Transposed convolutions as other operators, which need no conditions in their sums.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tilewright/relax/infer/conv_options.h"

namespace tilewright::relax {

/// A transposed convolution whose weight has a known shape with elements.
struct Transposed {
  Call call;
  TransposedOptions how;        // with the extents of the window
  std::vector<int64_t> weight;  // its extents
  size_t count() const { return how.axes.size(); }
  int64_t extent(char letter) const { return weight[how.conv.kernel_layout.find(letter)]; }
};
/// `call` as such, or nothing if it is another operator or too little is known.
std::optional<Transposed> transposed_of(const Call& call);

/// The ordinary convolution that `conv` is for stride 1; null for other strides, or if it would have to leave
/// out elements of data.
Expr conv_of_stride_1(const Transposed& conv);
/// All phases as channels of one ordinary convolution, and nn.interleave_phases of it; null if that takes more
/// time, or data does not have its channels first.
///
/// is_alone      no other convolutions could want channels last
/// likely_sizes  of extents that are not known (arith/likely.h)
Expr phases_as_channels(const Transposed& conv, bool is_alone, const AttrMap& likely_sizes);
/// nn.conv_transpose_by_phase of `data`, which is that of `conv` with its channels last.
Expr conv_by_phase(const Transposed& conv, const Expr& data);

/// `expr` with its dimensions in the order `axes`; itself if that is how they are.
Expr permuted(const Expr& expr, const std::vector<int64_t>& axes);
/// The order of the dimensions of `layout` in which they are those of `wanted`: letters of dimensions.
std::vector<int64_t> order_of(const std::string& layout, const std::string& wanted);
/// The letters of spatial dimensions in `layout`, in the order D, H, W.
std::string spatial_letters(const std::string& layout);

}  // namespace tilewright::relax
