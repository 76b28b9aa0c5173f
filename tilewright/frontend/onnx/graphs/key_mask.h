// Masks of the attention operators of com.microsoft: a large negative number is added to the scores of keys that do not
// count.
#pragma once
#include "tilewright/frontend/onnx/graphs/attention_graph.h"

namespace tilewright::frontend::onnx {

/// The extents of scores, and how many keys stand before the first query; null: none, in no cache.
struct ScoreExtents {
  ir::PrimExpr batch, queries, keys, past;
};

/// Hides what `mask` says: lengths [b]; ends, then starts [2 b]; lengths and offsets [3 b + 2]; or 0 for each key that
/// does not count, [b, t], [b, s, t] or [b, 1, most, most].
void hide_by_mask(const NodeMath& math, const Expr& mask, const ScoreExtents& extents, AttentionInputs* in);
/// Hides later keys from queries.
void hide_future(const NodeMath& math, const ScoreExtents& extents, AttentionInputs* in);

}  // namespace tilewright::frontend::onnx
