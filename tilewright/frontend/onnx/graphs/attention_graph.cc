#include "tilewright/frontend/onnx/graphs/attention_graph.h"

#include <cmath>

#include "tilewright/te/topi/attention.h"
#include "tilewright/te/topi/elementwise.h"

namespace tilewright::frontend::onnx {
namespace {

// A bias that makes weights 0, but leaves scores finite: differences of scores of a row without keys are
// numbers.
double lowest_bias(DataType dtype) { return dtype == DataType::float_(16) ? -45000 : -2e38; }

class Attention {
 public:
  Attention(const NodeMath& math, const AttentionInputs& in)
      : math_(math),
        in_(in),
        dtype_(relax::dtype_of(in.query)),
        sums_(topi::dtype_of_sums(dtype_)),
        batch_(math.shape(in.query)[0]),
        heads_(math.shape(in.query)[in.has_heads_first ? 1 : 2]),
        queries_(math.shape(in.query)[in.has_heads_first ? 2 : 1]),
        kv_heads_(math.shape(in.key)[in.kv_has_heads_first ? 1 : 2]),
        keys_(math.shape(in.key)[in.kv_has_heads_first ? 2 : 1]) {
    if (relax::equal_extents(heads_, kv_heads_) != relax::Answer::kYes) share_heads();
    bias_ = total_bias();
  }

  Expr run(WantedScores* wanted) const { return !wanted && fits_fused() ? fused() : by_products(wanted); }

 private:
  void share_heads() {
    const auto all = constant_extent(heads_), shared = constant_extent(kv_heads_);
    if (!all || !shared)
      throw Unsupported("query has {} heads, key {}: different numbers that are known only at run time",
                        relax::shape_text({heads_}), relax::shape_text({kv_heads_}))
          .help("give the inputs of the model numbers of heads");
    if (*shared == 0 || *all % *shared != 0)
      throw UserError("query has {} heads, which do not divide among the {} of key", *all, *shared);
    group_ = *all / *shared;
  }

  Expr lowest() const { return number(lowest_bias(dtype_), dtype_); }
  // Bias and keys that do not count in one; null if there are none.
  Expr total_bias() const {
    const Expr bias =
        in_.bias ? math_.call("relax.maximum", {math_.cast(in_.bias, dtype_), lowest()}) : in_.bias;
    if (!in_.allowed) return bias;
    return math_.where(in_.allowed, bias ? bias : number(0, dtype_), lowest());
  }
  // True for each row of scores [.., s, 1] without a key that counts; null if all have one.
  Expr is_empty_row() const {
    if (!bias_) return nullptr;
    return math_.call("relax.less_equal", {math_.reduced("relax.max", bias_, {-1}), lowest()});
  }

  bool fits_fused() const {
    if (in_.sink || in_.change_scores || in_.change_weights) return false;
    if (in_.has_cache && !constant_extent(queries_)) return false;  // blocks would hold one query of 16
    const DataType precision = in_.precision.is_void() ? sums_ : in_.precision;
    return precision == sums_ && topi::has_attention_blocks(dtype_, queries_, keys_);
  }

  // `letters` with h split into g and r, and `x` likewise, if heads are shared.
  Expr grouped(Expr x, std::string* letters, int64_t num_shared) const {
    const size_t place = letters->find('h');
    if (group_ == 1 || place == std::string::npos) return x;
    if (num_shared == 1) {
      (*letters)[place] = 'g';
      return x;
    }
    relax::Shape extents = math_.shape(x);
    const auto at = extents.begin() + static_cast<long>(place);
    *at = kv_heads_;
    extents.insert(at + 1, relax::extent_imm(group_));
    letters->replace(place, 1, "gr");
    return math_.reshaped(x, extents);
  }

  Expr fused() const {
    std::string query_letters = in_.has_heads_first ? "bhsd" : "bshd",
                key_letters = in_.kv_has_heads_first ? "bhtd" : "bthd",
                value_letters = in_.kv_has_heads_first ? "bhte" : "bthe",
                result_letters = in_.has_heads_first ? "bhse" : "bshe", bias_letters = "bhst";
    std::vector<Expr> args{grouped(in_.query, &query_letters, group_), in_.key,
                           math_.cast(in_.value, dtype_)};
    grouped(in_.key, &key_letters, 1);
    grouped(in_.value, &value_letters, 1);
    std::string subscripts = query_letters + "," + key_letters + "," + value_letters;
    if (bias_) {
      const size_t ndim = math_.shape(bias_).size();
      bias_letters.erase(0, 4 - ndim);
      const bool has_heads = ndim > 2 && !tir::is_one(math_.shape(bias_)[ndim - 3]);
      args.push_back(grouped(bias_, &bias_letters, has_heads ? group_ : 1));
      subscripts += "," + bias_letters;
    }
    if (const size_t place = result_letters.find('h'); group_ > 1) result_letters.replace(place, 1, "gr");
    Expr result = math_.call("relax.nn.attention_einsum", std::move(args),
                             {{"subscripts", attr(subscripts + "->" + result_letters)},
                              {"scale", attr(in_.scale)},
                              {"causal_mask", attr(in_.causal_mask)},
                              {"window_size", attr(in_.window_size)},
                              {"softcap", attr(in_.softcap)}});
    if (group_ > 1) result = math_.reshaped(result, result_shape());
    const Expr is_empty = is_empty_row();
    return is_empty
               ? math_.where(in_.has_heads_first ? is_empty : rows_of(is_empty), number(0, dtype_), result)
               : result;
  }
  relax::Shape result_shape() const {
    const ir::PrimExpr& size = math_.shape(in_.value)[3];
    if (in_.has_heads_first) return {batch_, heads_, queries_, size};
    return {batch_, queries_, heads_, size};
  }
  // [.., h, s, 1] as [b, s, h, 1]
  Expr rows_of(const Expr& x) const {
    relax::Shape extents = math_.shape(x);
    extents.insert(extents.begin(), 4 - extents.size(), relax::extent_imm(1));
    return swapped_heads(math_, math_.reshaped(x, extents));
  }

  // Rows of all queries that share a key: [b, kv_heads, group * s, last].
  Expr with_shared(const Expr& x, const ir::PrimExpr& last) const {
    if (group_ == 1) return x;
    return math_.reshaped(
        x, {batch_, kv_heads_, math_.importer().facts.simplify(tir::operator*(queries_, group_)), last});
  }
  Expr with_own(const Expr& x, const ir::PrimExpr& last) const {
    return group_ == 1 ? x : math_.reshaped(x, {batch_, heads_, queries_, last});
  }

  Expr by_products(WantedScores* wanted) const {
    const auto heads_first = [&](const Expr& x, bool is_so) { return is_so ? x : swapped_heads(math_, x); };
    const Expr query = heads_first(in_.query, in_.has_heads_first),
               key = heads_first(in_.key, in_.kv_has_heads_first),
               value = heads_first(math_.cast(in_.value, dtype_), in_.kv_has_heads_first);
    const auto want = [&](WantedScores::Stage stage, const Expr& scores) {
      if (wanted && wanted->stage == stage) wanted->scores = math_.cast(scores, dtype_);
    };
    const Expr products =
        math_.matmul(with_shared(query, math_.shape(query)[3]), math_.transposed(key), sums_);
    Expr scores = math_.scaled(with_own(products, keys_), in_.scale);
    want(WantedScores::kProducts, scores);
    if (in_.softcap > 0)
      scores = math_.scaled(math_.call("relax.tanh", {math_.scaled(scores, 1 / in_.softcap)}), in_.softcap);
    want(WantedScores::kCapped, scores);
    if (wanted && wanted->stage == WantedScores::kBiased) wanted->scores = shown(scores);
    scores = visible(scores);
    if (bias_) scores = math_.add(scores, math_.cast(bias_, sums_));
    const DataType precision = in_.precision.is_void() ? sums_ : in_.precision;
    scores = math_.cast(scores, precision);
    if (in_.change_scores) scores = in_.change_scores(scores);
    Expr weights = weights_of(scores);
    if (const Expr is_empty = is_empty_row()) weights = math_.where(is_empty, number(0, precision), weights);
    if (in_.change_weights) weights = in_.change_weights(weights);
    want(WantedScores::kWeights, weights);
    weights = with_shared(math_.cast(weights, dtype_), keys_);
    const Expr result = with_own(math_.matmul(weights, value, dtype_), math_.shape(value)[3]);
    return in_.has_heads_first ? result : swapped_heads(math_, result);
  }
  // The softmax of each row, of which a sink takes its share.
  Expr weights_of(const Expr& scores) const {
    const auto softmax = [&](const Expr& x) {
      return math_.call("relax.nn.softmax", {x}, {{"axis", attr(int64_t{-1})}});
    };
    if (!in_.sink) return softmax(scores);
    const ir::PrimExpr one = relax::extent_imm(1);
    const Expr sink = math_.cast(in_.sink, relax::dtype_of(scores));
    const Expr of_heads = math_.shape(sink).empty() ? sink : math_.reshaped(sink, {one, heads_, one, one});
    const Expr column = math_.broadcast(of_heads, {batch_, heads_, queries_, one});
    return math_.first(softmax(math_.concat({scores, column}, 3)), 3, keys_);
  }
  // Scores with -inf where the causal mask or the window hides keys.
  Expr visible(const Expr& scores) const {
    if (in_.causal_mask.empty() && !in_.window_size) return scores;
    const bool is_last = in_.causal_mask == "BottomRight";
    const KeyPositions at = key_positions(math_, queries_, keys_,
                                          is_last ? math_.extent(tir::operator-(keys_, queries_)) : Expr());
    Expr condition;
    if (!in_.causal_mask.empty()) condition = math_.call("relax.less_equal", {at.keys, at.queries});
    if (in_.window_size) {
      const Expr distance = math_.subtract(at.queries, at.keys);
      const Expr is_near =
          math_.call("relax.less", {distance, number(static_cast<double>(*in_.window_size), kInt64)});
      condition = condition ? math_.both(condition, is_near) : is_near;
    }
    return math_.where(condition, scores, math_.number_like(scores, -INFINITY));
  }
  // Scores plus bias, as ONNX defines them: -inf where a key does not count.
  Expr shown(const Expr& scores) const {
    Expr result = math_.cast(visible(scores), dtype_);
    if (!bias_) return result;
    const Expr is_lowest = math_.call("relax.less_equal", {bias_, lowest()});
    return math_.add(result, math_.where(is_lowest, number(-INFINITY, dtype_), bias_));
  }

  const NodeMath& math_;
  const AttentionInputs& in_;
  const DataType dtype_, sums_;
  const ir::PrimExpr batch_, heads_, queries_, kv_heads_, keys_;
  int64_t group_ = 1;  // heads of the query for each one of key and value
  Expr bias_;
};

}  // namespace

Expr attention(const NodeMath& math, const AttentionInputs& in, WantedScores* wanted) {
  return Attention(math, in).run(wanted);
}

Expr split_heads(const NodeMath& math, const Expr& x, int64_t num_heads, std::string_view name) {
  const relax::Shape shape = math.shape(x);
  math.require_ndim(x, 3, name);
  if (num_heads <= 0)
    throw UserError("the number of heads of {} is {}, expected at least 1", name, num_heads);
  const ir::PrimExpr count = relax::extent_imm(num_heads);
  math.require_equal(tir::floormod(shape[2], count), relax::extent_imm(0),
                     "{} is {}, whose last dimension is not divided by {} heads", std::string(name), shape,
                     num_heads);
  return math.reshaped(x, {shape[0], shape[1], count, quotient(math.importer(), shape[2], count)});
}

Expr joined_heads(const NodeMath& math, const Expr& x) {
  const relax::Shape shape = math.shape(x);
  const ir::PrimExpr size = math.importer().facts.simplify(tir::operator*(shape[2], shape[3]));
  return math.reshaped(x, {shape[0], shape[1], size});
}

double scale_of_head(const ir::PrimExpr& head_size) {
  const auto size = constant_extent(head_size);
  if (!size)
    throw Unsupported("the head size is known only at run time, and no scale is given")
        .help("give the node the attribute \"scale\"");
  return *size > 0 ? 1 / std::sqrt(static_cast<double>(*size)) : 1;
}

KeyPositions key_positions(const NodeMath& math, const ir::PrimExpr& num_queries,
                           const ir::PrimExpr& num_keys, const Expr& first) {
  const Expr rows = math.with_axes(math.counted(num_queries), {1});
  return {first ? math.add(rows, first) : rows, math.counted(num_keys)};
}

}  // namespace tilewright::frontend::onnx
