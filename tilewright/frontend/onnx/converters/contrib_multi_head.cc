// MultiHeadAttention and DecoderMaskedMultiHeadAttention of com.microsoft.
// Source: github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "tilewright/frontend/onnx/graphs/cache_graph.h"
#include "tilewright/frontend/onnx/graphs/key_mask.h"

namespace tilewright::frontend::onnx {
namespace {

/// Where the inputs after query, key and value stand.
struct Places {
  size_t bias, mask, added, past_key, past_value, length, beams;  // `added` to the scores
};

class MultiHead {
 public:
  MultiHead(const NodeMath& math, const Places& at)
      : math_(math), at_(at), num_heads_(int_attr(math.node(), "num_heads", 0)) {
    in_.has_heads_first = in_.kv_has_heads_first = false;
    read_operands();
    if (const Expr bias = math_.input(at_.bias)) add_bias(bias);
    read_cache();
    const double scale = float_attr(math_.node(), "scale", 0);
    in_.scale = scale != 0 ? scale : scale_of_head(math_.shape(in_.query)[3]);
    in_.bias = math_.input(at_.added);
    extents_.batch = math_.shape(in_.query)[0], extents_.queries = math_.shape(in_.query)[1];
    extents_.keys = math_.shape(in_.key)[in_.kv_has_heads_first ? 2 : 1];
    if (const Expr mask = math_.input(at_.mask)) hide_by_mask(math_, mask, extents_, &in_);
    if (int_attr(math_.node(), "unidirectional", 0)) hide_future(math_, extents_, &in_);
  }

  void convert() {
    WantedScores wanted;
    wanted.stage = WantedScores::kBiased;
    math_.result(0, joined_heads(math_, attention(math_, in_, math_.wants(3) ? &wanted : nullptr)));
    if (math_.wants(3)) math_.result(3, wanted.scores);
  }

 private:
  void read_operands() {
    const Expr query = math_.input(0), key = math_.input(1), value = math_.input(2);
    if (math_.shape(query).size() == 5) {
      in_.query = packed_part(query, 0), in_.key = packed_part(query, 1), in_.value = packed_part(query, 2);
      return;
    }
    if (!key && !value && at_.bias > at_.past_value) return read_joined(query);
    in_.query = split_heads(math_, query, num_heads_, "query");
    if (!key) throw UserError("input 1 (key) is left out, but query is not packed");
    if (math_.shape(key).size() == 5) {
      in_.key = packed_part(key, 0), in_.value = packed_part(key, 1);
      return;
    }
    const Expr given = math_.required(2, "value");
    in_.kv_has_heads_first = math_.shape(key).size() == 4;
    in_.key = in_.kv_has_heads_first ? key : split_heads(math_, key, num_heads_, "key");
    in_.value = in_.kv_has_heads_first ? given : split_heads(math_, given, num_heads_, "value");
  }
  // Query, key and value one after the other in the last dimension.
  void read_joined(const Expr& all) {
    math_.require_ndim(all, 3, "query");
    const ir::PrimExpr whole = math_.shape(all)[2],
                       third = quotient(math_.importer(), whole, relax::extent_imm(3));
    Expr* parts[] = {&in_.query, &in_.key, &in_.value};
    ir::PrimExpr begin = relax::extent_imm(0);
    for (Expr* part : parts) {
      const ir::PrimExpr end = math_.importer().facts.simplify(tir::operator+(begin, third));
      *part = split_heads(math_, math_.sliced(all, 2, begin, end), num_heads_, "query");
      begin = end;
    }
  }
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
      const int64_t end = begin + *size * num_heads_;
      const Expr part = math_.sliced(bias, 0, relax::extent_imm(begin), relax::extent_imm(end));
      begin = end;
      return math_.reshaped(part, {relax::extent_imm(num_heads_), relax::extent_imm(*size)});
    };
    in_.query = math_.add(in_.query, next(in_.query));
    if (in_.kv_has_heads_first) return;  // a cache, to which its bias was added before
    in_.key = math_.add(in_.key, next(in_.key));
    in_.value = math_.add(in_.value, next(in_.value));
  }

  void read_cache() {
    Expr past_key = math_.input(at_.past_key), past_value = math_.input(at_.past_value);
    if (!past_key && !past_value && !math_.wants(1) && !math_.wants(2)) return;
    if (!in_.kv_has_heads_first)
      in_.key = swapped_heads(math_, in_.key), in_.value = swapped_heads(math_, in_.value);
    in_.kv_has_heads_first = true;
    ir::PrimExpr length;
    if (past_key && math_.importer().has_input(math_.node(), at_.length))
      length = one_size(math_, at_.length, "past_sequence_length");
    if (past_key && past_value && math_.importer().has_input(math_.node(), at_.beams)) {
      const ir::PrimExpr past = length ? length : math_.shape(past_key)[2];
      const Cached own = with_cache(math_, past_key, past_value, in_.key, in_.value, length);
      past_key = of_beams(past_key, past), past_value = of_beams(past_value, past);
      in_.key = math_.concat({past_key, in_.key}, 2), in_.value = math_.concat({past_value, in_.value}, 2);
      extents_.past = past;
      math_.result(1, own.key);
      math_.result(2, own.value);
    } else {
      const Cached cached = with_cache(math_, past_key, past_value, in_.key, in_.value, length);
      in_.key = cached.all_keys, in_.value = cached.all_values;
      extents_.past = cached.past;
      math_.result(1, cached.key);
      math_.result(2, cached.value);
    }
    in_.has_cache = static_cast<bool>(past_key);
  }

  // The first `count` keys or values of `cache` [batch * beams, heads, most, d] that led to each beam: those of the
  // beams that cache_indirection [batch, beams, most] names.
  Expr of_beams(const Expr& cache, const ir::PrimExpr& count) const {
    const Expr given = math_.input(at_.beams);
    math_.require_ndim(given, 3, "cache_indirection");
    const relax::Shape named = math_.shape(given), shape = math_.shape(cache);
    math_.require_equal(shape[0], relax::num_elements({named[0], named[1]}),
                        "past_key is {}, which does not hold the beams of cache_indirection, {}", shape,
                        named);
    math_.importer().require(math_.node(), tir::operator<=(count, named[2]),
                             "cache_indirection is {}, which does not name {} keys", named, count);
    const Expr highest = scalar_value(math_.importer().facts.simplify(tir::operator-(named[1], int64_t{1})));
    const Expr beams = math_.call(
        "relax.require_range",
        {math_.first(math_.cast(given, kInt64), 2, count), scalar_value(relax::extent_imm(0)), highest,
         relax::StringValueNode::make(fmt::format("{}: cache_indirection", math_.node().shown()))});
    const Expr first = math_.multiply(math_.counted(named[0]), math_.extent(named[1]));
    const ir::PrimExpr one = relax::extent_imm(1);
    const Expr rows =
        math_.reshaped(math_.add(beams, math_.reshaped(first, {named[0], one, one})), {shape[0], count, one});
    const Expr columns =
        math_.broadcast(math_.reshaped(math_.counted(count), {one, count, one}), {shape[0], count, one});
    const Expr chosen = math_.call("relax.gather_nd",
                                   {math_.permuted(cache, {0, 2, 1, 3}), math_.concat({rows, columns}, 2)});
    return math_.permuted(chosen, {0, 2, 1, 3});
  }

  const NodeMath& math_;
  const Places at_;
  const int64_t num_heads_;
  AttentionInputs in_;
  ScoreExtents extents_;
};

void multi_head_attention(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  MultiHead(math, {3, 4, 5, 6, 7, 8, 9}).convert();
}

void decoder_attention(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  MultiHead(math, {10, 3, 4, 5, 6, 7, 9}).convert();
}

constexpr AttributeRule kHeads = {"num_heads", Attribute::kInt, 1,   kMostExtent,
                                  kFirstOpset, kLastOpset,      true};
constexpr AttributeRule kMultiHead[] = {
    {"mask_filter_value", Attribute::kFloat}, kHeads, {"scale", Attribute::kFloat}, flag("unidirectional")};
constexpr AttributeRule kDecoder[] = {{"mask_filter_value", Attribute::kFloat},
                                      kHeads,
                                      flag("output_qk"),
                                      flag("past_present_share_buffer"),
                                      {"scale", Attribute::kFloat}};

constexpr ConverterRow kRows[] = {
    {"com.microsoft::DecoderMaskedMultiHeadAttention", decoder_attention, 1, 11, kDecoder, 4, kFirstOpset,
     kLastOpset, 4},
    {"com.microsoft::MultiHeadAttention", multi_head_attention, 1, 10, kMultiHead, 4, kFirstOpset, kLastOpset,
     4},
};

}  // namespace

extern constinit const ConverterTable contrib_multi_head_info = {kRows};

}  // namespace tilewright::frontend::onnx
