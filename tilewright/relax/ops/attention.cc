// Attention and losses.
#include "tilewright/te/topi/attention.h"

#include <cmath>

#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

// the scale is a node because it may be absent
struct AttentionAttrs {
  ObjectRef scale;
  std::string causal_mask;
  std::optional<int64_t> window_size;
  static constexpr auto fields() {
    return std::tuple{
        field<&AttentionAttrs::scale>("scale", "factor of the products; none: 1 / sqrt(head size)"),
        field<&AttentionAttrs::causal_mask>(
            "causal_mask",
            "\"TopLeft\": query i sees keys up to i; \"BottomRight\": the last "
            "query sees all keys; empty: all see all"),
        field<&AttentionAttrs::window_size>("window_size",
                                            "how many keys before it a query sees; none: all")};
  }
};

void require_equal(const Call& call, size_t a, size_t b, size_t dim, Requirements& require) {
  const Shape &x = *known_shape(tensor_arg(call, a)), &y = *known_shape(tensor_arg(call, b));
  require.equal(x[dim], y[dim], "{} is {}, but {} is {}: they differ in dimension {}", arg_name(call, a), x,
                arg_name(call, b), y, dim);
}

// Checks query, key, value and the options, which all forms of attention share; the type of the result.
Type infer_heads(const Call& call, const AttentionAttrs& attrs, Requirements& require) {
  for (size_t n = 0; n < 3; ++n) require_ndim(call, n, 4);
  common_dtype(call, 0, 1);
  const DataType dtype = common_dtype(call, 0, 2);
  if (!dtype.is_void() && !dtype.is_float())
    fail(call, "query is {}, expected a floating-point tensor", dtype.str());
  if (!attrs.causal_mask.empty() && attrs.causal_mask != "TopLeft" && attrs.causal_mask != "BottomRight")
    fail(call, "causal_mask is \"{}\", expected \"TopLeft\" or \"BottomRight\"", attrs.causal_mask);
  if (attrs.scale && !is<FloatImmNode>(attrs.scale) && !is<IntImmNode>(attrs.scale))
    fail(call, "scale is not a number");
  const Shape *query = known_shape(tensor_arg(call, 0)), *key = known_shape(tensor_arg(call, 1)),
              *value = known_shape(tensor_arg(call, 2));
  if (!query || !key || !value) return tensor_type_of_ndim(4, dtype);
  require_equal(call, 0, 1, 0, require);
  require_equal(call, 0, 1, 3, require);
  for (size_t dim = 0; dim < 3; ++dim) require_equal(call, 1, 2, dim, require);
  const PrimExpr heads = as_extent((*query)[2]), shared = as_extent((*key)[2]);
  const PrimExpr rest = tir::is_zero(shared) ? heads + 1 : tir::floormod(heads, shared);
  require.equal(rest, extent_imm(0), "query has {} heads, which do not divide among the {} of key", heads,
                shared);
  return tensor_type({(*query)[0], (*query)[1], (*query)[2], (*value)[3]}, dtype);
}

Type infer_attention(const Call& call, const AttentionAttrs& attrs, Requirements& require) {
  const Type result = infer_heads(call, attrs, require);
  const Shape *query = known_shape(tensor_arg(call, 0)), *key = known_shape(tensor_arg(call, 1));
  if (call->args.size() > 3 && query && key) {
    common_dtype(call, 0, 3);
    const Shape scores{(*query)[0], (*query)[2], (*query)[1], (*key)[1]};
    const Shape* bias = known_shape(tensor_arg(call, 3));
    if (bias)
      require.holds(broadcasts_to(*bias, scores), "bias is {}, which does not broadcast to {}", *bias,
                    scores);
  }
  return result;
}
topi::AttentionOptions attention_options(const LowerInput& in, const AttentionAttrs& attrs) {
  topi::AttentionOptions options;
  if (const auto* real = attrs.scale.as<FloatImmNode>())
    options.scale = real->value;
  else if (const auto* number = attrs.scale.as<IntImmNode>())
    options.scale = static_cast<double>(number->value);
  else if (const auto* size = in[0].shape()[3].as<IntImmNode>())
    options.scale = 1 / std::sqrt(static_cast<double>(size->value));
  else
    throw Unsupported(in.call, "{}: the head size is known only at run time", name_of(in.call))
        .help("give scale");
  if (!attrs.causal_mask.empty())
    options.mask =
        attrs.causal_mask == "TopLeft" ? topi::CausalMask::kTopLeft : topi::CausalMask::kBottomRight;
  options.window = attrs.window_size.value_or(-1);
  return options;
}
te::Tensor lower_attention(const LowerInput& in, const AttentionAttrs& attrs) {
  return topi::attention(in[0], in[1], in[2], in.has(3) ? in[3] : te::Tensor(), attention_options(in, attrs));
}

Type infer_var_len(const Call& call, const AttentionAttrs& attrs, Requirements& require) {
  const Type result = infer_heads(call, attrs, require);
  for (size_t n : {size_t{3}, size_t{5}}) {
    if (n >= call->args.size()) continue;
    require_ndim(call, n, 1);
    const TensorTypeNode* starts = tensor_arg(call, n);
    if (!starts->dtype.is_void() && !starts->dtype.is_integral())
      fail(call, "{} is {}, expected integers", arg_name(call, n), short_text(starts));
    const Shape* shape = known_shape(starts);
    if (shape)
      require.holds(tir::operator>=(as_extent((*shape)[0]), 1),
                    "{} is {}, expected 0 and where each sequence ends", arg_name(call, n), *shape);
  }
  const Shape* query = known_shape(tensor_arg(call, 0));
  if (query)
    require.equal((*query)[0], extent_imm(1), "{} is {}, expected sequences one after the other in one batch",
                  arg_name(call, 0), *query);
  return result;
}
te::Tensor lower_var_len(const LowerInput& in, const AttentionAttrs& attrs) {
  return topi::attention_var_len(in[0], in[1], in[2], in[3], in.has(5) ? in[5] : in[3],
                                 attention_options(in, attrs));
}

Type infer_cross_entropy(const Call& call, Requirements& require) {
  const DataType dtype = common_dtype(call, 0, 1);
  const TensorTypeNode *predictions = tensor_arg(call, 0), *labels = tensor_arg(call, 1);
  const Shape *x = known_shape(predictions), *y = known_shape(labels);
  if (x && y) require.equal(*x, *y, "predictions is {}, but labels is {}", *x, *y);
  return tensor_type({}, dtype);
}
te::Tensor lower_cross_entropy(const LowerInput& in) { return topi::cross_entropy(in[0], in[1]); }

struct NllAttrs {
  std::string reduction = "mean";
  int64_t ignore_index = -100;
  static constexpr auto fields() {
    return std::tuple{field<&NllAttrs::reduction>("reduction", "\"none\", \"sum\" or \"mean\""),
                      field<&NllAttrs::ignore_index>("ignore_index", "a target that is ignored")};
  }
};
Type infer_nll(const Call& call, const NllAttrs& attrs, Requirements& require) {
  const TensorTypeNode *predictions = tensor_arg(call, 0), *targets = tensor_arg(call, 1);
  if (!targets->dtype.is_void() && !targets->dtype.is_integral())
    fail(call, "targets is {}, expected integers", short_text(targets));
  if (attrs.reduction != "none" && attrs.reduction != "sum" && attrs.reduction != "mean")
    fail(call, "reduction is \"{}\", expected \"none\", \"sum\" or \"mean\"", attrs.reduction);
  if (call->args.size() > 2) {
    require_ndim(call, 2, 1);
    common_dtype(call, 0, 2);
  }
  const Shape *x = known_shape(predictions), *y = known_shape(targets);
  if (x && y) {
    if (x->empty()) fail(call, "predictions is a scalar, expected classes");
    Shape expected = *x;
    expected.erase(expected.begin() + (x->size() == 1 ? 0 : 1));
    require.equal(*y, expected, "targets is {}, expected {} for predictions {}", *y, expected, *x);
    const Shape* weights = call->args.size() > 2 ? known_shape(tensor_arg(call, 2)) : nullptr;
    if (weights)
      require.equal((*weights)[0], (*x)[x->size() == 1 ? 0 : 1],
                    "weights is {}, expected one number for each class of predictions {}", *weights, *x);
  }
  if (attrs.reduction != "none") return tensor_type({}, predictions->dtype);
  return y ? tensor_type(*y, predictions->dtype) : tensor_type_of_ndim(targets->ndim, predictions->dtype);
}
te::Tensor lower_nll(const LowerInput& in, const NllAttrs& attrs) {
  return topi::nll_loss(in[0], in[1], in.has(2) ? in[2] : te::Tensor(), attrs.reduction, attrs.ignore_index);
}

// (output_grad, predictions, targets, weights)
Type infer_nll_backward(const Call& call, const NllAttrs&) { return Type(tensor_arg(call, 1)); }
te::Tensor lower_nll_backward(const LowerInput& in, const NllAttrs& attrs) {
  return topi::nll_loss_backward(in[0], in[1], in[2], in.has(3) ? in[3] : te::Tensor(), attrs.reduction,
                                 attrs.ignore_index);
}

constexpr OpInfo kOps[] = {
    op<infer_attention, lower_attention, AttentionAttrs>(
        "relax.nn.attention", "query, key, value, bias?",
        "softmax(query . key * scale + bias) . value per head.", FusePattern::kOpaque),
    op<infer_attention, lower_attention, AttentionAttrs>(
        "relax.nn.attention_bias", "query, key, value, bias",
        "softmax(query . key * scale + bias) . value per head.", FusePattern::kOpaque),
    op<infer_var_len, lower_var_len, AttentionAttrs>(
        "relax.nn.attention_var_len",
        "queries, keys, values, seqstart_q, max_seqlen_q, seqstart_k?, max_seqlen_k?",
        "attention of sequences that are concatenated; the maximum lengths are not used.",
        FusePattern::kOpaque),
    op<infer_cross_entropy, lower_cross_entropy>("relax.nn.cross_entropy_with_logits", "predictions, labels",
                                                 "-sum(predictions * labels) / batch.",
                                                 FusePattern::kReduction),
    op<infer_nll, lower_nll, NllAttrs>("relax.nn.nll_loss", "predictions, targets, weights?",
                                       "Negative log-likelihood of the target classes.",
                                       FusePattern::kReduction),
    op<infer_nll_backward, lower_nll_backward, NllAttrs>(
        "relax.grad.nll_loss_backward", "output_grad, predictions, targets, weights?",
        "The gradient of nll_loss with respect to its predictions.", FusePattern::kOpaque),
};

}  // namespace

extern constinit const OpTable attention_info =
    op_table(kOps,
             "Vaswani et al., Attention Is All You Need, arXiv 1706.03762; torch.nn.functional (nll_loss, "
             "cross_entropy)");

}  // namespace tilewright::relax
