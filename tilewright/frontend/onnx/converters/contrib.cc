// Products with weights of few bits, of onnxruntime's own domain, com.microsoft.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <algorithm>
#include <numeric>

#include "tilewright/frontend/onnx/graphs/packed_weights.h"
#include "tilewright/runtime/packed_elements.h"

namespace tilewright::frontend::onnx {
namespace {

// The rows of B in the order of their groups: g_idx has the group of each of `k` rows, `block` to a group.
std::vector<int64_t> order_of_groups(const runtime::Tensor& g_idx, int64_t k, int64_t block) {
  if (g_idx.dtype() != kInt32) throw UserError("g_idx is {}, expected int32", g_idx.dtype().str());
  const auto* group = g_idx.data_as<int32_t>();
  std::vector<int64_t> order(static_cast<size_t>(k));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return std::pair(group[a], a) < std::pair(group[b], b); });
  for (int64_t n = 0; n < k; ++n) {
    const int64_t row = order[static_cast<size_t>(n)];
    if (group[row] != n / block)
      throw Unsupported("g_idx puts row {} into group {}, but groups of {} rows in order have {} there", row,
                        group[row], block, n / block)
          .help("export it without act_order");
  }
  return order;
}

// `numbers` [rows, k], a constant, with its columns in `order`.
Expr with_columns_in(const Expr& numbers, const std::vector<int64_t>& order) {
  const runtime::Tensor& held = numbers.as<relax::ConstantNode>()->data;
  const DataType dtype = held.dtype();
  const runtime::Tensor wide = dtype.bits < 8 ? runtime::unpack_elements(held) : held;
  runtime::Tensor moved = runtime::Tensor::empty(wide.shape(), wide.dtype());
  const auto width = static_cast<int64_t>(order.size());
  for (int64_t first = 0; first < wide.num_elements(); first += width) {
    for (int64_t n = 0; n < width; ++n)
      moved.data_as<uint8_t>()[first + n] = wide.data_as<uint8_t>()[first + order[static_cast<size_t>(n)]];
  }
  return relax::make_constant(dtype.bits < 8 ? runtime::pack_elements(moved, dtype) : moved);
}

// y = A @ ((B - zero_points) * scales).T + bias, where B[n, block] holds block_size values of `bits` bits.
void matmul_nbits(Importer& importer, const Node& node) {
  const int64_t k = int_attr(node, "K", 0), n = int_attr(node, "N", 0), bits = int_attr(node, "bits", 4),
                block = int_attr(node, "block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8)
    throw Unsupported("weights of {} bits, supported are 2, 4 and 8", bits);
  if (int_attr(node, "weight_prepacked", 0) != 0)
    throw Unsupported("weight_prepacked is {}, a layout for other processors",
                      int_attr(node, "weight_prepacked", 0));
  if ((block & (block - 1)) != 0) throw UserError("block_size is {}, expected a power of two", block);
  const DataType dtype = DataType::uint(static_cast<int>(bits));
  const int64_t num_blocks = (k - 1) / block + 1, block_bytes = block * bits / 8,
                zero_bytes = (num_blocks * bits + 7) / 8;
  const runtime::Tensor data = require_constant(importer, node, 1, n * num_blocks * block_bytes);
  if (data.dtype() != DataType::uint(8))
    throw UserError("input \"{}\" is {}, expected uint8", node.inputs[1], data.dtype().str());
  const runtime::Tensor scale = require_constant(importer, node, 2, n * num_blocks);
  Expr zero;
  if (const Expr given = importer.value(node, 3)) {
    const bool is_packed = relax::dtype_of(given) == DataType::uint(8);
    const runtime::Tensor points =
        require_constant(importer, node, 3, n * (is_packed ? zero_bytes : num_blocks));
    zero = is_packed ? unpacked(points, n, zero_bytes, num_blocks, dtype)
                     : Expr(relax::make_constant(points.reshape(runtime::Shape{n, num_blocks})));
  } else {
    zero = relax::make_scalar(int64_t{1} << (bits - 1), DataType::uint(8));
  }
  Expr a = importer.value(node, 0);
  Expr numbers = unpacked(data, n, num_blocks * block_bytes, k, dtype);
  if (importer.has_input(node, 4)) {
    const std::vector<int64_t> order = order_of_groups(require_constant(importer, node, 4, k), k, block);
    numbers = with_columns_in(numbers, order);
    const Expr places = relax::make_constant(
        runtime::Tensor::copy_of(order.data(), order.size() * sizeof(int64_t), runtime::Shape{k}, kInt64));
    a = importer.bind(node, "relax.take", {a, places}, {{"axis", attr(int64_t{-1})}, {"mode", attr("clip")}});
  }
  const Expr w =
      importer.bind(node, "relax.dequantize",
                    {numbers, relax::make_constant(scale.reshape(runtime::Shape{n, num_blocks})), zero},
                    {{"axis", attr(int64_t{1})},
                     {"block_size", attr(block)},
                     {"out_dtype", attr(relax::dtype_of(a).str())}});
  const Expr columns =
      importer.bind(node, "relax.permute_dims", {w}, {{"axes", attr(std::vector<int64_t>{1, 0})}});
  Expr result = importer.bind(node, "relax.matmul", {a, columns});
  if (const Expr bias = importer.value(node, 5)) result = importer.bind(node, "relax.add", {result, bias});
  importer.define(node.outputs.at(0), result);
}

// ---- floats of 4 bits, as the library bitsandbytes has them

// Numbers of FP4: the sign, then magnitudes; and NF4, quantiles of the normal distribution.
// Source: Dettmers et al., arXiv 2305.14314, appendix E; github.com/bitsandbytes-foundation/bitsandbytes
constexpr float kFp4[] = {0.0F,         0.0052083333F, 0.6666667F,   1.0F,           0.33333334F, 0.5F,
                          0.16666667F,  0.25F,         -0.0F,        -0.0052083333F, -0.6666667F, -1.0F,
                          -0.33333334F, -0.5F,         -0.16666667F, -0.25F};
constexpr float kNf4[] = {-1.0F,         -0.6961928F, -0.52507305F, -0.3949175F, -0.28444138F, -0.18477343F,
                          -0.091050036F, 0.0F,        0.0795803F,   0.1609302F,  0.2461123F,   0.33791524F,
                          0.44070983F,   0.562617F,   0.72295684F,  1.0F};

// y = A @ B.T, where each byte of B has two numbers, the first in the high bits; absmax has a factor for each block.
void matmul_floats_of_4_bits(Importer& importer, const Node& node) {
  const int64_t k = int_attr(node, "K", 0), n = int_attr(node, "N", 0),
                block = int_attr(node, "block_size", 0);
  const auto& numbers = int_attr(node, "quant_type", 0) == 0 ? kFp4 : kNf4;
  const runtime::Tensor data = require_constant(importer, node, 1, (n * k + 1) / 2);
  const Expr a = importer.value(node, 0), factors = importer.value(node, 2);
  require_constant(importer, node, 2, (n * k - 1) / block + 1);
  if (data.dtype() != DataType::uint(8))
    throw UserError("input \"{}\" is {}, expected uint8", node.inputs[1], data.dtype().str());
  runtime::Tensor values = runtime::Tensor::empty(runtime::Shape{n, k}, kFloat32);
  for (int64_t at = 0; at < n * k; ++at) {
    const uint8_t pair = data.data_as<uint8_t>()[at / 2];
    values.data_as<float>()[at] = numbers[at % 2 == 0 ? pair >> 4 : pair & 15];
  }
  const DataType dtype = relax::dtype_of(a);
  const Expr places = relax::make_constant([&] {
    runtime::Tensor blocks = runtime::Tensor::empty(runtime::Shape{n, k}, kInt32);
    for (int64_t at = 0; at < n * k; ++at) blocks.data_as<int32_t>()[at] = static_cast<int32_t>(at / block);
    return blocks;
  }());
  const Expr scale = importer.bind(node, "relax.take", {factors, places}, {{"axis", attr(int64_t{0})}});
  const Expr w = importer.bind(
      node, "relax.multiply",
      {bound_as(importer, relax::make_constant(values), dtype), bound_as(importer, scale, dtype)});
  const bool is_transposed = int_attr(node, "transB", 1) != 0;
  const Expr b = is_transposed ? importer.bind(node, "relax.permute_dims", {w},
                                               {{"axes", attr(std::vector<int64_t>{1, 0})}})
                               : w;
  importer.emit(node, "relax.matmul", {a, b});
}

constexpr AttributeRule kMatMulBnb4[] = {
    {"K", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"N", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"block_size", Attribute::kInt, 16, kMostExtent, kFirstOpset, kLastOpset, true},
    {"quant_type", Attribute::kInt, 0, 1, kFirstOpset, kLastOpset, true},
    flag("transB"),
    flag("training_mode")};
constexpr AttributeRule kMatMulNBits[] = {
    {"K", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"N", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"accuracy_level", Attribute::kInt},
    {"bits", Attribute::kInt},
    {"block_size", Attribute::kInt, 16, kMostExtent, kFirstOpset, kLastOpset, true},
    {"weight_prepacked", Attribute::kInt}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::MatMulBnb4", matmul_floats_of_4_bits, 3, 3, kMatMulBnb4},
    {"com.microsoft::MatMulNBits", matmul_nbits, 3, 6, kMatMulNBits},
};

}  // namespace

extern constinit const ConverterTable contrib_info = {kRows};

}  // namespace tilewright::frontend::onnx
