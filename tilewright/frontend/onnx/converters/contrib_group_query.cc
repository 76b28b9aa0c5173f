// GroupQueryAttention of com.microsoft: rotary embeddings, a cache of keys and values, attention.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include <cmath>

#include "tilewright/frontend/onnx/graphs/attention_graph.h"
#include "tilewright/frontend/onnx/graphs/cache_graph.h"
#include "tilewright/frontend/onnx/graphs/rotary_graph.h"

namespace tilewright::frontend::onnx {
namespace {

class GroupQuery {
 public:
  explicit GroupQuery(const NodeMath& math)
      : math_(math),
        node_(math.node()),
        num_heads_(int_attr(node_, "num_heads", 0)),
        num_shared_(int_attr(node_, "kv_num_heads", 0)) {
    refuse_others();
    read_operands();
    read_lengths();
  }

  void convert() {
    normalize();
    if (int_attr(node_, "do_rotary", 0)) turn();
    keys_ = with_cache(3, keys_), values_ = with_cache(4, values_);
    math_.result(1, keys_);
    math_.result(2, values_);
    AttentionInputs in;
    in.query = query_, in.key = keys_, in.value = values_;
    in.has_heads_first = false;
    in.has_cache = static_cast<bool>(math_.input(3));
    const double scale = float_attr(node_, "scale", 0);
    in.scale = scale != 0 ? scale : scale_of_head(math_.shape(query_)[3]);
    in.softcap = float_attr(node_, "softcap", 0);
    limit_keys(&in);
    in.sink = math_.input(11);
    if (!in.sink && int_attr(node_, "smooth_softmax", -1) > 0)
      in.sink = math_.importer().bound(math_.number_like(query_, 0));
    const int64_t shown = int_attr(node_, "qk_output", 0);
    if (math_.wants(3) && shown == 0) throw UserError("output 3 is wanted, but attribute \"qk_output\" is 0");
    WantedScores wanted;
    wanted.stage = shown == 1 ? WantedScores::kBiased : WantedScores::kWeights;
    math_.result(0, joined_heads(math_, attention(math_, in, math_.wants(3) ? &wanted : nullptr)));
    if (math_.wants(3)) math_.result(3, without_hidden(wanted.scores));
  }

 private:
  void refuse_others() const {
    if (int_attr(node_, "sliding_window_cache", 0))
      throw Unsupported("sliding_window_cache is 1: the cache drops keys, and moves those that it keeps")
          .help("export the model with a cache of all keys; local_window_size may stay");
    if (math_.importer().has_input(node_, 12) || math_.importer().has_input(node_, 13))
      throw Unsupported("k_scale or v_scale is given: caches of quantized keys and values are not supported")
          .help("export the model with caches of floats");
  }

  void read_operands() {
    const Expr whole = math_.input(0), key = math_.input(1);
    if (key) {
      query_ = split_heads(math_, whole, num_heads_, "query");
      keys_ = split_heads(math_, key, num_shared_, "key");
      values_ = split_heads(math_, math_.required(2, "value"), num_shared_, "value");
    } else {
      const Expr all = split_heads(math_, whole, num_heads_ + 2 * num_shared_, "query");
      const auto part = [&](int64_t begin, int64_t count) {
        return math_.sliced(all, 2, relax::extent_imm(begin), relax::extent_imm(begin + count));
      };
      query_ = part(0, num_heads_), keys_ = part(num_heads_, num_shared_),
      values_ = part(num_heads_ + num_shared_, num_shared_);
    }
    batch_ = math_.shape(query_)[0], tokens_ = math_.shape(query_)[1];
  }

  void read_lengths() {
    arith::Analyzer& facts = math_.importer().facts;
    const Expr past = math_.input(3);
    if (!past != !math_.input(4)) throw UserError("past_key and past_value are not given together");
    past_ = past ? math_.shape(past)[2] : relax::extent_imm(0);
    const relax::Shape total = math_.importer().require_known(node_, 6);
    if (total.size() != 1) throw UserError("total_sequence_length has {} elements, expected 1", total.size());
    total_ = relax::as_extent(total[0]);
    const ir::PrimExpr both = facts.simplify(tir::operator+(past_, tokens_));
    // a cache that grows by these tokens, without padding
    is_plain_ = tir::is_one(batch_) && relax::equal_extents(total_, both) == relax::Answer::kYes;
    size_ = is_plain_ ? both : facts.simplify(tir::max(past_, total_));
    if (is_plain_) {
      first_ = math_.reshaped(math_.extent(past_), {unit()});
    } else {
      const Expr lengths = math_.cast(math_.required(5, "seqlens_k"), kInt64);
      const Expr after = math_.subtract(math_.add(lengths, number(1, kInt64)), math_.extent(tokens_));
      const Expr is_first = math_.call("relax.equal", {math_.extent(tokens_), math_.extent(total_)});
      first_ = math_.call(
          "relax.require_range",
          {math_.where(is_first, number(0, kInt64), math_.reshaped(after, {batch_})),
           scalar_value(relax::extent_imm(0)), scalar_value(facts.simplify(tir::operator-(size_, tokens_))),
           relax::StringValueNode::make(fmt::format("{}: the place of the first token", node_.shown()))});
    }
    places_ = math_.add(math_.with_axes(first_, {1}), math_.counted(tokens_));
  }

  // A norm of each head, before its rotation.
  void normalize() {
    const Expr of_query = math_.input(14), of_key = math_.input(15);
    const auto normal = [&](const Expr& x, const Expr& weight) {
      return math_.call("relax.nn.rms_norm", {x, weight},
                        {{"axes", attr(std::vector<int64_t>{-1})},
                         {"epsilon", attr(float_attr(node_, "qk_norm_epsilon", 1e-6))}});
    };
    if (of_query) query_ = normal(query_, of_query);
    if (of_key) keys_ = normal(keys_, of_key);
  }

  void turn() {
    const Expr given = math_.input(9);
    const bool fits =
        given && relax::equal_shapes(math_.shape(given), {batch_, tokens_}) == relax::Answer::kYes;
    const Expr positions = fits ? math_.cast(given, kInt64) : places_;
    RotaryInputs in{query_, rows_at(math_, math_.required(7, "cos_cache"), positions),
                    rows_at(math_, math_.required(8, "sin_cache"), positions)};
    in.is_interleaved = int_attr(node_, "rotary_interleaved", 0) != 0;
    if (const auto half = constant_extent(math_.shape(in.cos)[2])) in.num_turned = 2 * *half;
    query_ = rotated(math_, in);
    in.x = keys_;
    keys_ = rotated(math_, in);
  }

  // `x` [b, s, heads, d] in the cache of input `input`: [b, heads, size, d].
  Expr with_cache(size_t input, const Expr& x) const {
    const Expr past = math_.input(input), now = swapped_heads(math_, x);
    if (is_plain_) return past ? math_.concat({past, now}, 2) : now;
    relax::Shape shape = math_.shape(now);
    shape[2] = math_.importer().facts.simplify(tir::operator-(size_, past_));
    const Expr rest = math_.call("relax.full", {relax::shape_expr(shape), math_.number_like(x, 0)});
    return written(math_, past ? math_.concat({past, rest}, 2) : rest, now, 2, places_);
  }

  void limit_keys(AttentionInputs* in) const {
    const int64_t window = int_attr(node_, "local_window_size", -1);
    const bool is_causal = int_attr(node_, "causal", 1) != 0;
    in->bias = math_.input(10);
    if (is_plain_ && is_causal && !in->bias) {
      in->causal_mask = "BottomRight";
      if (window > 0) in->window_size = window;
      return;
    }
    const Expr keys = math_.counted(size_), at = math_.reshaped(places_, {batch_, unit(), tokens_, unit()});
    const Expr ahead = math_.subtract(keys, at);
    if (is_causal) {
      in->allow(math_, math_.call("relax.less_equal", {ahead, number(0, kInt64)}));
    } else {
      const Expr last = math_.reshaped(math_.cast(math_.required(5, "seqlens_k"), kInt64),
                                       {batch_, unit(), unit(), unit()});
      in->allow(math_, math_.call("relax.less_equal", {keys, last}));
    }
    if (window > 0)
      in->allow(math_, math_.call("relax.greater", {ahead, number(static_cast<double>(-window), kInt64)}));
  }
  // `scores` with 0 for keys that do not count, as onnxruntime has it.
  Expr without_hidden(const Expr& scores) const {
    const Expr counts = math_.call("relax.greater", {scores, math_.number_like(scores, -INFINITY)});
    return math_.where(counts, scores, math_.number_like(scores, 0));
  }
  static ir::PrimExpr unit() { return relax::extent_imm(1); }

  const NodeMath& math_;
  const Node& node_;
  const int64_t num_heads_, num_shared_;
  Expr query_, keys_, values_;  // [b, s, heads, d]; keys and values with their cache: [b, heads, t, d]
  Expr first_, places_;         // where the tokens stand among the keys: [b] the first one, [b, s]
  ir::PrimExpr batch_, tokens_, past_, total_, size_;
  bool is_plain_ = false;
};

void group_query_attention(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  GroupQuery(math).convert();
}

constexpr AttributeRule kAttributes[] = {
    flag("causal"),
    flag("do_rotary"),
    {"k_quant_type", Attribute::kString},
    {"kv_cache_bit_width", Attribute::kInt},
    {"kv_num_heads", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"local_window_size", Attribute::kInt, -1, kMostExtent},
    {"num_heads", Attribute::kInt, 1, kMostExtent, kFirstOpset, kLastOpset, true},
    {"qk_norm_epsilon", Attribute::kFloat, 0},
    {"qk_output", Attribute::kInt, 0, 2},
    flag("rotary_interleaved"),
    {"scale", Attribute::kFloat},
    flag("sliding_window_cache"),
    {"smooth_softmax", Attribute::kInt},
    {"softcap", Attribute::kFloat, 0},
    {"v_quant_type", Attribute::kString}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::GroupQueryAttention", group_query_attention, 1, 16, kAttributes, 4, kFirstOpset,
     kLastOpset, 4},
};

}  // namespace

extern constinit const ConverterTable contrib_group_query_info = {kRows};

}  // namespace tilewright::frontend::onnx
