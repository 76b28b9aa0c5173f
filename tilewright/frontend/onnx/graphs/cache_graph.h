// Writes to caches of keys and values as graph operators.
#pragma once
#include "tilewright/frontend/onnx/graphs/node_math.h"

namespace tilewright::frontend::onnx {

/// `cache` [b, .., size, ..] with `update` [b, .., length, ..] in dimension `axis`, at `places` [b, length]; null: at
/// 0, 1, ...  The places must be valid.
Expr written(const NodeMath& math, const Expr& cache, const Expr& update, size_t axis, const Expr& places);

/// The number in input `input`, which `name` calls; a new dimension if only the call knows it.
ir::PrimExpr one_size(const NodeMath& math, size_t input, std::string_view name);

/// Keys and values, [b, heads, t, d], with those of earlier calls.
struct Cached {
  Expr key, value;            // as operators return them
  Expr all_keys, all_values;  // those that count
  ir::PrimExpr past;          // how many stand before the new ones; null without a cache
};
/// `key` and `value` behind `past_key` and `past_value`, which may be null; in buffers, in place of the elements from
/// `length` on, if that is given.
Cached with_cache(const NodeMath& math, const Expr& past_key, const Expr& past_value, const Expr& key,
                  const Expr& value, const ir::PrimExpr& length);

}  // namespace tilewright::frontend::onnx
