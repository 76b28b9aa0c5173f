// Linear attention: a state that tokens change one after the other, and that queries read.
#include "tilewright/te/topi/linear_attention.h"

#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

struct Attrs {
  std::string update_rule = "gated_delta";
  double scale = 1;
  static constexpr auto fields() {
    return std::tuple{field<&Attrs::update_rule>(
                          "update_rule",
                          "\"linear\": keys times values are added to the state; \"gated\": after it is "
                          "multiplied by exp(decay); \"delta\": what the state holds for the key is "
                          "subtracted from the value first, the rest counts beta times; \"gated_delta\": "
                          "both"),
                      field<&Attrs::scale>("scale", "factor of the result")};
  }
};

bool is_rule(const std::string& text) {
  return text == "linear" || text == "gated" || text == "delta" || text == "gated_delta";
}

// Requires argument `n` to have the extents `expected`, or 1 in their place.
void require_extents(const Call& call, size_t n, const Shape& expected, Requirements& require) {
  const Shape* shape = known_shape(tensor_arg(call, n));
  if (shape)
    require.holds(broadcasts_to(*shape, expected), "{} is {}, which does not broadcast to {}",
                  arg_name(call, n), *shape, expected);
}

Type infer(const Call& call, const Attrs& attrs, Requirements& require) {
  constexpr int64_t kNumDims[] = {4, 4, 4, 4, 4, 3};
  for (size_t n = 0; n < 6; ++n) {
    require_ndim(call, n, kNumDims[n]);
    require_float(call, n);
  }
  if (!is_rule(attrs.update_rule))
    fail(call, "update_rule is \"{}\", expected \"linear\", \"gated\", \"delta\" or \"gated_delta\"",
         attrs.update_rule);
  const DataType dtype = common_dtype(call, 0, 1);
  common_dtype(call, 0, 2);
  const DataType of_state = tensor_arg(call, 3)->dtype;
  const Shape *query = known_shape(tensor_arg(call, 0)), *value = known_shape(tensor_arg(call, 2));
  if (!query || !value)
    return tuple_type({Type(tensor_type_of_ndim(4, dtype)), Type(tensor_type_of_ndim(4, of_state))});
  const PrimExpr batch = (*query)[0], tokens = (*query)[1], heads = (*value)[2], d = (*query)[3],
                 e = (*value)[3];
  const PrimExpr rest = tir::is_zero(heads) ? as_extent((*query)[2]) + 1 : tir::floormod((*query)[2], heads);
  require.equal(rest, extent_imm(0), "query has {} heads, which do not divide among the {} of value",
                (*query)[2], heads);
  require.equal(Shape{(*value)[0], (*value)[1]}, Shape{batch, tokens},
                "value is {}, but query is {}: their batches or tokens differ", *value, *query);
  const Shape* key = known_shape(tensor_arg(call, 1));
  const Shape expected{batch, tokens, heads, d};
  if (key) require.equal(*key, expected, "key is {}, expected {}", *key, expected);
  require_extents(call, 3, {batch, heads, d, e}, require);
  require_extents(call, 4, {batch, tokens, heads, d}, require);
  require_extents(call, 5, {batch, tokens, heads}, require);
  return tuple_type({Type(tensor_type({batch, tokens, (*query)[2], e}, dtype)),
                     Type(tensor_type({batch, heads, d, e}, of_state))});
}

std::vector<te::Tensor> lower(const LowerInput& in, const Attrs& attrs) {
  return topi::linear_attention({in[0], in[1], in[2], in[3], in[4], in[5]},
                                {.has_decay = attrs.update_rule.starts_with("gated"),
                                 .has_delta = attrs.update_rule.ends_with("delta"),
                                 .scale = attrs.scale});
}

constexpr OpInfo kOps[] = {
    op<infer, lower, Attrs>(
        "relax.nn.linear_attention", "query, key, value, state, decay, beta",
        "Attention by a state that tokens change one after the other; also the last state.",
        FusePattern::kOpaque),
};

}  // namespace

extern constinit const OpTable linear_attention_info =
    op_table(kOps, "onnx.ai/onnx/operators (LinearAttention 27); Yang et al., arXiv 2412.06464");

}  // namespace tilewright::relax
