// Products with constant dequantized weights read the integers, where reading the weight limits the time.
//   w = R.dequantize(q, s, z, axis=0, block_size=32); y = R.matmul(x, w)    q: int8 or int4 [k, n], constant
//   ->  y = R.dequantize_matmul(x, data, scale, zero_point)                 data: in that operator's format
// There is one scale for the matrix, for each column, or for each block of rows; the weight may be permuted
// after dequantize.  With few rows of x each number is used only a few times: integers are kept if the weight
// in float32 has at least min_bytes for each row.  Other weights are left to fold_constant, which converts
// them to floats.
#include <map>
#include <optional>
#include <unordered_map>

#include "tilewright/ir/rewrite.h"
#include "tilewright/ir/walk.h"
#include "tilewright/relax/build/block_builder.h"
#include "tilewright/relax/infer/op.h"
#include "tilewright/relax/memory/liveness.h"
#include "tilewright/relax/pass.h"
#include "tilewright/relax/products/quantized_weight.h"

namespace tilewright::relax {
namespace {

struct Options {
  int64_t min_bytes = 1 << 20;
  static constexpr auto fields() {
    return std::tuple{field<&Options::min_bytes>(
        "min_bytes", "least size of the weight in float32, for each row of x, to keep its integers")};
  }
};

/// The operands made from weights, each made once: several products share them.
class Weights {
 public:
  /// data, scale and, if it is needed, zero_point; empty if the weight cannot be kept as integers.
  const std::vector<Expr>& get(const Dequantized& weight) {
    const AttrMap& attrs = weight.call->attrs;
    auto [found, is_new] =
        made_.try_emplace({weight.constants[0].get(), weight.constants[1].get(), weight.constants[2].get(),
                           attrs.get_int("axis", -1), attrs.get_int("block_size", 0), weight.is_transposed});
    if (!is_new) return found->second;
    if (const std::optional<QuantizedWeight> kept = quantized_weight(weight)) {
      found->second = {make_constant(kept->data), make_constant(kept->scale)};
      if (kept->zero_point) found->second.push_back(make_constant(*kept->zero_point));
    }
    return found->second;
  }

 private:
  using Key = std::tuple<const Object*, const Object*, const Object*, int64_t, int64_t, bool>;
  std::map<Key, std::vector<Expr>> made_;  // by constants, which the module keeps alive
};

class Products {
 public:
  Products(const Function& func, const Options& options, Weights& weights)
      : options_(options), weights_(weights) {
    walk(func, [&](const VarBindingNode* binding) { values_[binding->var.get()] = binding->value; });
  }

  // The call that replaces `call`; null if it is no such product, or floats are faster.
  Expr instead_of(const CallNode* call) const {
    if (op_name(call) != "relax.matmul") return nullptr;
    const DataType dtype = dtype_of(call->args[0]);
    const Shape* x = known_shape(call->args[0]);
    if (!x || x->empty() || !dtype.is_float() || dtype_of(Expr(call)) != dtype) return nullptr;
    const auto weight = weight_of(call->args[1]);
    if (!weight || dtype_of(weight->call) != dtype ||
        !is_bound_by_weight(*x, weight->constants[0]->data.num_elements(), options_.min_bytes))
      return nullptr;
    std::vector<Expr> args = weights_.get(*weight);
    if (args.empty()) return nullptr;
    args.insert(args.begin(), call->args[0]);
    return call_op("relax.dequantize_matmul", args, {}, call->span);
  }

 private:
  Expr value_of(const Expr& expr) const {
    Expr value = expr;
    for (auto found = values_.find(value.get()); found != values_.end(); found = values_.find(value.get()))
      value = found->second;
    return value;
  }

  // The dequantize that `weight`, a matrix, is the result of, with a permute after it if there is one.
  std::optional<Dequantized> weight_of(const Expr& weight) const {
    Dequantized found;
    Expr value = value_of(weight);
    const Shape* shape = known_shape(weight);
    if (!shape || shape->size() != 2) return std::nullopt;
    for (const auto* call = value.as<CallNode>(); call; call = value.as<CallNode>()) {
      if (op_name(call) == "relax.dequantize") {
        found.call = Call(call);
        for (size_t n = 0; n < 3; ++n) {
          const Expr arg = value_of(call->args[n]);
          if (!is<ConstantNode>(arg)) return std::nullopt;
          found.constants[n] = Constant(arg.as<ConstantNode>());
        }
        return found;
      }
      if (op_name(call) != "relax.permute_dims") return std::nullopt;
      const std::vector<int64_t> axes = call->attrs.get_ints("axes", {});
      if (axes.empty() || (axes[0] + 2) % 2 == 1) found.is_transposed = !found.is_transposed;
      value = value_of(call->args[0]);
    }
    return std::nullopt;
  }

  const Options& options_;
  Weights& weights_;
  std::unordered_map<const Object*, Expr> values_;  // by the variable that is bound to it
};

IRModule run(const IRModule& module, const Options& options, PassContext&) {
  Weights weights;
  return map_functions<FunctionNode>(module, [&](const Function& func) {
    const Products products(func, options, weights);
    const Function changed = rewrite(func, [&](auto& self, const CallNode* node) -> Expr {
      const Expr product = products.instead_of(node);
      return product ? product : Expr(self.children(node));
    });
    // fold_constant would otherwise convert weights that nothing uses any more
    return changed == func ? func : remove_unused(BlockBuilder(module).normalize_function(changed));
  });
}

}  // namespace

extern constinit const PassInfo fuse_dequantize_matmul_info = module_pass<run, Options>(
    "fuse_dequantize_matmul", "Lets products of few rows with dequantized weights read the integers.", 2);

}  // namespace tilewright::relax
