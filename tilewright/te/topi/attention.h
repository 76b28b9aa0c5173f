// Attention, and losses that training compares predictions with.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

enum class CausalMask { kNone, kTopLeft, kBottomRight };
struct AttentionOptions {
  double scale = 1;
  CausalMask mask = CausalMask::kNone;
  int64_t window = -1;  // number of keys before a query that it attends to; negative: all
  double softcap = 0;   // scores are softcap * tanh(scores / softcap) before the bias; 0: as they are
};
/// The letters of each operand's dimensions in "bshd,bthd,bthe,bhst->bshe": s indexes queries, t keys, d is
/// summed by the products, e indexes values.  All other letters are batch dimensions, which query and result
/// must both have.  A dimension of extent 1 may be written as 1.  Spaces are dropped; without a bias there
/// are three operands.
struct AttentionLetters {
  std::string query, key, value, bias, result;
};
AttentionLetters parse_attention(const std::string& subscripts);

/// softmax(query . key * scale + bias) . value, with operands as `letters` describes them.
///
/// Heads of the query share those of key and value in equal groups, as all batch letters do; `bias` (may be
/// null) broadcasts.  Long sequences are computed one block of queries after the other, so that scores
/// stay in near caches.
/// Source: Vaswani et al., arXiv 1706.03762
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                 const AttentionOptions& options, const AttentionLetters& letters);
/// The same with query [b, s, heads, d], key [b, t, kv_heads, d], value [b, t, kv_heads, e] -> [b, s, heads,
/// e]; `bias` broadcasts to [b, heads, s, t].
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                 const AttentionOptions& options);
/// True if attention of these extents is computed in blocks, whose results are vectors of queries.
bool has_attention_blocks(DataType dtype, const PrimExpr& num_queries, const PrimExpr& num_keys);
/// The share of the lanes of such vectors that hold a query, for each of `batch`; 1 if the count is unknown.
double used_attention_lanes(const PrimExpr& num_queries, const PrimExpr& batch);

/// Attention of several sequences that are concatenated in query [1, s, ..] and key [1, t, ..]: the n-th from
/// query_starts[n] to query_starts[n + 1].  Mask and window count positions within a sequence.
Tensor attention_var_len(const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor& query_starts, const Tensor& key_starts, AttentionOptions options);

/// -sum(predictions * labels), divided by the first extent unless they are vectors.
Tensor cross_entropy(const Tensor& predictions, const Tensor& labels);
/// -weights[target] * predictions[.., target, ..] of each sample, zero for targets `ignore_index`; summed for
/// "sum", and divided by the sum of the weights for "mean".  predictions [n, classes, ..] or [classes].
/// Source: torch.nn.NLLLoss
Tensor nll_loss(const Tensor& predictions, const Tensor& targets, const Tensor& weights,
                const std::string& reduction, int64_t ignore_index);
/// The gradient of nll_loss in its predictions; `grad` is that of its result.
Tensor nll_loss_backward(const Tensor& grad, const Tensor& predictions, const Tensor& targets,
                         const Tensor& weights, const std::string& reduction, int64_t ignore_index);

}  // namespace tilewright::topi
