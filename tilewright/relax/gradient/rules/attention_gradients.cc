// Attention: recomputes the weights, then takes the gradients of two products and a softmax.
#include <cmath>

#include "tilewright/arith/analyzer.h"
#include "tilewright/relax/gradient/gradient.h"
#include "tilewright/relax/infer/op_util.h"

namespace tilewright::relax {
namespace {

class Attention {
 public:
  explicit Attention(Backward& b) : b_(b) {
    const Shape &query = b.shape(0), &key = b.shape(1);
    heads_ = query[2];
    shared_ = key[2];
    group_ = arith::simplify(tir::floordiv(heads_, shared_));
  }

  void run() {
    const Value query = b_.bind(by_head(b_.x(0)));
    const Value key = b_.bind(repeated(by_head(b_.x(1)))), value = b_.bind(repeated(by_head(b_.x(2))));
    const Value grad = b_.bind(by_head(b_.grad()));
    const Value weights = b_.bind(weights_of(query, key));
    const Value of_weights = b_.bind(product(grad, flipped(value)));
    const Value of_scores = b_.bind(weights * (of_weights - sum(weights * of_weights, {3}, true)));
    const Value scale = b_.number(scale_of_call());
    b_.add(0, by_head(product(of_scores, key) * scale));
    b_.add(1, by_head(gathered(product(flipped(of_scores), query) * scale)));
    b_.add(2, by_head(gathered(product(flipped(weights), grad))));
    if (b_.num_args() > 3) b_.add(3, of_scores);
  }

 private:
  static Value product(const Value& a, const Value& b) { return apply("matmul", {a, b}); }
  // [batch, length, heads, size] -> [batch, heads, length, size], and the inverse
  static Value by_head(const Value& x) { return permute(x, {0, 2, 1, 3}); }
  static Value flipped(const Value& x) { return permute(x, {0, 1, 3, 2}); }

  // each head of key and value serves `group_` neighbouring heads of query
  Value repeated(const Value& x) const {
    if (tir::is_one(group_)) return x;
    const auto* count = group_.as<IntImmNode>();
    if (!count) b_.refuse("the number of heads that share a key head is known only at run time");
    return apply("repeat", {x}, {{"repeats", attr(count->value)}, {"axis", attr(1)}});
  }
  Value gathered(const Value& x) const {
    if (tir::is_one(group_)) return x;
    const Value bound = b_.bind(x);
    const Shape& shape = b_.shape_of(type_of(bound.expr));
    return sum(reshape(bound, {shape[0], shared_, group_, shape[2], shape[3]}), {2}, false);
  }

  double scale_of_call() const {
    const ObjectRef scale = b_.call()->attrs.get("scale");
    if (const auto* real = scale.as<FloatImmNode>()) return real->value;
    if (const auto* number = scale.as<IntImmNode>()) return static_cast<double>(number->value);
    const auto* size = b_.shape(0)[3].as<IntImmNode>();
    if (!size) b_.refuse("the head size is known only at run time, and no scale is given");
    return 1 / std::sqrt(static_cast<double>(size->value));
  }

  Value weights_of(const Value& query, const Value& key) const {
    Value scores = product(query, flipped(key)) * b_.number(scale_of_call());
    if (b_.num_args() > 3) scores = scores + b_.x(3);
    const Value mask = visible();
    if (mask) scores = select(mask, scores, {make_scalar(lowest(), b_.dtype(0))});
    return apply("nn.softmax", {scores}, {{"axis", attr(-1)}});
  }
  double lowest() const { return tir::min_value(b_.dtype(0)).as<FloatImmNode>()->value; }

  // [queries, keys]: true where a query attends to a key; null if it attends to all
  Value visible() const {
    const AttrMap& attrs = b_.call()->attrs;
    const std::string causal = attrs.get_string("causal_mask", "");
    const int64_t window = attrs.contains("window_size") ? attrs.get_int("window_size", -1) : -1;
    const PrimExpr queries = b_.shape(0)[1], keys = b_.shape(1)[1];
    int64_t first = 0;
    if (causal == "BottomRight" && !tir::as_const_int(arith::simplify(keys - queries), &first))
      b_.refuse("causal_mask is \"BottomRight\", and the lengths are known only at run time");
    const Value ones = apply("ones", {shape_value({queries, keys})}, {{"dtype", attr(b_.dtype(0))}});
    Value mask;
    if (!causal.empty()) mask = apply("tril", {ones}, {{"k", attr(first)}});
    if (window >= 0) mask = apply("triu", {mask ? mask : ones}, {{"k", attr(first - window + 1)}});
    return mask ? apply("greater", {mask, b_.number(0)}) : mask;
  }

  Backward& b_;
  PrimExpr heads_, shared_, group_;
};

void of_attention(Backward& b) { Attention(b).run(); }

constexpr GradientRow kRows[] = {
    {"relax.nn.attention", of_attention},
    {"relax.nn.attention_bias", of_attention},
};

}  // namespace

extern constinit const GradientTable attention_gradients_info = gradient_table(kRows);

}  // namespace tilewright::relax
