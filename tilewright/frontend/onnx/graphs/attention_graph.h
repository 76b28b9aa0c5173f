// Attention as graph operators, from the inputs that ONNX's operators and those of onnxruntime have in common.
#pragma once
#include <functional>

#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {

struct AttentionInputs {
  Expr query;       // [b, s, heads, d], or [b, heads, s, d]
  Expr key, value;  // [b, t, kv_heads, d] and [.., e], or [b, kv_heads, t, d] and [.., e]
  bool has_heads_first = true, kv_has_heads_first = true;
  double scale = 1, softcap = 0;
  std::string causal_mask;             // as that of relax.nn.attention_einsum
  std::optional<int64_t> window_size;  // likewise
  bool has_cache = false;              // of keys of earlier calls: most calls have one query
  Expr bias;                           // floats that are added to the scores [b, heads, s, t]; may be null
  Expr allowed;                        // bools that broadcast to them: which keys count; may be null
  DataType precision = DataType::void_();  // of the softmax; void: that of sums
  Expr sink;  // a score for each head that takes its share of the weights, [heads] or []; may be null
  /// What a model makes of scores before the softmax, and of weights after it; may be empty.
  std::function<Expr(const Expr&)> change_scores, change_weights;

  /// Narrows `allowed`.
  void allow(const NodeMath& math, const Expr& condition) {
    allowed = allowed ? math.both(allowed, condition) : condition;
  }
};

/// The scores that an operator returns beside its result.
struct WantedScores {
  enum Stage { kProducts, kCapped, kBiased, kWeights };
  Stage stage = kProducts;
  Expr scores;  // is set
};

/// softmax(softcap(query . key * scale) + bias) . value, in the layout of the query.  Rows of queries without a
/// key that counts are 0.  Fused where that is faster and has the same precision.
Expr attention(const NodeMath& math, const AttentionInputs& in, WantedScores* wanted = nullptr);

/// `x` [b, s, heads * d] as [b, s, heads, d].
Expr split_heads(const NodeMath& math, const Expr& x, int64_t num_heads, std::string_view name);
/// [b, s, heads, d] as [b, s, heads * d].
Expr joined_heads(const NodeMath& math, const Expr& x);
/// Dimensions 1 and 2 in the other order.
inline Expr swapped_heads(const NodeMath& math, const Expr& x) { return math.permuted(x, {0, 2, 1, 3}); }
/// The factor 1 / sqrt(extent); raises Unsupported if the extent is open.
double scale_of_head(const ir::PrimExpr& head_size);
/// Positions among the keys, int64.
struct KeyPositions {
  Expr queries;  // [s, 1], or [b, 1, s, 1]
  Expr keys;     // [t]
};
/// The first query stands at `first`: a scalar, [b, 1, 1, 1], or null for 0.
KeyPositions key_positions(const NodeMath& math, const ir::PrimExpr& num_queries,
                           const ir::PrimExpr& num_keys, const Expr& first);

}  // namespace tilewright::frontend::onnx
