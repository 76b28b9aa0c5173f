// Attention.  Source: onnx.ai/onnx/operators, opset 23 to 25.
#include <cmath>

#include "tilewright/frontend/onnx/graphs/attention_graph.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

// `x` [b, heads, s, d], which has `past` [b, heads, p, d] before it if there is one.
Expr with_past(const NodeMath& math, const Expr& past, const Expr& x) {
  return past ? math.concat({past, x}, 2) : x;
}

/// The node Attention, with its inputs as AttentionInputs.
class Converter {
 public:
  explicit Converter(const NodeMath& math)
      : math_(math),
        node_(math.node()),
        mask_(math.input(3)),
        past_key_(math.input(4)),
        length_(math.input(6)) {
    const Expr past_value = math.input(5);
    if (!past_key_ != !past_value) throw UserError("past_key and past_value are not given together");
    if (past_key_ && length_) throw UserError("nonpad_kv_seqlen is given beside past_key");
    read_operands(past_value);
    queries_ = math_.shape(in_.query)[in_.has_heads_first ? 2 : 1];
    keys_ = math_.shape(in_.key)[in_.kv_has_heads_first ? 2 : 1];
    in_.scale =
        node_.find("scale") ? float_attr(node_, "scale", 0) : scale_of_head(math_.shape(in_.query)[3]);
    in_.softcap = float_attr(node_, "softcap", 0);
    if (const int64_t precision = int_attr(node_, "softmax_precision", 0))
      in_.precision = dtype_of(precision, "attribute \"softmax_precision\"");
    read_mask();
    limit_keys();
  }

  void convert() {
    WantedScores wanted;
    wanted.stage = static_cast<WantedScores::Stage>(int_attr(node_, "qk_matmul_output_mode", 0));
    const Expr result = attention(math_, in_, math_.wants(3) ? &wanted : nullptr);
    math_.result(0, is_packed_ ? joined_heads(math_, result) : result);
    if (math_.wants(1)) math_.result(1, in_.key);
    if (math_.wants(2)) math_.result(2, in_.value);
    if (math_.wants(3)) math_.result(3, wanted.scores);
  }

 private:
  void read_operands(const Expr& past_value) {
    in_.query = math_.input(0), in_.key = math_.input(1), in_.value = math_.input(2);
    const size_t ndim = math_.shape(in_.query).size();
    is_packed_ = ndim == 3;
    if (!is_packed_) math_.require_ndim(in_.query, 4, "Q");
    math_.require_ndim(in_.key, ndim, "K");
    math_.require_ndim(in_.value, ndim, "V");
    new_keys_ = math_.shape(in_.key)[is_packed_ ? 1 : 2];
    if (is_packed_) {
      const int64_t shared = int_attr(node_, "kv_num_heads", 0);
      in_.query = split_heads(math_, in_.query, int_attr(node_, "q_num_heads", 0), "Q");
      in_.key = split_heads(math_, in_.key, shared, "K");
      in_.value = split_heads(math_, in_.value, shared, "V");
      in_.has_heads_first = false;
    }
    in_.kv_has_heads_first = !is_packed_ || past_key_ || math_.wants(1) || math_.wants(2);
    if (is_packed_ && in_.kv_has_heads_first) {
      in_.key = swapped_heads(math_, in_.key);
      in_.value = swapped_heads(math_, in_.value);
    }
    in_.has_cache = past_key_ || length_;
    if (past_key_) past_ = math_.shape(past_key_)[2];
    in_.key = with_past(math_, past_key_, in_.key);
    in_.value = with_past(math_, past_value, in_.value);
  }

  // A mask with fewer keys lets none of the others count.
  void read_mask() {
    if (!mask_) return;
    const relax::Shape shape = math_.shape(mask_);
    if (shape.empty() || shape.size() > 4)
      throw UserError("attn_mask has {}, expected 1 to 4", count_text(shape.size(), "dimension"));
    const bool is_bool = relax::dtype_of(mask_) == kBoolType;
    if (relax::equal_extents(shape.back(), keys_) != relax::Answer::kYes) {
      const ir::PrimExpr missing = math_.importer().facts.simplify(tir::operator-(keys_, shape.back()));
      math_.importer().require(node_, tir::operator<=(relax::extent_imm(0), missing),
                               "attn_mask is {}, with more keys than {}", shape, keys_);
      relax::Shape rest = shape;
      rest.back() = missing;
      const Expr none = is_bool ? number(0, kBoolType) : math_.number_like(mask_, -INFINITY);
      mask_ = math_.concat({mask_, math_.call("relax.full", {relax::shape_expr(rest), none})}, -1);
    }
    if (is_bool)
      in_.allow(math_, mask_);
    else
      in_.bias = mask_;
  }

  // What hides keys but the mask: the future, a window, the end of a cache.
  void limit_keys() {
    const bool is_causal = int_attr(node_, "is_causal", 0) != 0;
    const int64_t left = int_attr(node_, "left_window_size", -1),
                  right = int_attr(node_, "right_window_size", -1);
    const bool is_plain = !mask_ && !length_ && (!past_ || is_as_long());
    if (is_causal && is_plain) {
      in_.causal_mask = past_ ? "BottomRight" : "TopLeft";
      if (left >= 0) in_.window_size = left + 1;
      return;
    }
    if (length_) length_ = math_.reshaped(length_, {math_.shape(in_.query)[0], one(), one(), one()});
    if (is_causal || left >= 0 || right >= 0) {
      const KeyPositions at = key_positions(math_, queries_, keys_, first_query());
      const Expr ahead = math_.subtract(at.keys, at.queries);
      const auto limit = [&](std::string_view op, int64_t most) {
        in_.allow(math_, math_.call(op, {ahead, number(static_cast<double>(most), kInt64)}));
      };
      if (is_causal) limit("relax.less_equal", 0);
      if (right >= 0) limit("relax.less_equal", right);
      if (left >= 0) limit("relax.greater_equal", -left);
    }
    if (length_) in_.allow(math_, math_.call("relax.less", {math_.counted(keys_), length_}));
  }
  static ir::PrimExpr one() { return relax::extent_imm(1); }
  bool is_as_long() const { return relax::equal_extents(new_keys_, queries_) == relax::Answer::kYes; }
  Expr first_query() const {
    if (past_) return math_.extent(past_);
    return length_ ? math_.subtract(length_, math_.extent(queries_)) : Expr();
  }

  const NodeMath& math_;
  const Node& node_;
  Expr mask_, past_key_, length_;
  AttentionInputs in_;
  ir::PrimExpr past_, new_keys_, queries_, keys_;  // extents; past_ is null without past_key
  bool is_packed_ = false;
};

void attention_of(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  Converter(math).convert();
}

// What the subgraph in attribute `name` makes of scores or weights; empty if there is none.
std::function<Expr(const Expr&)> change_of(const NodeMath& math, std::string_view name) {
  const Attribute* attribute = math.node().find(name);
  if (!attribute) return {};
  const Graph& graph = *attribute->graph;
  if (graph.inputs.size() != 1 || graph.outputs.size() != 1)
    throw UserError("{} has {} and {}, expected one of each", name, count_text(graph.inputs.size(), "input"),
                    count_text(graph.outputs.size(), "output"));
  return [&math, &graph, name = std::string(name)](const Expr& given) {
    Importer& importer = math.importer();
    Expr result;
    importer.in_subgraph(graph, [&] {
      importer.define(graph.inputs[0].name, given);
      importer.convert_all(graph.nodes);
      const std::string& output = graph.outputs[0].name;
      result = importer.value(Node{"output", "", output, {output}, {}, {}}, 0);
    });
    if (relax::dtype_of(result) != relax::dtype_of(given))
      throw UserError("{} returns {}, expected {}", name, relax::dtype_of(result).str(),
                      relax::dtype_of(given).str());
    importer.require(math.node(), relax::is_same_shape(math.shape(result), math.shape(given)),
                     "{} returns {}, expected the shape of its input, {}", name, math.shape(result),
                     math.shape(given));
    return result;
  };
}

// Attention that leaves masks to subgraphs.
void flex_attention(Importer& importer, const Node& node) {
  const NodeMath math(importer, node);
  AttentionInputs in;
  in.change_scores = change_of(math, "score_mod"), in.change_weights = change_of(math, "prob_mod");
  in.query = math.input(0), in.key = math.input(1), in.value = math.input(2);
  math.require_ndim(in.query, 4, "Q");
  math.require_ndim(in.key, 4, "K");
  math.require_ndim(in.value, 4, "V");
  const double scale = float_attr(node, "scale", 0);
  in.scale = scale != 0 ? scale : scale_of_head(math.shape(in.query)[3]);
  if (const int64_t precision = int_attr(node, "softmax_precision", 0))
    in.precision = dtype_of(precision, "attribute \"softmax_precision\"");
  math.result(0, attention(math, in));
}

constexpr AttributeRule kFlexAttention[] = {{"prob_mod", Attribute::kGraph},
                                            {"scale", Attribute::kFloat},
                                            {"score_mod", Attribute::kGraph},
                                            {"softmax_precision", Attribute::kInt}};
constexpr AttributeRule kAttention[] = {{"is_causal", Attribute::kInt, 0, 1},
                                        {"kv_num_heads", Attribute::kInt, 0, kMostExtent},
                                        {"left_window_size", Attribute::kInt, -1, kMostExtent, 25},
                                        {"q_num_heads", Attribute::kInt, 0, kMostExtent},
                                        {"qk_matmul_output_mode", Attribute::kInt, 0, 3},
                                        {"right_window_size", Attribute::kInt, -1, kMostExtent, 25},
                                        {"scale", Attribute::kFloat},
                                        {"softcap", Attribute::kFloat, 0},
                                        {"softmax_precision", Attribute::kInt}};

constexpr ConverterRow kRows[] = {
    {"Attention", attention_of, 3, 6, kAttention, 4, 23, 23, 4},
    {"Attention", attention_of, 3, 7, kAttention, 4, 24, kLastOpset, 4},
    {"ai.onnx.preview::FlexAttention", flex_attention, 3, 3, kFlexAttention},
};

}  // namespace

extern constinit const ConverterTable attention_info = {kRows};

}  // namespace tilewright::frontend::onnx
