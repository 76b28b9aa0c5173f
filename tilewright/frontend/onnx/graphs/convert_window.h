// Windows of convolutions and pools over [n, c, spatial ...], and the padding of auto_pad.
#pragma once
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// An attribute with `count` integers, e.g. one per spatial dimension.
std::vector<int64_t> numbers_attr(const Node& node, std::string_view name, size_t count, int64_t otherwise);

struct Window {
  std::vector<int64_t> kernel, strides, dilations;
  size_t num_spatial() const { return kernel.size(); }
  /// The extent of the dilated window along a spatial dimension.
  int64_t covered(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};
Window window_of(const Node& node, std::vector<int64_t> kernel);
/// The number of dimensions of `shape` after batch and channels.  Raises Unsupported unless it is 1 to 3.
size_t num_spatial_of(const relax::Shape& shape, std::string_view what = "input");
/// "relax.nn.conv" + "2d"
std::string op_for(std::string_view stem, size_t num_spatial, std::string_view ending = "");

std::string auto_pad_of(const Node& node);
/// Splits `total` to both sides of each dimension; an odd element goes after with SAME_UPPER, before with
/// SAME_LOWER.
std::vector<int64_t> halved(const std::vector<int64_t>& total, bool is_lower);

/// `data`, possibly padded, and the padding that is left to the operator.
struct Padded {
  Expr data;
  std::vector<int64_t> padding;
};
/// The padding that the attributes of `node` require; if it depends on symbolic extents, `data` is padded
/// with `fill`.
Padded padded(Importer& importer, const Node& node, const Expr& data, const Window& window, double fill);

/// The elements that this padding adds before the first one of each spatial dimension of `data`.
relax::Shape padding_before(const Node& node, const relax::Shape& data, const Window& window);

/// Pads `data` with `fill`, or crops it: `before` elements are added before, and the result has `size`
/// elements, in each spatial dimension.  At most `most_before` elements are needed before, and `most_after`
/// after.
struct OpenPadding {
  std::vector<int64_t> most_before, most_after;
  relax::Shape before, size;
};
Expr with_open_padding(Importer& importer, const Node& node, const Expr& data, const OpenPadding& open,
                       double fill);

}  // namespace tilewright::frontend::onnx
