// Computes float32 matrix products and convolutions with bfloat16 instructions, according to a policy:
//   exact   in float32, the default
//   bf16    operands are rounded to bfloat16 (to_mixed_precision.cc), except for convolutions that are
//           faster in float32 by Winograd's algorithm
//   bf16x3  operands are sums of two bfloat16 values; three of the four products are added
//   bf16x6  operands are sums of three values; six of the nine products are added
//   bf16x9  operands are sums of three values; all products are added
// The last three apply only where they take less time than one product in float32.
//   gv = R.matmul(x, w)  ->  w1 = R.astype(w, "bfloat16")
//                            w2 = R.astype(w - R.astype(w1, "float32"), "bfloat16")
//                            gv = R.matmul_of_parts(x, [w1, w2], order=1)
// With these policies a value beyond the largest bfloat16, or an infinity, becomes NaN.  docs/precision.md
// has the errors.  Constants are split here, not by fold_constant, which would interpret the casts.
// Source: Henry, Tang and Heinecke, Leveraging the bfloat16 Artificial Intelligence Datatype For
// Higher-Precision Computations, arXiv 1904.06376
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/graph/type_util.h"
#include "tilewright/relax/infer/conv_options.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/pipeline.h"
#include "tilewright/relax/products/mixed_precision.h"
#include "tilewright/relax/products/narrow_conv.h"
#include "tilewright/relax/products/winograd_choice.h"
#include "tilewright/target/costs.h"
#include "tilewright/target/features.h"
#include "tilewright/tir/matrix_tile_shape.h"

namespace tilewright::relax {
namespace {

using target::kGraphCosts;

constexpr std::string_view kPolicies[] = {"exact", "bf16", "bf16x3", "bf16x6", "bf16x9"};

struct Options {
  std::string policy = "exact";
  std::optional<int64_t> speedup = {};
  bool has_tiles = false;  // follows from the target, or from `speedup` if that is given
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::policy>("policy", "exact, bf16, bf16x3, bf16x6 or bf16x9"),
        field<&Options::speedup>("speedup",
                                 "number of bfloat16 products in the time of one float32 product; "
                                 "default: what the target has, 10 where none is known")};
  }
};

constexpr int64_t kSpeedupOfTiles = 8;  // no vector instructions reach it

// The number of parts of operands; the products of parts a and b with a + b <= order are added.
struct Parts {
  int64_t count = 0, order = 0;
  int64_t num_products() const { return count == 2 ? 3 : order == 2 ? 6 : 9; }
};
Parts parts_of(std::string_view policy) {
  if (policy == "bf16x3") return {2, 1};
  return policy == "bf16x6" ? Parts{3, 2} : Parts{3, 4};
}

// The rows, columns and summed terms of a product; unknown extents are 0.
struct ProductShape {
  int64_t rows = 0, columns = 0, terms = 0;
};

int64_t extent_of(const Expr& x, int64_t dim) {
  int64_t extent = 0;
  const Shape* shape = known_shape(x);
  return shape && tir::as_const_int((*shape)[static_cast<size_t>(dim)], &extent) ? extent : 0;
}
int64_t ndim_of(const Expr& x) { return type_of(x).as<TensorTypeNode>()->ndim; }

// nullopt if the call is no float32 product, or a convolution with groups or without channels last.
std::optional<ProductShape> product_shape(const CallNode* call) {
  const Expr result(call);
  if (call->args.size() != 2 || dtype_of(call->args[0]) != kFloat32 || dtype_of(call->args[1]) != kFloat32 ||
      dtype_of(result) != kFloat32)
    return std::nullopt;
  const Expr &x = call->args[0], &w = call->args[1];
  const std::string_view name = op_name(call);
  const bool is_conv = name.starts_with("relax.nn.conv") &&
                       name.find("transpose") == std::string_view::npos &&
                       name.find("winograd") == std::string_view::npos;
  if ((name != "relax.matmul" && !is_conv) || ndim_of(x) < 2 || ndim_of(w) < 2 || !known_shape(result))
    return std::nullopt;
  if (is_conv) {
    const topi::ConvOptions options = conv_options(Call(call));
    if (options.groups != 1 || !options.data_layout.starts_with('N') || !options.data_layout.ends_with('C') ||
        !options.kernel_layout.ends_with("IO"))
      return std::nullopt;
  }
  return ProductShape{extent_of(result, ndim_of(result) - 2), extent_of(result, ndim_of(result) - 1),
                      extent_of(w, ndim_of(w) - 2)};
}

// True if the product fills matrix tiles; otherwise float32 takes less time and is at least as exact.
bool fills_tiles(const ProductShape& shape) {
  constexpr int64_t kLeastRows = 1 << 10;  // assumed if the number of rows is unknown
  return tir::fills_matrix_tiles(shape.rows > 0 ? shape.rows : kLeastRows, shape.columns, shape.terms / 2) &&
         shape.terms % 2 == 0;
}

// `value` split into bfloat16 values whose sum it is, the largest first.
std::vector<Expr> split(Expr value, int64_t count) {
  std::vector<Expr> parts{astype(value, DataType::bfloat16())};
  while (static_cast<int64_t>(parts.size()) < count) {
    value = call_op("relax.subtract", {value, astype(parts.back(), kFloat32)});
    parts.push_back(astype(value, DataType::bfloat16()));
  }
  return parts;
}

// The bits of the nearest bfloat16; ties to even.
uint16_t nearest_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t quiet = 0x40, half = 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>(std::isnan(value) ? bits >> 16 | quiet : (bits + half) >> 16);
}

// The parts of a constant, stacked: [parts, ..].
runtime::Tensor split(const runtime::Tensor& constant, int64_t count) {
  const runtime::Tensor data = constant.compact();
  runtime::Shape shape{count};
  shape.insert(shape.end(), data.shape().begin(), data.shape().end());
  const runtime::Tensor result = runtime::Tensor::empty(shape, DataType::bfloat16());
  const auto* from = data.data_as<float>();
  auto* to = result.data_as<uint16_t>();
  const int64_t total = data.num_elements();
  for (int64_t n = 0; n < total; ++n) {
    float rest = from[n];
    for (int64_t part = 0; part < count; ++part) {
      const uint16_t bits = to[part * total + n] = nearest_bfloat16(rest);
      rest -= std::bit_cast<float>(uint32_t{bits} << 16);
    }
  }
  return result;
}

// Stacks the parts of w: [..] -> [parts, ..].
Expr stacked(const Expr& w, int64_t count) {
  if (const auto* constant = w.as<ConstantNode>()) return make_constant(split(constant->data, count));
  std::vector<Expr> parts = split(w, count);
  for (Expr& part : parts)
    part = call_op("relax.expand_dims", {part}, {{"axis", attr(std::vector<int64_t>{0})}});
  return call_op("relax.concat", {Expr(TupleNode::make(parts))}, {{"axis", attr(int64_t{0})}});
}

Expr product_in_parts(const Call& call, const Parts& parts) {
  ir::AttrMap attrs;
  attrs.set("order", attr(parts.order));
  const bool is_conv = op_name(call.get()) != "relax.matmul";
  if (is_conv) {
    const topi::ConvOptions options = conv_options(call);
    attrs.set("strides", attr(options.strides));
    attrs.set("padding", attr(options.padding));
    attrs.set("dilation", attr(options.dilation));
  }
  return call_op(is_conv ? "relax.nn.conv_of_parts" : "relax.matmul_of_parts",
                 {call->args[0], stacked(call->args[1], parts.count)}, attrs, call->span);
}

void check(const Options& options) {
  if (*options.speedup < 1) throw UserError("speedup is {}, expected at least 1", *options.speedup);
  if (std::find(std::begin(kPolicies), std::end(kPolicies), options.policy) != std::end(kPolicies)) return;
  throw UserError("there is no precision \"{}\"", options.policy)
      .help("expected one of {}", fmt::join(kPolicies, ", "));
}

// A convolution may take less time by Winograd's algorithm in float32 than all its products in bfloat16.  The
// estimated work does not include Winograd's transforms, which matter if channels are few; on matrix tiles
// direct convolutions wait for memory.
bool is_winograd_faster(const Call& call, const Options& options, int64_t num_products,
                        const PassContext& context) {
  const double sure_gain = options.has_tiles ? 1.1 : 0.7;
  if (!context.is_enabled(find_pass("winograd"))) return false;
  topi::WinogradLimits limits;
  limits.min_channels = context.config.get_int("winograd.min_channels", 24);
  limits.min_pixels = context.config.get_int("winograd.min_pixels", limits.min_pixels);
  const auto choice =
      winograd_choice(call, limits, context.config.get_int("winograd.tile", 0), context.likely_sizes);
  return choice && choice->share_of_work * static_cast<double>(*options.speedup) <
                       sure_gain * static_cast<double>(num_products);
}

// `module` with each call replaced by change(node, call): `node` has its types, `call` its current arguments.
template <class Change>
IRModule with_calls(const IRModule& module, Change change) {
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const Function changed = rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      return change(Call(node), self.children(node));
    });
    return changed == func ? func : BlockBuilder(module).normalize_function(changed);
  });
}

// Rewrites the first convolutions of networks over rows of values: with tile registers this is faster,
// although some values are multiplied by zeros.
IRModule with_convs_over_rows(const IRModule& module, const Options& options) {
  constexpr int64_t kTermsOfTile = 2 * tir::kMostTileGroups;
  if (!options.has_tiles) return module;
  return with_calls(module, [&](const Call& node, const Call& call) {
    const Expr rows = conv_over_rows(node, call->args, kTermsOfTile);
    return rows ? rows : Expr(call);
  });
}

// True if tiles would not be filled by a product of several rows.  Products of few rows are limited by
// reading their weights, which bfloat16 halves.  The terms of images with one channel are neighbours in a
// row, as conv_over_rows arranges them.
bool is_left_to_float32(const Call& call, const Options& options) {
  std::optional<ProductShape> shape = product_shape(call.get());
  if (shape && shape->terms == 1 && op_name(call.get()) == "relax.nn.conv2d" &&
      conv_options(call).dilation[1] == 1)
    shape->terms = extent_of(call->args[1], 1);
  return options.has_tiles && shape && !fills_tiles(*shape) &&
         (shape->rows >= tir::kLeastTileRows || shape->rows == 0);
}

// True if tiles have enough rows that several products on them are faster than one in float32: a tile of 7
// rows takes as long as one of 16, and a matrix with one tile of rows takes as long as reading its weights.
bool are_tiles_tall(const Call& call, const ProductShape& shape, const Parts& parts) {
  if (shape.rows <= 0) return true;
  const int64_t rows = tir::divisor_up_to(shape.rows, tir::kMostTileRows);
  if (parts.num_products() <= 3) return rows >= tir::kLeastTileRows;
  const bool is_one_tile = rows == shape.rows && op_name(call.get()) == "relax.matmul";
  return rows >= (is_one_tile ? tir::kMostTileRows : kGraphCosts.split_tile_rows);
}

IRModule run(const IRModule& module, const Options& given, PassContext& context) {
  Options options = given;
  if (!options.speedup)
    options.speedup = context.features ? context.features->bfloat_speedup() : kGraphCosts.bfloat_tile_speedup;
  options.has_tiles = given.speedup || !context.features ? *options.speedup >= kSpeedupOfTiles
                                                         : context.features->dots.bfloat_tiles;
  check(options);
  if (options.policy == "exact") return module;
  if (options.policy == "bf16")
    return to_bfloat16(with_convs_over_rows(module, options), [&](const Call& call) {
      return is_left_to_float32(call, options) || is_winograd_faster(call, options, 1, context);
    });
  const Parts parts = parts_of(options.policy);
  if (parts.num_products() >= *options.speedup) return module;  // float32 is faster and at least as exact
  return with_calls(module, [&](const Call& node, const Call& call) {
    const std::optional<ProductShape> shape = product_shape(node.get());
    const bool is_in_parts = shape && fills_tiles(*shape) && are_tiles_tall(node, *shape, parts) &&
                             !is_winograd_faster(node, options, parts.num_products(), context);
    return is_in_parts ? product_in_parts(call, parts) : Expr(call);
  });
}

}  // namespace

extern constinit const PassInfo precision_info = module_pass<run, Options>(
    "precision", "Computes float32 products in bfloat16 where the policy allows it; exact: nowhere.");

}  // namespace tilewright::relax
