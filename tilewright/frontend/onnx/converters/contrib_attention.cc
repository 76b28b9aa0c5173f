// Attention of onnxruntime's own domain, com.microsoft.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <numeric>

#include "tilewright/frontend/onnx/graphs/attention_graph.h"
#include "tilewright/frontend/onnx/graphs/rotary_graph.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr double kMaskedScore =
    -10000;  // of keys that a mask hides, unless attribute mask_filter_value says else

ir::PrimExpr one() { return relax::extent_imm(1); }

// ---- masks of Attention and MultiHeadAttention

/// The mask of a node, which adds a large negative number to the scores of keys that do not count.
class KeyMask {
 public:
  KeyMask(const NodeMath& math, const ir::PrimExpr& batch, const ir::PrimExpr& keys)
      : math_(math), batch_(batch), keys_(keys) {}

  // `mask`: lengths [b], or 0 where a key does not count, [b, t], [b, s, t] or [b, 1, s, t].
  void hide(const Expr& mask, AttentionInputs* in) const {
    const relax::Shape shape = math_.shape(mask);
    if (shape.empty() || shape.size() > 4)
      throw UserError("the mask has {}, expected 1 to 4", count_text(shape.size(), "dimension"));
    Expr counts;
    if (shape.size() == 1) {
      if (relax::equal_extents(shape[0], batch_) != relax::Answer::kYes)
        throw Unsupported("a mask of shape {} is none of [batch], [batch, keys] and [batch, queries, keys]",
                          relax::shape_text(shape));
      const Expr lengths = math_.reshaped(math_.cast(mask, kInt64), {shape[0], one(), one(), one()});
      counts = math_.call("relax.less", {math_.counted(keys_), lengths});
    } else {
      const Expr is_one = math_.call("relax.greater", {mask, math_.number_like(mask, 0)});
      counts = shape.size() == 2   ? math_.reshaped(is_one, {shape[0], one(), one(), shape[1]})
               : shape.size() == 3 ? math_.reshaped(is_one, {shape[0], one(), shape[1], shape[2]})
                                   : is_one;
    }
    const double masked = float_attr(math_.node(), "mask_filter_value", kMaskedScore);
    const DataType dtype = relax::dtype_of(in->query);
    const Expr bias = math_.where(counts, number(0, dtype), number(masked, dtype));
    in->bias = in->bias ? math_.add(in->bias, bias) : bias;
  }

 private:
  const NodeMath& math_;
  const ir::PrimExpr batch_, keys_;
};

// Hides later keys from queries; `past` keys, none if it is null, stand before the first query.
void hide_future(const NodeMath& math, const ir::PrimExpr& queries, const ir::PrimExpr& keys,
                 const ir::PrimExpr& past, AttentionInputs* in) {
  if (!in->bias) {
    in->causal_mask = past ? "BottomRight" : "TopLeft";
    return;
  }
  const KeyPositions at = key_positions(math, queries, keys, past ? math.extent(past) : Expr());
  in->allow(math, math.call("relax.less_equal", {at.keys, at.queries}));
}

void require_off(const Node& node, std::string_view name) {
  if (int_attr(node, name, 0) != 0) throw Unsupported("attribute \"{}\" is 1, supported is 0", name);
}
void require_left_out(const NodeMath& math, size_t input, std::string_view name) {
  if (math.importer().has_input(math.node(), input))
    throw Unsupported("input {} ({}) is given, which is not supported", input, name);
}

// ---- Attention

// The part of `x` [.., sum of sizes] that begins at `begin`.
Expr part_of(const NodeMath& math, const Expr& x, int64_t begin, int64_t size) {
  return math.sliced(x, -1, relax::extent_imm(begin), relax::extent_imm(begin + size));
}

std::vector<int64_t> hidden_sizes(const NodeMath& math, const Expr& weights) {
  const auto whole = constant_extent(math.shape(weights)[1]);
  if (!whole) throw Unsupported("the extents of the weights are known only at run time");
  std::vector<int64_t> sizes = ints_attr(math.node(), "qkv_hidden_sizes", {});
  if (sizes.empty()) sizes.assign(3, *whole / 3);
  if (sizes.size() != 3 || std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != *whole)
    throw UserError("weights have {} columns, which are not those of query, key and value", *whole);
  return sizes;
}

void attention_of_input(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  require_off(node, "do_rotary");
  require_off(node, "past_present_share_buffer");
  const Expr x = math.input(0), weights = math.input(1);
  math.require_ndim(x, 3, "input");
  math.require_ndim(weights, 2, "weights");
  const std::vector<int64_t> sizes = hidden_sizes(math, weights);
  const int64_t num_heads = int_attr(node, "num_heads", 0);
  const Expr all = math.plus(math.matmul(x, weights, relax::dtype_of(x)), math.input(2));
  AttentionInputs in;
  in.has_heads_first = in.kv_has_heads_first = false;
  in.query = split_heads(math, part_of(math, all, 0, sizes[0]), num_heads, "query");
  in.key = split_heads(math, part_of(math, all, sizes[0], sizes[1]), num_heads, "key");
  in.value = split_heads(math, part_of(math, all, sizes[0] + sizes[1], sizes[2]), num_heads, "value");
  const Expr past = math.input(4);
  ir::PrimExpr num_past;
  if (past || math.wants(1)) {
    in.kv_has_heads_first = true;
    in.key = swapped_heads(math, in.key), in.value = swapped_heads(math, in.value);
    const auto joined = [&](const Expr& now, int64_t place) {
      if (!past) return now;
      const Expr before = math.call(
          "relax.squeeze", {math.sliced(past, 0, relax::extent_imm(place), relax::extent_imm(place + 1))},
          {{"axis", attr(std::vector<int64_t>{0})}});
      return math.concat({before, now}, 2);
    };
    in.has_cache = static_cast<bool>(past);
    if (past) num_past = math.shape(past)[3];
    in.key = joined(in.key, 0), in.value = joined(in.value, 1);
    if (math.wants(1))
      math.result(1, math.concat({math.with_axes(in.key, {0}), math.with_axes(in.value, {0})}, 0));
  }
  const ir::PrimExpr queries = math.shape(in.query)[1],
                     keys = math.shape(in.key)[in.kv_has_heads_first ? 2 : 1];
  const double scale = float_attr(node, "scale", 0);
  in.scale = scale != 0 ? scale : scale_of_head(math.shape(in.query)[3]);
  in.bias = math.input(5);
  if (const Expr mask = math.input(3)) KeyMask(math, math.shape(x)[0], keys).hide(mask, &in);
  if (int_attr(node, "unidirectional", 0)) hide_future(math, queries, keys, num_past, &in);
  math.result(0, joined_heads(math, attention(math, in)));
}

// ---- MultiHeadAttention

/// Query, key and value of MultiHeadAttention in their several layouts.
class MultiHead {
 public:
  explicit MultiHead(const NodeMath& math) : math_(math), num_heads_(int_attr(math.node(), "num_heads", 0)) {}

  AttentionInputs read() {
    in_.has_heads_first = in_.kv_has_heads_first = false;
    const Expr query = math_.input(0), key = math_.input(1), value = math_.input(2);
    if (math_.shape(query).size() == 5) {
      in_.query = packed_part(query, 0), in_.key = packed_part(query, 1), in_.value = packed_part(query, 2);
    } else {
      in_.query = split_heads(math_, query, num_heads_, "query");
      if (!key) throw UserError("input 1 (key) is left out, but query is not packed");
      if (math_.shape(key).size() == 5) {
        in_.key = packed_part(key, 0), in_.value = packed_part(key, 1);
      } else {
        const Expr given = math_.required(2, "value");
        in_.kv_has_heads_first = math_.shape(key).size() == 4;
        in_.key = in_.kv_has_heads_first ? key : split_heads(math_, key, num_heads_, "key");
        in_.value = in_.kv_has_heads_first ? given : split_heads(math_, given, num_heads_, "value");
      }
    }
    if (const Expr bias = math_.input(3)) add_bias(bias);
    return in_;
  }

 private:
  // Part `n` of x [b, s, heads, parts, d].
  Expr packed_part(const Expr& x, int64_t n) const {
    const Expr part = math_.sliced(x, 3, relax::extent_imm(n), relax::extent_imm(n + 1));
    return math_.call("relax.squeeze", {part}, {{"axis", attr(std::vector<int64_t>{3})}});
  }
  // The bias of query, key and value, one after the other.
  void add_bias(const Expr& bias) {
    int64_t begin = 0;
    const auto next = [&](const Expr& x) {
      const auto size = constant_extent(math_.shape(x)[3]);
      if (!size) throw Unsupported("the head size is known only at run time, and there is a bias");
      const Expr part = part_of(math_, bias, begin, *size * num_heads_);
      begin += *size * num_heads_;
      return math_.reshaped(part, {relax::extent_imm(num_heads_), relax::extent_imm(*size)});
    };
    in_.query = math_.add(in_.query, next(in_.query));
    if (in_.kv_has_heads_first) return;  // a cache, to which its bias was added before
    in_.key = math_.add(in_.key, next(in_.key));
    in_.value = math_.add(in_.value, next(in_.value));
  }

  const NodeMath& math_;
  const int64_t num_heads_;
  AttentionInputs in_;
};

void multi_head_attention(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  require_left_out(math, 8, "past_sequence_length");
  require_left_out(math, 9, "cache_indirection");
  AttentionInputs in = MultiHead(math).read();
  const Expr past_key = math.input(6), past_value = math.input(7);
  if (!past_key != !past_value) throw UserError("past_key and past_value are not given together");
  ir::PrimExpr num_past;
  if (past_key || math.wants(1) || math.wants(2)) {
    if (!in.kv_has_heads_first)
      in.key = swapped_heads(math, in.key), in.value = swapped_heads(math, in.value);
    in.kv_has_heads_first = true;
    if (past_key) {
      in.has_cache = true;
      num_past = math.shape(past_key)[2];
      in.key = math.concat({past_key, in.key}, 2), in.value = math.concat({past_value, in.value}, 2);
    }
  }
  const ir::PrimExpr batch = math.shape(in.query)[0], queries = math.shape(in.query)[1],
                     keys = math.shape(in.key)[in.kv_has_heads_first ? 2 : 1];
  const double scale = float_attr(node, "scale", 0);
  in.scale = scale != 0 ? scale : scale_of_head(math.shape(in.query)[3]);
  in.bias = math.input(5);
  if (const Expr mask = math.input(4)) KeyMask(math, batch, keys).hide(mask, &in);
  if (int_attr(node, "unidirectional", 0)) hide_future(math, queries, keys, num_past, &in);
  math.result(1, in.key);
  math.result(2, in.value);
  math.result(0, joined_heads(math, attention(math, in)));
}

// ---- RotaryEmbedding

void rotary_embedding(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  require_off(node, "is_packed_batching");
  RotaryInputs in{math.input(0), math.input(2), math.input(3)};
  in.num_turned = int_attr(node, "rotary_embedding_dim", 0);
  in.is_interleaved = int_attr(node, "interleaved", 0) != 0;
  const bool is_packed = math.shape(in.x).size() == 3;
  in.has_heads_first = !is_packed;
  if (is_packed) {
    int64_t num_heads = int_attr(node, "num_heads", 0);
    const auto size = constant_extent(math.shape(in.cos)[1]), hidden = constant_extent(math.shape(in.x)[2]);
    if (num_heads == 0 && size && hidden && *size > 0) num_heads = *hidden / (2 * *size);
    in.x = split_heads(math, in.x, num_heads, "input");
  } else {
    math.require_ndim(in.x, 4, "input");
  }
  const ir::PrimExpr batch = math.shape(in.x)[0], tokens = math.shape(in.x)[is_packed ? 1 : 2];
  Expr positions = math.cast(math.input(1), kInt64);
  if (math.shape(positions).size() == 1)  // that of the first token
    positions = math.broadcast(math.add(positions, math.counted(tokens)), {batch, tokens});
  in.cos = rows_at(math, in.cos, positions), in.sin = rows_at(math, in.sin, positions);
  const Expr result = math.scaled(rotated(math, in), float_attr(node, "scale", 1));
  math.result(0, is_packed ? joined_heads(math, result) : result);
}

constexpr AttributeRule kHeads = {"num_heads", Attribute::kInt, 1,   kMostExtent,
                                  kFirstOpset, kLastOpset,      true};
constexpr AttributeRule kAttention[] = {flag("do_rotary"),
                                        {"mask_filter_value", Attribute::kFloat},
                                        kHeads,
                                        flag("past_present_share_buffer"),
                                        {"qkv_hidden_sizes", Attribute::kInts, 0},
                                        {"rotary_embedding_dim", Attribute::kInt},
                                        {"scale", Attribute::kFloat},
                                        flag("unidirectional")};
constexpr AttributeRule kMultiHead[] = {
    {"mask_filter_value", Attribute::kFloat}, kHeads, {"scale", Attribute::kFloat}, flag("unidirectional")};
constexpr AttributeRule kRotary[] = {flag("interleaved"),
                                     flag("is_packed_batching"),
                                     {"num_heads", Attribute::kInt, 0, kMostExtent},
                                     {"rotary_embedding_dim", Attribute::kInt, 0, kMostExtent},
                                     {"scale", Attribute::kFloat}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::Attention", attention_of_input, 2, 7, kAttention, 2, kFirstOpset, kLastOpset, 2},
    {"com.microsoft::MultiHeadAttention", multi_head_attention, 1, 10, kMultiHead, 4, kFirstOpset, kLastOpset,
     3},
    {"com.microsoft::RotaryEmbedding", rotary_embedding, 4, 4, kRotary},
};

}  // namespace

extern constinit const ConverterTable contrib_attention_info = {kRows};

}  // namespace tilewright::frontend::onnx
