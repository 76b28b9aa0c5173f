#include "tilewright/relax/products/narrow_conv.h"

#include <algorithm>

#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/conv_options.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/target/costs.h"
#include "tilewright/tir/matrix_tile_shape.h"

namespace tilewright::relax {
namespace {

using target::kGraphCosts;

// [h, w, c, o] -> [h, terms, 1, o], with zeros after the values of each row.
Constant weight_of_rows(const runtime::Tensor& weight, int64_t terms) {
  const runtime::Tensor data = weight.compact();
  const int64_t height = data.shape()[0], row = data.num_elements() / height, outputs = data.shape()[3];
  const runtime::Tensor result = runtime::Tensor::empty(runtime::Shape{height, terms, 1, outputs}, kFloat32);
  const auto* from = data.data_as<float>();
  auto* to = result.data_as<float>();
  std::fill_n(to, result.num_elements(), 0.0F);
  for (int64_t y = 0; y < height; ++y) std::copy_n(from + y * row, row, to + y * terms * outputs);
  return make_constant(result);
}

}  // namespace

Expr conv_over_rows(const Call& call, const std::vector<Expr>& args, int64_t most_terms) {
  if (op_name(call.get()) != "relax.nn.conv2d" || dtype_of(call) != kFloat32) return nullptr;
  const auto* weight = call->args[1].as<ConstantNode>();
  const std::optional<std::vector<int64_t>> data_shape = constant_shape(call->args[0]),
                                            result_shape = constant_shape(call);
  if (!weight || weight->data.dtype() != kFloat32 || !data_shape || !result_shape) return nullptr;
  const std::vector<int64_t>&data = *data_shape, &result = *result_shape;
  const topi::ConvOptions options = conv_options(call);
  if (options.data_layout != "NHWC" || options.kernel_layout != "HWIO" || options.groups != 1 ||
      options.dilation[1] != 1)
    return nullptr;
  const runtime::ShapeView window = weight->data.shape();
  const int64_t channels = data[3], step = options.strides[1] * channels,
                terms = (window[1] * channels + 1) / 2 * 2, before = options.padding[1] * channels;
  const bool is_empty =
      std::count(data.begin(), data.end(), 0) + std::count(result.begin(), result.end(), 0) > 0;
  if (is_empty || channels > kGraphCosts.narrow_channels || terms > most_terms ||
      weight->data.num_elements() == 0 ||
      result[1] * result[2] * weight->data.num_elements() < kGraphCosts.narrow_work ||
      !tir::fills_matrix_tiles(result[2], result[3], terms / 2))
    return nullptr;
  const int64_t after = std::max<int64_t>(0, (result[2] - 1) * step + terms - data[2] * channels - before);
  const Call rows =
      call_op("relax.reshape", {args[0], shape_expr({extent_imm(data[0]), extent_imm(data[1]),
                                                     extent_imm(data[2] * channels), extent_imm(1)})});
  ir::AttrMap attrs = call->attrs;
  attrs.set("strides", ir::attr(std::vector{options.strides[0], step}));
  attrs.set("padding", ir::attr(std::vector{options.padding[0], before, options.padding[2], after}));
  return call_op("relax.nn.conv2d", {rows, weight_of_rows(weight->data, terms)}, attrs, call->span);
}

}  // namespace tilewright::relax
