#include "tilewright/relax/products/winograd_choice.h"

#include "tilewright/arith/likely.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/conv_options.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/target/costs.h"

namespace tilewright::relax {
namespace {

using target::kGraphCosts;

// The estimated time of a convolution by tiles of m x m, in multiply-adds for each pair of channels.  Reading
// a weight takes the time of two multiply-adds if it overlaps arithmetic, and of many if all weights come
// from memory, which arithmetic waits for.  Fitted to 6 x 6 to 14 x 14 results of 64 to 512 channels on a Zen
// 4, whose memory is fast compared with its arithmetic, and checked on a Xeon with twice the arithmetic, for
// one and two threads, eight convolutions in sequence.  7 x 7 results take, by tiles of two and of four: 79
// and 49 us for 128 channels, 1.41 and 1.25 ms for 512 (on two threads 0.70 and 1.06 ms); 14 x 14 results for
// 256 channels 940 and 840 us.
double work_of(int64_t height, int64_t width, int64_t m, int64_t channel_pairs) {
  const int64_t points = (m + 2) * (m + 2), tiles = ((height - 1) / m + 1) * ((width - 1) / m + 1);
  const int64_t bytes = points * channel_pairs * 4;
  const int64_t to_read = bytes > kGraphCosts.winograd_farthest_bytes ? kGraphCosts.winograd_farthest_tiles
                          : bytes > kGraphCosts.winograd_far_bytes    ? kGraphCosts.winograd_far_tiles
                                                                      : 0;
  return static_cast<double>(points * std::max(tiles + 2, to_read));
}

}  // namespace

std::optional<WinogradChoice> winograd_choice(const Call& call, const topi::WinogradLimits& limits,
                                              int64_t tile, const AttrMap& likely_sizes) {
  if (op_name(call.get()) != "relax.nn.conv2d" || !is<ConstantNode>(call->args[1])) return std::nullopt;
  const topi::ConvOptions conv = conv_options(call);
  const auto weight = constant_shape(call->args[1]);
  const Shape* result = known_shape(call);
  if (!weight || !known_shape(call->args[0]) || !result || result->size() != 4 ||
      conv.data_layout != "NHWC" || conv.kernel_layout != "HWIO")
    return std::nullopt;
  const std::optional<int64_t> likely_height = arith::likely_value((*result)[1], likely_sizes),
                               likely_width = arith::likely_value((*result)[2], likely_sizes);
  if (!likely_height || !likely_width) return std::nullopt;
  const int64_t height = *likely_height, width = *likely_width;
  if (!topi::is_worth_winograd(conv, (*weight)[0], (*weight)[1], (*weight)[2], (*weight)[3], height * width,
                               limits) ||
      dtype_of(call->args[0]) != kFloat32 || dtype_of(call->args[1]) != kFloat32 ||
      dtype_of(call) != kFloat32)
    return std::nullopt;
  const int64_t pairs = (*weight)[2] * (*weight)[3];
  const double by_two = work_of(height, width, 2, pairs), by_four = work_of(height, width, 4, pairs);
  if (tile == 0) tile = by_four < by_two ? 4 : 2;
  const double share = (tile == 4 ? by_four : by_two) / static_cast<double>(9 * height * width);
  return share < kGraphCosts.winograd_share ? std::optional(WinogradChoice{tile, share}) : std::nullopt;
}

}  // namespace tilewright::relax
