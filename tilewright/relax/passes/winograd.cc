// Computes 3 x 3 convolutions by Winograd's algorithm, with 16 multiplications for four results or 36 for
// sixteen, instead of 36 and 144.
//   y = R.nn.conv2d(x, W, padding=1, data_layout="NHWC", kernel_layout="HWIO")      W a constant
//   ->  y = R.nn.conv2d_winograd(x, U, padding=(1, 1, 1, 1))      U[:, :, c, o] = G @ W[:, :, c, o] @ G.T
// Applies where there are many channels, so that the transforms cost less than the multiplications saved, and
// where images are not so small that reading the larger weights costs more.  float32 only: with tiles of four
// results the errors are smaller than those of direct convolution, since each sum has fewer terms; with tiles
// of sixteen they are about twice as large (tests/relax/passes/test_winograd.py).  An infinity or NaN spreads to
// all results of a tile.
// Source: arXiv 1509.09308, F(2x2, 3x3) and F(4x4, 3x3)
#include <algorithm>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/conv_options.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/products/winograd_choice.h"

namespace tilewright::relax {
namespace {

struct Options {
  int64_t min_channels = topi::WinogradLimits().min_channels;
  int64_t min_pixels = topi::WinogradLimits().min_pixels;
  int64_t tile = 0;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::min_channels>("min_channels", "least value of inputs * outputs / (inputs + outputs)"),
        field<&Options::min_pixels>("min_pixels", "least number of results in one image and channel"),
        field<&Options::tile>("tile",
                              "results of a tile along one dimension: 2, 4, or 0 for what takes less time")};
  }
};

// U = G W G^T, in double precision.
Constant transformed(const ConstantNode* weight, int64_t tile) {
  const std::span<const double> matrix = topi::winograd_weight_matrix(tile);
  const auto points = static_cast<size_t>(tile + 2);
  const runtime::ShapeView shape = weight->data.shape();
  const int64_t channels = shape[2] * shape[3];
  runtime::Tensor result =
      runtime::Tensor::empty(std::vector<int64_t>{tile + 2, tile + 2, shape[2], shape[3]}, kFloat32);
  const auto* from = weight->data.data_as<float>();
  auto* to = result.data_as<float>();
  std::vector<double> sums(static_cast<size_t>(channels));
  for (size_t place = 0; place < points * points; ++place) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (size_t tap = 0; tap < 9; ++tap) {
      const double factor = matrix[place / points * 3 + tap / 3] * matrix[place % points * 3 + tap % 3];
      if (factor == 0) continue;
      const float* values = from + static_cast<int64_t>(tap) * channels;
      for (size_t n = 0; n < sums.size(); ++n) sums[n] += factor * values[n];
    }
    to = std::transform(sums.begin(), sums.end(), to, [](double sum) { return static_cast<float>(sum); });
  }
  return make_constant(result);
}

IRModule run(const IRModule& module, const Options& options, PassContext& context) {
  if (options.tile != 0 && options.tile != 2 && options.tile != 4)
    throw UserError("tile is {}, expected 0, 2 or 4", options.tile);
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const Function changed = rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      const Call call = self.children(node);
      const auto choice = winograd_choice(call, {options.min_channels, options.min_pixels}, options.tile,
                                          context.likely_sizes);
      if (!choice) return call;
      AttrMap attrs;
      attrs.set("padding", attr(conv_options(call).padding));
      return call_op("relax.nn.conv2d_winograd",
                     {call->args[0], transformed(call->args[1].template as<ConstantNode>(), choice->tile)},
                     attrs, call->span);
    });
    return changed == func ? func : BlockBuilder(module).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo winograd_info = module_pass<run, Options>(
    "winograd", "Computes 3 x 3 convolutions of many channels by Winograd's algorithm.", 2);

}  // namespace tilewright::relax
