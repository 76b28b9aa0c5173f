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
/// softmax(query . key * scale + bias) . value with query [b, s, heads, d], key [b, t, kv_heads, d], value
/// [b, t, kv_heads, e] -> [b, s, heads, e]; heads share kv_heads in equal groups.  `bias` (may be undefined)
/// broadcasts to [b, heads, s, t].  Source: Vaswani et al., arXiv 1706.03762
Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                 const AttentionOptions& options);

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
