#include "tilewright/relax/winograd_choice.h"

#include "tilewright/relax/conv_options.h"
#include "tilewright/relax/liveness.h"
#include "tilewright/relax/op.h"
#include "tilewright/relax/type_util.h"

namespace tilewright::relax {
namespace {

// Multiply-adds for each pair of channels, with what else takes as long: a weight is read in the time of
// some, of more if they are so many that they come from memory.  Fitted to 6 x 6 to 56 x 56 results of 64 to
// 512 channels on a Zen 5: 13 x 13 of 48 to 192 channels take 85 us by four and 121 by two, 14 x 14 of 256
// channels 300 and 267 on two threads.
double work_of(int64_t height, int64_t width, int64_t m, int64_t channel_pairs) {
  constexpr int64_t kFarBytes = 8 << 20;
  const int64_t points = (m + 2) * (m + 2), tiles = ((height - 1) / m + 1) * ((width - 1) / m + 1);
  const bool is_far = 36 * channel_pairs * 4 > kFarBytes;
  return static_cast<double>(points * (tiles + (is_far ? 12 : 8)));
}

}  // namespace

std::optional<WinogradChoice> winograd_choice(const Call& call, const topi::WinogradLimits& limits,
                                              int64_t tile) {
  if (op_name(call.get()) != "relax.nn.conv2d" || !is<ConstantNode>(call->args[1])) return std::nullopt;
  const topi::ConvOptions conv = conv_options(call);
  const auto weight = constant_shape(call->args[1]);
  const Shape* result = known_shape(call);
  int64_t height, width;
  if (!weight || !known_shape(call->args[0]) || !result || result->size() != 4 ||
      !tir::as_const_int((*result)[1], &height) || !tir::as_const_int((*result)[2], &width) ||
      conv.data_layout != "NHWC" || conv.kernel_layout != "HWIO")
    return std::nullopt;
  if (!topi::is_worth_winograd(conv, (*weight)[0], (*weight)[1], (*weight)[2], (*weight)[3], height * width,
                               limits) ||
      dtype_of(call->args[0]) != kFloat32 || dtype_of(call->args[1]) != kFloat32 ||
      dtype_of(call) != kFloat32)
    return std::nullopt;
  const int64_t pairs = (*weight)[2] * (*weight)[3];
  const double by_two = work_of(height, width, 2, pairs), by_four = work_of(height, width, 4, pairs);
  if (tile == 0) tile = by_four < by_two ? 4 : 2;
  const double share = (tile == 4 ? by_four : by_two) / static_cast<double>(9 * height * width);
  return share < 1 ? std::optional(WinogradChoice{tile, share}) : std::nullopt;
}

}  // namespace tilewright::relax
