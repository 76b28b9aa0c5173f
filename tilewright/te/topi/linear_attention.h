// Attention whose weights are products, computed from token to token with a state.
#pragma once
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::topi {

struct LinearAttentionOptions {
  bool has_decay = false;  // the state is multiplied by exp(decay) before each token
  bool has_delta = false;  // what the state already holds for the key is subtracted from the value
  double scale = 1;
};
/// For each token t of query [b, t, heads, d], key [b, t, kv_heads, d] and value [b, t, kv_heads, e], with a state
/// S [d, e] for each head of key, in dtype_of_sums:
///   S *= exp(decay);  v = beta * (value - S^T key);  S += key v^T;  result = scale * S^T query
/// and without a delta v = value.  State [b, kv_heads, d, e], decay [b, t, kv_heads, d] and beta
/// [b, t, kv_heads] may have extents of 1 instead.  Returns result [b, t, heads, e] and the last state.
/// Sources: Katharopoulos et al., arXiv 2006.16236; Yang et al., arXiv 2412.06464 (gated delta rule)
std::vector<Tensor> linear_attention(const std::vector<Tensor>& inputs,
                                     const LinearAttentionOptions& options);

}  // namespace tilewright::topi
