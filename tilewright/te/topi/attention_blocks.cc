// Attention in blocks: queries are the lanes of vectors, and keys come in blocks whose softmax is merged with
// that of the keys before, so that the scores are never stored as a whole.  This file chooses the sizes of
// blocks and builds the stages of the computation, which schedule/default/cpu/tile_attention.cc fuses.
// Source: Milakov, Gimelshein, Online normalizer calculation for softmax, arXiv 1805.02867
#include "tilewright/arith/analyzer.h"
#include "tilewright/target/costs.h"
#include "tilewright/te/topi/attention_steps.h"
#include "tilewright/tir/block_roles.h"
#include "tilewright/tir/limits.h"

namespace tilewright::topi {
using namespace tir;
namespace {

using target::kGraphCosts;

// Lanes of a block, the best first; more than kMaxLanesOfFew only if the batch has enough work for all cores.
constexpr int64_t kLanes[] = {64, 32, 48, 80, 96, 112};
constexpr int64_t kMaxLanesOfFew = 64;
constexpr int64_t kFewLanes[] = {8, 16};  // for few queries
constexpr int64_t kTile = 16;             // tile of transpositions in registers

/// The division of a dimension into blocks.
struct Cut {
  PrimExpr extent, count;  // extent of the dimension; number of blocks
  int64_t size = 1;        // elements in a block
  bool is_whole = false;   // the last block is full

  PrimExpr place(const PrimExpr& block, const PrimExpr& lane) const { return block * size + lane; }
  /// The same position, clamped to the extent.
  PrimExpr nearest(const PrimExpr& block, const PrimExpr& lane) const {
    return is_whole ? place(block, lane) : tir::min(place(block, lane), extent - 1);
  }
};

Cut cut(const PrimExpr& extent, int64_t size) {
  int64_t number;
  return {extent, arith::simplify(floordiv(extent + (size - 1), make_const_int(extent->dtype, size))), size,
          as_const_int(extent, &number) && number % size == 0};
}

int64_t padded(int64_t count, int64_t size) { return (count + size - 1) / size * size; }

// The number of lanes of kLanes with the fewest idle ones.
int64_t num_lanes(const PrimExpr& num_queries, const PrimExpr& batch) {
  int64_t number, num_batch;
  if (!as_const_int(num_queries, &number)) return kGraphCosts.attention_open_lanes;
  for (const int64_t lanes : kFewLanes)
    if (number <= lanes) return lanes;
  const bool has_batch = !as_const_int(batch, &num_batch) || num_batch >= kGraphCosts.attention_wide_batch;
  int64_t best = kLanes[0];
  for (const int64_t lanes : kLanes) {
    if ((has_batch || lanes <= kMaxLanesOfFew) && padded(number, lanes) < padded(number, best)) best = lanes;
  }
  return best;
}

// Blocks of as equal size as possible.
Cut cut_keys(const PrimExpr& extent) {
  int64_t number;
  if (!as_const_int(extent, &number)) return cut(extent, kGraphCosts.attention_open_keys);
  if (number <= kGraphCosts.attention_keys_at_once) return cut(extent, number);
  const int64_t count = (number + kGraphCosts.attention_keys - 1) / kGraphCosts.attention_keys;
  return cut(extent, (number + count - 1) / count);
}

PrimExpr size_of(const Shape& shape) {
  PrimExpr size = make_const_int(kInt64, 1);
  for (const PrimExpr& extent : shape) size = arith::simplify(size * extent);
  return size;
}

class Blocks {
 public:
  explicit Blocks(const AttentionParts& parts)
      : parts_(parts),
        queries_(cut(parts.extent('s'), num_lanes(parts.extent('s'), size_of(parts.shape({}))))),
        keys_(cut_keys(parts.extent('t'))),
        num_batch_(parts.batch().size()),
        has_key_blocks_(!is_one(keys_.count)),
        lanes_(make_const_int(kInt64, queries_.size)) {}

  Tensor run() {
    queries_of_lanes();
    weigh_keys();
    if (has_key_blocks_) merge();
    const Tensor rows = rows_of_results();
    return parts_.result([&](const LetterValues& at) {
      te::Indices indices;
      for (char letter : parts_.batch()) indices.push_back(at.at(letter));
      indices.insert(indices.end(), {floordiv(at.at('s'), lanes_), floormod(at.at('s'), lanes_), at.at('e')});
      return rows.at(indices);
    });
  }

 private:
  // batch, blocks of queries, `others`, lanes
  Shape query_shape(Shape others) const {
    others.insert(others.begin(), queries_.count);
    others.push_back(lanes_);
    return parts_.shape(others);
  }
  // batch, blocks of queries, blocks of keys if there are several, `others`, lanes
  Shape key_shape(Shape others) const {
    if (has_key_blocks_) others.insert(others.begin(), keys_.count);
    return query_shape(std::move(others));
  }
  static te::Indices with(const std::vector<Var>& axes, const PrimExpr& last_but_one) {
    te::Indices indices(axes.begin(), axes.end());
    indices.insert(indices.end() - 1, last_but_one);
    return indices;
  }
  static te::Indices without(const std::vector<Var>& axes, size_t first, size_t count) {
    te::Indices indices(axes.begin(), axes.end());
    indices.erase(indices.begin() + static_cast<long>(first),
                  indices.begin() + static_cast<long>(first + count));
    return indices;
  }
  PrimExpr key_block(const std::vector<Var>& axes) const {
    return has_key_blocks_ ? PrimExpr(axes[num_batch_ + 1]) : make_const_int(kInt64, 0);
  }
  PrimExpr query_place(const std::vector<Var>& axes) const {
    return queries_.place(axes[num_batch_], axes.back());
  }
  // `value` where all of `conditions` hold (null holds always), else zero.
  static PrimExpr guarded(const std::vector<PrimExpr>& conditions, const PrimExpr& value) {
    PrimExpr all;
    for (const PrimExpr& each : conditions)
      if (each) all = all ? tir::logical_and(all, each) : each;
    return all ? call(value->dtype, "if_then_else", {all, value, make_const_int(value->dtype, 0)}) : value;
  }
  // True if a lane has a query; null if all have.
  PrimExpr has_query(const PrimExpr& place) const {
    return queries_.is_whole ? PrimExpr() : place < queries_.extent;
  }
  // `rows`, whose last two axes are those of `shape` in the other order, transposed.
  Tensor transposed(const Tensor& rows, const Shape& shape, const char* name) const {
    return te::compute(shape,
                       [&](const std::vector<Var>& i) {
                         te::Indices indices(i.begin(), i.end());
                         std::swap(indices[indices.size() - 2], indices.back());
                         return rows.at(indices);
                       },
                       {.name = name});
  }
  static Shape with_last_swapped(Shape shape) {
    std::swap(shape[shape.size() - 2], shape.back());
    return shape;
  }

  void queries_of_lanes() {
    const Shape shape = query_shape({parts_.extent('d')});
    const auto query_at = [&](const std::vector<Var>& i, const PrimExpr& lane, const PrimExpr& d) {
      LetterValues at = parts_.batch_at(i);
      at['s'] = queries_.place(i[num_batch_], lane);
      at['d'] = d;
      return guarded({has_query(at['s'])}, parts_.query(at));
    };
    if (queries_.is_whole) {
      lane_queries_ = te::compute(
          shape, [&](const std::vector<Var>& i) { return query_at(i, i.back(), i[i.size() - 2]); },
          {.name = "T_queries"});
      return;
    }
    const Tensor rows =
        te::compute(with_last_swapped(shape),
                    [&](const std::vector<Var>& i) { return query_at(i, i[i.size() - 2], i.back()); },
                    {.name = "T_query_rows"});
    lane_queries_ = transposed(rows, shape, "T_queries");
  }

  // The letters of scores; indices of keys are clamped to the last key.
  LetterValues score_at(const std::vector<Var>& axes) const {
    LetterValues at = parts_.batch_at(axes);
    at['s'] = query_place(axes);
    at['t'] = keys_.nearest(key_block(axes), axes[axes.size() - 2]);
    return at;
  }
  PrimExpr bias_at(const std::vector<Var>& axes) const {
    const LetterValues at = score_at(axes);
    return guarded({has_query(at.at('s'))}, parts_.bias(at));
  }
  // The biases of a block, a lane for each query.  They are padded with keys that nothing reads, so that
  // tiles are full, and lack the batch axes if all of the batch shares them.
  Tensor biases_of_lanes() const {
    const int64_t num_keys = (keys_.size + kTile - 1) / kTile * kTile;
    const bool is_whole = keys_.is_whole && num_keys == keys_.size;
    const size_t num_batch = parts_.has_shared_bias() ? 0 : num_batch_;
    Shape shape = key_shape({make_const_int(kInt64, num_keys)});
    shape.erase(shape.begin(), shape.begin() + static_cast<long>(num_batch_ - num_batch));
    const auto value_at = [&](const std::vector<Var>& i, const PrimExpr& lane, const PrimExpr& key) {
      LetterValues at;
      if (num_batch > 0) at = parts_.batch_at(i);
      const PrimExpr block = has_key_blocks_ ? PrimExpr(i[num_batch + 1]) : make_const_int(kInt64, 0);
      at['s'] = queries_.place(i[num_batch], lane);
      at['t'] = keys_.place(block, key);
      return guarded({has_query(at['s']), is_whole ? PrimExpr() : at['t'] < keys_.extent}, parts_.bias(at));
    };
    if (queries_.is_whole && is_whole)
      return te::compute(shape,
                         [&](const std::vector<Var>& i) { return value_at(i, i.back(), i[i.size() - 2]); },
                         {.name = "T_bias"});
    const Tensor rows =
        te::compute(with_last_swapped(shape),
                    [&](const std::vector<Var>& i) { return value_at(i, i[i.size() - 2], i.back()); },
                    {.name = "T_bias_rows"});
    return transposed(rows, shape, "T_bias");
  }

  void weigh_keys() {
    const PrimExpr num_keys = make_const_int(kInt64, keys_.size);
    const Shape shape = key_shape({num_keys});
    const IterVar d = te::reduce_axis(parts_.extent('d'), "d");
    const Tensor products = te::compute(
        shape,
        [&](const std::vector<Var>& i) {
          LetterValues at = score_at(i);
          at['d'] = d->var;
          te::Indices of_query(i.begin(), i.begin() + static_cast<long>(num_batch_) + 1);
          of_query.insert(of_query.end(), {d->var, i.back()});
          return te::sum(lane_queries_.at(of_query) * parts_.key(at), {d});
        },
        te::in_role("T_products", kAttentionProducts));
    Tensor bias;
    if (parts_.has_strided_bias()) bias = biases_of_lanes();
    const Tensor scores = te::compute(
        shape,
        [&](const std::vector<Var>& i) {
          PrimExpr own;
          if (parts_.has_bias()) own = bias ? bias.at(without(i, 0, i.size() - bias.ndim())) : bias_at(i);
          const PrimExpr score = parts_.score(products.at({i.begin(), i.end()}), own, score_at(i));
          if (keys_.is_whole) return score;
          return select(keys_.place(key_block(i), i[i.size() - 2]) < keys_.extent, score,
                        min_value(score->dtype));
        },
        te::in_role("T_scores", kAttentionScores));
    const auto reduced = [&](const char* name, std::string_view role, const auto& combine) {
      const IterVar j = te::reduce_axis(num_keys, "j");
      return te::compute(
          key_shape({}), [&](const std::vector<Var>& i) { return combine(with(i, j->var), j); },
          te::in_role(name, role));
    };
    largest_ = reduced("T_largest", kAttentionLargest, [&](const te::Indices& indices, const IterVar& j) {
      return te::max(scores.at(indices), {j});
    });
    const Tensor weights = te::compute(
        shape,
        [&](const std::vector<Var>& i) {
          PrimExpr most = largest_.at(without(i, i.size() - 2, 1));
          // a block whose scores are all -inf has weight 0; exp(-inf - -inf) would be NaN
          if (has_key_blocks_) most = tir::max(most, lowest_finite(most->dtype));
          return call(most->dtype, "exp", {scores.at({i.begin(), i.end()}) - most});
        },
        te::in_role("T_weights", kAttentionWeights));
    sum_ = reduced("T_sum", kAttentionSum, [&](const te::Indices& indices, const IterVar& j) {
      return te::sum(weights.at(indices), {j});
    });
    const IterVar j = te::reduce_axis(num_keys, "j");
    mixed_ = te::compute(
        key_shape({parts_.extent('e')}),
        [&](const std::vector<Var>& i) {
          LetterValues at = parts_.batch_at(i);
          at['t'] = keys_.nearest(key_block(i), j->var);
          at['e'] = i[i.size() - 2];
          te::Indices indices(i.begin(), i.end());
          indices[indices.size() - 2] = j->var;
          return te::sum(weights.at(indices) * parts_.value(at), {j});
        },
        te::in_role("T_mixed", kAttentionMixed));
  }

  void merge() {
    const size_t block_axis = num_batch_ + 1;
    const auto merged = [&](te::Named options, const Shape& others, const auto& combine) {
      const IterVar c = te::reduce_axis(keys_.count, "c");
      return te::compute(
          query_shape(others),
          [&](const std::vector<Var>& i) {
            te::Indices all(i.begin(), i.end());
            all.insert(all.begin() + static_cast<long>(block_axis), c->var);
            te::Indices of_sum(all.begin(), all.begin() + static_cast<long>(block_axis) + 1);
            of_sum.push_back(all.back());
            return combine(all, of_sum, c);
          },
          std::move(options));
    };
    const Tensor largest = merged(
        {.name = "T_largest_of_all"}, {},
        [&](const auto& all, const auto&, const IterVar& c) { return te::max(largest_.at(all), {c}); });
    const Tensor share = te::compute(
        key_shape({}),
        [&](const std::vector<Var>& i) {
          return call(parts_.dtype(), "exp",
                      {largest_.at({i.begin(), i.end()}) - largest.at(without(i, block_axis, 1))});
        },
        {.name = "T_share"});
    const auto sum_of_shares = [&](te::Named options, const Tensor& source, const Shape& others) {
      return merged(std::move(options), others, [&](const auto& all, const auto& of_sum, const IterVar& c) {
        return te::sum(share.at(of_sum) * source.at(all), {c});
      });
    };
    sum_ = sum_of_shares({.name = "T_sum_of_all"}, sum_, {});
    mixed_ = sum_of_shares(te::in_role("T_mixed_of_all", kAttentionMerged), mixed_, {parts_.extent('e')});
  }

  // scaled[.., e, lane] / sum[.., lane], a row for each query
  Tensor rows_of_results() const {
    const Shape shape = query_shape({parts_.extent('e')});
    const Tensor scaled = te::compute(
        shape,
        [&](const std::vector<Var>& i) {
          const PrimExpr mixed = mixed_.at({i.begin(), i.end()}), sum = sum_.at(without(i, i.size() - 2, 1));
          if (is<IntImmNode>(keys_.extent)) return div(mixed, sum);
          // without keys the result is zero
          return select(equal(sum, make_const_int(sum->dtype, 0)), mixed, div(mixed, sum));
        },
        te::in_role("T_scaled", kAttentionScaled));
    return transposed(scaled, with_last_swapped(shape), "T_rows");
  }

  const AttentionParts& parts_;
  const Cut queries_, keys_;
  const size_t num_batch_;
  const bool has_key_blocks_;
  const PrimExpr lanes_;
  Tensor lane_queries_, largest_, sum_, mixed_;
};

}  // namespace

double used_attention_lanes(const PrimExpr& num_queries, const PrimExpr& batch) {
  int64_t number;
  if (!as_const_int(num_queries, &number)) return 1;
  return static_cast<double>(number) / static_cast<double>(padded(number, num_lanes(num_queries, batch)));
}

bool has_attention_blocks(DataType dtype, const PrimExpr& num_queries, const PrimExpr& num_keys) {
  int64_t number;
  return (dtype == kFloat32 || dtype == DataType::float_(64)) &&
         (!as_const_int(num_queries, &number) || number >= kGraphCosts.attention_queries) &&
         (!as_const_int(num_keys, &number) || number > 1);
}

Tensor attention_in_blocks(const AttentionParts& parts) { return Blocks(parts).run(); }

}  // namespace tilewright::topi
