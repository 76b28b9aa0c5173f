// Matrix products and convolutions of float32 by instructions for bfloat16, as a policy says:
//   exact   in float32, the default
//   bf16    operands are rounded to bfloat16 (to_mixed_precision.cc); convolutions that Winograd's sums do
//           faster in float32 are not
//   bf16x3  operands are sums of two bfloat16 values, and three of the four products are added
//   bf16x6  of three values, six of the nine products
//   bf16x9  of three values, all products
//   gv = R.matmul(x, w)  ->  x1 = R.astype(x, "bfloat16")
//                            x2 = R.astype(x - R.astype(x1, "float32"), "bfloat16")      w1, w2 alike
//                            gv = R.matmul(R.concat((x1, x2, x1), -1), R.concat((w2, w1, w1), -2), "float32")
// Terms stand along the summed axis, small ones first: one product of more terms, whose sums are of float32.
// Under the last three a value beyond the largest bfloat16 and an infinity become NaN.  docs/precision.md has
// the errors.  Constants are split here, and not by fold_constant, which would interpret the casts.
// Source: Henry, Tang and Heinecke, Leveraging the bfloat16 Artificial Intelligence Datatype For
// Higher-Precision Computations, arXiv 1904.06376
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tilewright/ir/rewrite.h"
#include "tilewright/relax/block_builder.h"
#include "tilewright/relax/liveness.h"
#include "tilewright/relax/mixed_precision.h"
#include "tilewright/relax/op.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/pipeline.h"
#include "tilewright/relax/type_util.h"
#include "tilewright/relax/winograd_choice.h"

namespace tilewright::relax {
namespace {

constexpr std::string_view kPolicies[] = {"exact", "bf16", "bf16x3", "bf16x6", "bf16x9"};

struct Options {
  std::string policy = "exact";
  int64_t speedup = 16;
  static constexpr auto fields() {
    return std::tuple{
        field<&Options::policy>("policy", "exact, bf16, bf16x3, bf16x6 or bf16x9"),
        field<&Options::speedup>("speedup",
                                 "how many times as many products of bfloat16 as of float32 take a time; "
                                 "compile knows it of its target")};
  }
};

// Which parts of the operands are multiplied, by significance: 0 is the first.  Small products first.
using Places = std::vector<size_t>;
struct Terms {
  Places a, b;
};
Terms terms_of(std::string_view policy) {
  const size_t num_parts = policy == "bf16x3" ? 2 : 3;
  const size_t least = policy == "bf16x3" ? 1 : policy == "bf16x6" ? 2 : 4;  // sum of both places
  Terms terms;
  for (size_t order = least + 1; order-- > 0;) {
    for (size_t a = 0; a < num_parts; ++a) {
      if (order < a || order - a >= num_parts) continue;
      terms.a.push_back(a);
      terms.b.push_back(order - a);
    }
  }
  return terms;
}

// The summed axes of both operands; nothing if the call is no such product of float32.
std::optional<std::pair<int64_t, int64_t>> summed_axes(const CallNode* call) {
  if (call->args.size() != 2 || dtype_of(call->args[0]) != kFloat32 || dtype_of(call->args[1]) != kFloat32 ||
      dtype_of(Expr(call)) != kFloat32)
    return std::nullopt;
  const std::string_view name = op_name(call);
  if (name == "relax.matmul") {
    const int64_t a = type_of(call->args[0]).as<TensorTypeNode>()->ndim,
                  b = type_of(call->args[1]).as<TensorTypeNode>()->ndim;
    return a >= 2 && b >= 2 ? std::optional(std::pair{a - 1, b - 2}) : std::nullopt;
  }
  if (!name.starts_with("relax.nn.conv") || name.find("transpose") != std::string_view::npos ||
      call->attrs.get_int("groups", 1) != 1)
    return std::nullopt;
  const size_t channel = call->attrs.get_string("data_layout", "").find('C'),
               input = call->attrs.get_string("kernel_layout", "").find('I');
  if (channel == std::string::npos || input == std::string::npos) return std::nullopt;
  return std::pair{static_cast<int64_t>(channel), static_cast<int64_t>(input)};
}

// `value` as a sum of bfloat16 values, the largest first.
std::vector<Expr> parts_of(Expr value, size_t count) {
  std::vector<Expr> parts{astype(value, DataType::bfloat16())};
  while (parts.size() < count) {
    value = call_op("relax.subtract", {value, astype(parts.back(), kFloat32)});
    parts.push_back(astype(value, DataType::bfloat16()));
  }
  return parts;
}

// The bits of the nearest bfloat16, of two the even one.
uint16_t nearest_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t quiet = 0x40, half = 0x7fff + ((bits >> 16) & 1);
  return static_cast<uint16_t>(std::isnan(value) ? bits >> 16 | quiet : (bits + half) >> 16);
}

// The parts of a constant along `axis`, as `places` says.
Constant joined(const ConstantNode* constant, const Places& places, size_t axis) {
  const runtime::Tensor data = constant->data.compact();
  runtime::Shape shape(data.shape().begin(), data.shape().end());
  int64_t inner = 1;
  for (size_t dim = axis; dim < shape.size(); ++dim) inner *= shape[dim];
  shape[axis] *= static_cast<int64_t>(places.size());
  const runtime::Tensor result = runtime::Tensor::empty(shape, DataType::bfloat16());
  const auto* from = data.data_as<float>();
  auto* to = result.data_as<uint16_t>();
  std::vector<std::vector<uint16_t>> parts(*std::max_element(places.begin(), places.end()) + 1);
  for (auto& part : parts) part.resize(static_cast<size_t>(inner));
  for (int64_t begin = 0; begin < data.num_elements(); begin += inner) {
    for (int64_t n = 0; n < inner; ++n) {
      float rest = from[begin + n];
      for (auto& part : parts) {
        const uint16_t bits = part[static_cast<size_t>(n)] = nearest_bfloat16(rest);
        rest -= std::bit_cast<float>(uint32_t{bits} << 16);
      }
    }
    for (const size_t place : places) to = std::copy(parts[place].begin(), parts[place].end(), to);
  }
  return make_constant(result);
}

Expr joined(const Expr& value, const Places& places, int64_t axis) {
  if (const auto* constant = value.as<ConstantNode>())
    return joined(constant, places, static_cast<size_t>(axis));
  const std::vector<Expr> parts = parts_of(value, *std::max_element(places.begin(), places.end()) + 1);
  std::vector<Expr> chosen;
  for (const size_t place : places) chosen.push_back(parts[place]);
  return call_op("relax.concat", {Expr(TupleNode::make(chosen))}, {{"axis", attr(axis)}});
}

Call in_parts(const Call& call, const Terms& terms, std::pair<int64_t, int64_t> axes) {
  return with(call, [&](CallNode& n) {
    n.args = {joined(call->args[0], terms.a, axes.first), joined(call->args[1], terms.b, axes.second)};
    n.attrs.set("out_dtype", attr(kFloat32));
    n.type = nullptr;
  });
}

void check(const Options& options) {
  if (options.speedup < 1) throw UserError("speedup is {}, expected at least 1", options.speedup);
  if (std::find(std::begin(kPolicies), std::end(kPolicies), options.policy) != std::end(kPolicies)) return;
  throw UserError("there is no precision \"{}\"", options.policy)
      .help("expected one of {}", fmt::join(kPolicies, ", "));
}

// A convolution that is Winograd's in float32 may take less time than all its products in bfloat16.  Its
// transforms, which are not part of the work, count where channels are few.
bool is_faster_in_float32(const Call& call, const Options& options, const PassContext& context) {
  constexpr double kSureGain = 0.7;
  topi::WinogradLimits limits;
  limits.min_channels = context.config.get_int("winograd.min_channels", 24);
  limits.min_pixels = context.config.get_int("winograd.min_pixels", limits.min_pixels);
  const auto choice = winograd_choice(call, limits, context.config.get_int("winograd.tile", 0));
  return choice && choice->share_of_work * static_cast<double>(options.speedup) < kSureGain;
}

IRModule run(const IRModule& module, const Options& options, PassContext& context) {
  check(options);
  if (options.policy == "exact") return module;
  if (options.policy == "bf16") {
    const bool has_winograd = context.is_enabled(find_pass("winograd"));
    return to_bfloat16(module, [&](const Call& call) {
      return has_winograd && is_faster_in_float32(call, options, context);
    });
  }
  const Terms terms = terms_of(options.policy);
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const Function changed = rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      const auto axes = summed_axes(node);
      const Call call = self.children(node);
      return axes ? in_parts(call, terms, *axes) : call;
    });
    return changed == func ? func : BlockBuilder(module).normalize_function(changed);
  });
}

}  // namespace

extern constinit const PassInfo precision_info = module_pass<run, Options>(
    "precision", "Products of float32 are done in bfloat16 as the policy allows; exact: not at all.");

}  // namespace tilewright::relax
