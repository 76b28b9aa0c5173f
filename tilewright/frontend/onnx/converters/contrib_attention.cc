// Attention of com.microsoft, whose projections are part of it: of floats, and of quantized numbers.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <numeric>

#include "tilewright/frontend/onnx/graphs/cache_graph.h"
#include "tilewright/frontend/onnx/graphs/key_mask.h"

namespace tilewright::frontend::onnx {
namespace {

void require_off(const Node& node, std::string_view name) {
  if (int_attr(node, name, 0) != 0) throw Unsupported("attribute \"{}\" is 1, supported is 0", name);
}

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

/// Where the inputs after the first two stand.
struct Places {
  size_t bias, mask, past, added, length;  // `added` to the scores
};

// Keys or values, [b, heads, t, d], of `past` [2, b, heads, t, d].
Expr half_of(const NodeMath& math, const Expr& past, int64_t place) {
  if (!past) return nullptr;
  return math.call("relax.squeeze",
                   {math.sliced(past, 0, relax::extent_imm(place), relax::extent_imm(place + 1))},
                   {{"axis", attr(std::vector<int64_t>{0})}});
}

// Attention of the projections of `x` by `weights`.
void project(const NodeMath& math, const Expr& x, const Expr& weights, const Places& at) {
  const Node& node = math.node();
  require_off(node, "do_rotary");
  math.require_ndim(x, 3, "input");
  math.require_ndim(weights, 2, "weights");
  const std::vector<int64_t> sizes = hidden_sizes(math, weights);
  const int64_t num_heads = int_attr(node, "num_heads", 0);
  const Expr all = math.plus(math.matmul(x, weights, relax::dtype_of(x)), math.input(at.bias));
  AttentionInputs in;
  in.has_heads_first = in.kv_has_heads_first = false;
  in.query = split_heads(math, part_of(math, all, 0, sizes[0]), num_heads, "query");
  in.key = split_heads(math, part_of(math, all, sizes[0], sizes[1]), num_heads, "key");
  in.value = split_heads(math, part_of(math, all, sizes[0] + sizes[1], sizes[2]), num_heads, "value");
  const Expr past = math.input(at.past);
  ScoreExtents extents{math.shape(in.query)[0], math.shape(in.query)[1], math.shape(in.key)[1], nullptr};
  if (past || math.wants(1)) {
    in.kv_has_heads_first = true;
    ir::PrimExpr length;
    if (int_attr(node, "past_present_share_buffer", 0))
      length = one_size(math, at.length, "past_sequence_length");
    const Cached cached = with_cache(math, half_of(math, past, 0), half_of(math, past, 1),
                                     swapped_heads(math, in.key), swapped_heads(math, in.value), length);
    in.key = cached.all_keys, in.value = cached.all_values;
    in.has_cache = static_cast<bool>(past);
    extents.past = cached.past, extents.keys = math.shape(in.key)[2];
    if (math.wants(1))
      math.result(1, math.concat({math.with_axes(cached.key, {0}), math.with_axes(cached.value, {0})}, 0));
  }
  const double scale = float_attr(node, "scale", 0);
  in.scale = scale != 0 ? scale : scale_of_head(math.shape(in.query)[3]);
  in.bias = math.input(at.added);
  if (const Expr mask = math.input(at.mask)) hide_by_mask(math, mask, extents, &in);
  if (int_attr(node, "unidirectional", 0)) hide_future(math, extents, &in);
  math.result(0, joined_heads(math, attention(math, in)));
}

void attention_of_input(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  project(math, math.input(0), math.input(1), {2, 3, 4, 5, 6});
}

// Input `input` as real numbers, by a scale and a zero point for all of it or for each column.
Expr real(const NodeMath& math, size_t input, size_t scale, size_t zero_point) {
  const Expr x = math.input(input), by = math.required(scale, "a scale");
  Expr zero = math.input(zero_point);
  if (!zero) zero = math.importer().bound(math.number_like(x, 0));
  const bool is_one = math.shape(by).empty() || tir::is_one(math.shape(by)[0]);
  const auto last = static_cast<int64_t>(math.shape(x).size()) - 1;
  return math.call(
      "relax.dequantize", {x, by, zero},
      {{"axis", attr(is_one ? int64_t{0} : last)}, {"out_dtype", attr(relax::dtype_of(by).str())}});
}

void quantized_attention(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  require_off(node, "past_present_share_buffer");
  constexpr size_t kNone = 9;
  project(math, real(math, 0, 3, 6), real(math, 1, 4, 7), {2, 5, 8, kNone, kNone});
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
constexpr AttributeRule kQuantized[] = {flag("do_rotary"),
                                        {"mask_filter_value", Attribute::kFloat},
                                        kHeads,
                                        flag("past_present_share_buffer"),
                                        {"scale", Attribute::kFloat},
                                        flag("unidirectional")};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::Attention", attention_of_input, 2, 7, kAttention, 2, kFirstOpset, kLastOpset, 2},
    {"com.microsoft::QAttention", quantized_attention, 5, 9, kQuantized, 2, kFirstOpset, kLastOpset, 2},
};

}  // namespace

extern constinit const ConverterTable contrib_attention_info = {kRows};

}  // namespace tilewright::frontend::onnx
