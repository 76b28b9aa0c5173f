// Rounds constant weights of matmuls to int8 or int4, where reading them limits the time.
//   y = R.matmul(x, W)      W: float32 [k, n], constant
//   ->  y = R.matmul(x, R.dequantize(q, s, 0, axis=0, block_size=group_size))
//       s[g, j] = max |W[rows of group g, j]| / 127 (int4: 7),  q = round(W / s)
// Rounding is to nearest and symmetric: a weight changes by at most s / 2.  docs/precision.md has the error
// of products.  Kept are weights with few bytes for each row of x (pass fuse_dequantize_matmul), weights with
// an infinity or NaN, and weights that are not constants but permutes of them: run fold_constant before.
#include <algorithm>
#include <cmath>
#include <map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/products/quantized_weight.h"
#include "tilewright/runtime/packed_elements.h"
#include "tilewright/support/error.h"

namespace tilewright::relax {
namespace {

struct Options {
  std::string dtype = "float32";
  int64_t group_size = 0;
  int64_t min_bytes = 1 << 20;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::dtype>("dtype", "float32 (weights are not rounded), int8 or int4"),
        field<&Options::group_size>("group_size",
                                    "rows that share a scale, a multiple of 8; 0: all of a column "
                                    "for int8, 32 for int4"),
        field<&Options::min_bytes>("min_bytes", "least size of a weight in float32 for each row of x")};
  }
};

constexpr int64_t kGroupMultiple = 8, kDefaultGroup = 32;

void check(const Options& options) {
  if (options.dtype != "float32" && options.dtype != "int8" && options.dtype != "int4")
    throw UserError("weights cannot be rounded to \"{}\"", options.dtype)
        .help("expected one of float32, int8, int4");
  if (options.group_size < 0 || options.group_size % kGroupMultiple != 0)
    throw UserError("group_size is {}, expected a multiple of {}, or 0", options.group_size, kGroupMultiple);
}

/// A matrix of integers and a scale for each group of rows, or for each column.
struct Rounded {
  runtime::Tensor numbers, scale;
};

// nullopt if a weight is infinite or NaN.
std::optional<Rounded> rounded(const std::vector<float>& weight, int64_t num_rows, int64_t num_columns,
                               int64_t group, DataType dtype) {
  const float most = dtype.bits == 4 ? 7 : 127;
  const int64_t num_groups = (num_rows - 1) / group + 1;
  runtime::Tensor numbers = runtime::Tensor::empty(runtime::Shape{num_rows, num_columns}, DataType::int_(8));
  runtime::Tensor scale = runtime::Tensor::empty(runtime::Shape{num_groups, num_columns}, kFloat32);
  auto* to = numbers.data_as<int8_t>();
  auto* steps = scale.data_as<float>();
  std::fill(steps, steps + num_groups * num_columns, 0.0F);
  for (int64_t row = 0; row < num_rows; ++row) {
    for (int64_t column = 0; column < num_columns; ++column) {
      const float value = weight[static_cast<size_t>(row * num_columns + column)];
      if (!std::isfinite(value)) return std::nullopt;
      float& largest = steps[row / group * num_columns + column];
      largest = std::max(largest, std::abs(value));
    }
  }
  // zeros, and values whose step float32 cannot represent, are rounded to 0 with any step
  std::transform(steps, steps + num_groups * num_columns, steps,
                 [&](float largest) { return largest / most >= 0x1p-126F ? largest / most : 1.0F; });
  for (int64_t row = 0; row < num_rows; ++row) {
    for (int64_t column = 0; column < num_columns; ++column) {
      const float value =
          weight[static_cast<size_t>(row * num_columns + column)] / steps[row / group * num_columns + column];
      to[row * num_columns + column] = static_cast<int8_t>(std::nearbyint(std::clamp(value, -most, most)));
    }
  }
  if (dtype.bits == 4) numbers = runtime::pack_elements(numbers, dtype);
  return Rounded{numbers, scale};
}

/// The rounded form of each constant: products that share a weight still share it.
using RoundedWeights = std::map<const Object*, std::vector<Expr>>;

// The dequantized weight of `call`; null if it is not rounded.
Expr dequantized(const CallNode* call, const Options& options, RoundedWeights& known) {
  const auto* weight = op_name(call) == "relax.matmul" ? call->args[1].as<ConstantNode>() : nullptr;
  const Shape* x = weight ? known_shape(call->args[0]) : nullptr;
  const DataType dtype = weight ? weight->data.dtype() : DataType::void_();
  if (!x || x->empty() || !dtype.is_float() || weight->data.ndim() != 2 || dtype_of(Expr(call)) != dtype ||
      dtype_of(call->args[0]) != dtype ||
      !is_bound_by_weight(*x, weight->data.num_elements(), options.min_bytes))
    return nullptr;
  const DataType to = options.dtype == "int4" ? DataType::int_(4) : DataType::int_(8);
  const int64_t num_rows = weight->data.shape()[0], num_columns = weight->data.shape()[1];
  const int64_t asked = options.group_size > 0 ? options.group_size : to.bits == 4 ? kDefaultGroup : num_rows;
  const bool has_groups = asked < num_rows;
  const auto [found, is_new] = known.try_emplace(weight);
  std::vector<Expr>& args = found->second;
  if (is_new) {
    const std::vector<float> values = numbers_of(weight->data.compact());
    const auto kept = values.empty()
                          ? std::nullopt
                          : rounded(values, num_rows, num_columns, has_groups ? asked : num_rows, to);
    if (kept)
      args = {make_constant(kept->numbers),
              make_constant(has_groups ? kept->scale : kept->scale.reshape(runtime::Shape{num_columns})),
              make_scalar(0, DataType::int_(8))};
  }
  if (args.empty()) return nullptr;
  AttrMap attrs;
  attrs.set("axis", attr(int64_t{has_groups ? 0 : 1}));
  attrs.set("block_size", attr(has_groups ? asked : int64_t{0}));
  attrs.set("out_dtype", attr(dtype.str()));
  return call_op("relax.dequantize", args, attrs, call->span);
}

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  check(options);
  if (options.dtype == "float32") return module;
  RoundedWeights known;
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const Function changed = rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      const Call call = self.children(node);
      const Expr weight = dequantized(node, options, known);
      if (!weight) return call;
      return with(call, [&](CallNode& n) {
        n.args[1] = weight;
        n.type = nullptr;
      });
    });
    return changed == func ? func : BlockBuilder(module).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo quantize_weights_info = module_pass<run, Options>(
    "quantize_weights",
    "Rounds constant weights of matmuls to int8 or int4 where reading them limits the time.");

}  // namespace tilewright::relax
