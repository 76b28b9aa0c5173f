// Attention, and what training compares predictions with.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

enum class CausalMask { kNone, kTopLeft, kBottomRight };
struct AttentionOptions {
  double scale = 1;
  CausalMask mask = CausalMask::kNone;
  int64_t window = -1;  // how many keys before a query count; negative: all
};
/// The letters of each operand's dimensions in "bshd,bthd,bthe,bhst->bshe": s of queries, t of keys, d summed
/// by the products, e of values; any others are of the batch, all of which query and the result have.  A
/// dimension of extent 1 may be called 1.  Spaces are dropped; without a bias there are three operands.
struct AttentionLetters {
  std::string query, key, value, bias, result;
};
AttentionLetters parse_attention(const std::string& subscripts);

/// softmax(query . key * scale + bias) . value, operands as `letters` say.  Heads of query share those of key
/// and value in equal groups, as all letters of the batch do; `bias` (may be undefined) broadcasts.
/// Long enough, it is computed block of queries by block, so that scores stay near the core.
/// Source: Vaswani et al., arXiv 1706.03762
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                 const AttentionOptions& options, const AttentionLetters& letters);
/// The same with query [b, s, heads, d], key [b, t, kv_heads, d], value [b, t, kv_heads, e] -> [b, s, heads,
/// e]; `bias` broadcasts to [b, heads, s, t].
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                 const AttentionOptions& options);
/// Whether so many queries and keys are computed in blocks: the results are in vectors of queries.
bool has_attention_blocks(DataType dtype, const PrimExpr& num_queries, const PrimExpr& num_keys);
/// Which share of the lanes of such vectors has a query, for each of `batch`; 1 if their number is not known.
double used_attention_lanes(const PrimExpr& num_queries, const PrimExpr& batch);

/// attention of several sequences that lie one after the other in query [1, s, ..] and key [1, t, ..]: the
/// n-th from query_starts[n] to query_starts[n + 1], with mask and window by the places in a sequence.
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
