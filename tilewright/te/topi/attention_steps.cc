#include "tilewright/te/topi/attention_steps.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/topi/softmax.h"

namespace tilewright::topi {
using namespace tir;

PrimExpr visible_key(const AttentionOptions& options, const PrimExpr& i, const PrimExpr& j,
                     const PrimExpr& queries, const PrimExpr& keys) {
  const PrimExpr place = options.mask == CausalMask::kBottomRight ? i + (keys - queries) : i;
  PrimExpr result;
  if (options.mask != CausalMask::kNone) result = j <= place;
  if (options.window >= 0) {
    const PrimExpr is_near = place - j < make_const_int(j->dtype, options.window);
    result = result ? tir::logical_and(result, is_near) : is_near;
  }
  return result;
}

AttentionParts::AttentionParts(Tensor query, Tensor key, Tensor value, Tensor bias,
                               const AttentionOptions& options, AttentionLetters letters)
    : query_(std::move(query)),
      key_(std::move(key)),
      value_(std::move(value)),
      bias_(std::move(bias)),
      options_(options),
      letters_(std::move(letters)) {
  const auto add = [&](const Tensor& tensor, const std::string& own) {
    for (size_t dim = 0; dim < own.size(); ++dim) {
      PrimExpr& extent = extents_[own[dim]];
      if (!extent || is_one(extent)) extent = tensor.shape()[dim];
    }
  };
  add(query_, letters_.query);  // first: the query has all heads
  add(key_, letters_.key);
  add(value_, letters_.value);
  for (char letter : letters_.query) {
    if (letter != 's' && letter != 'd' && letter != '1') batch_ += letter;
  }
}

Shape AttentionParts::shape(const Shape& others) const {
  Shape shape;
  for (char letter : batch_) shape.push_back(extent(letter));
  shape.insert(shape.end(), others.begin(), others.end());
  return shape;
}

LetterValues AttentionParts::batch_at(const std::vector<Var>& axes) const {
  LetterValues at;
  for (size_t n = 0; n < batch_.size(); ++n) at[batch_[n]] = axes[n];
  return at;
}

PrimExpr AttentionParts::element(const Tensor& tensor, const std::string& own, const LetterValues& at) const {
  std::vector<PrimExpr> indices;
  for (size_t dim = 0; dim < own.size(); ++dim) {
    const PrimExpr& extent = tensor.shape()[dim];
    if (is_one(extent)) {
      indices.push_back(make_const_int(extent->dtype, 0));
      continue;
    }
    const PrimExpr group = arith::simplify(floordiv(extents_.at(own[dim]), extent));
    indices.push_back(is_one(group) ? at.at(own[dim]) : floordiv(at.at(own[dim]), group));
  }
  return widened(tensor.at(indices));
}

bool AttentionParts::has_strided_bias() const {
  const size_t dim = letters_.bias.find('s');
  return bias_ && dim != std::string::npos && !is_one(bias_.shape()[dim]) && dim + 1 != bias_.ndim();
}

bool AttentionParts::has_shared_bias() const {
  for (size_t dim = 0; dim < letters_.bias.size(); ++dim) {
    if (batch_.find(letters_.bias[dim]) != std::string::npos && !is_one(bias_.shape()[dim])) return false;
  }
  return bias_ && !batch_.empty();
}

PrimExpr AttentionParts::score(const PrimExpr& product, const PrimExpr& bias, const LetterValues& at) const {
  PrimExpr score = product * make_const(product->dtype, options_.scale);
  if (options_.softcap > 0)
    score = tir::call(score->dtype, "tanh", {score * make_const(score->dtype, 1 / options_.softcap)}) *
            make_const(score->dtype, options_.softcap);
  if (bias) score = score + bias;
  const PrimExpr is_visible = visible_key(options_, at.at('s'), at.at('t'), extent('s'), extent('t'));
  return is_visible ? select(is_visible, score, min_value(score->dtype)) : score;
}

Tensor AttentionParts::result(const std::function<PrimExpr(const LetterValues&)>& body) const {
  Shape shape;
  for (char letter : letters_.result)
    shape.push_back(letter == '1' ? make_const_int(kInt64, 1) : extent(letter));
  return te::compute(shape,
                     [&](const std::vector<Var>& i) {
                       LetterValues at;
                       for (size_t n = 0; n < i.size(); ++n) at[letters_.result[n]] = i[n];
                       return body(at);
                     },
                     {.name = "T_attention"});
}

Tensor attention_at_once(const AttentionParts& parts) {
  const IterVar d = te::reduce_axis(parts.extent('d'), "d");
  const Shape shape = parts.shape({parts.extent('s'), parts.extent('t')});
  const auto at = [&](const std::vector<Var>& i) {
    LetterValues values = parts.batch_at(i);
    values['s'] = i[i.size() - 2];
    values['t'] = i[i.size() - 1];
    return values;
  };
  const Tensor products = te::compute(shape,
                                      [&](const std::vector<Var>& i) {
                                        LetterValues values = at(i);
                                        values['d'] = d->var;
                                        return te::sum(parts.query(values) * parts.key(values), {d});
                                      },
                                      {.name = "T_scores"});
  const Tensor scores =
      te::compute(shape,
                  [&](const std::vector<Var>& i) {
                    const LetterValues values = at(i);
                    return parts.score(products.at({i.begin(), i.end()}),
                                       parts.has_bias() ? parts.bias(values) : PrimExpr(), values);
                  },
                  {.name = "T_masked_scores"});
  const Tensor weights = softmax(scores, static_cast<int64_t>(shape.size()) - 1);
  const IterVar t = te::reduce_axis(parts.extent('t'), "t");
  return parts.result([&](LetterValues values) {
    values['t'] = t->var;
    te::Indices indices;
    for (char letter : parts.batch()) indices.push_back(values.at(letter));
    indices.insert(indices.end(), {values.at('s'), t->var});
    return te::sum(weights.at(indices) * parts.value(values), {t});
  });
}

}  // namespace tilewright::topi
