#include "tilewright/te/topi/attention.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/te/topi/attention_steps.h"
#include "tilewright/te/topi/broadcast.h"
#include "tilewright/te/topi/einsum.h"
#include "tilewright/te/topi/reduce.h"

namespace tilewright::topi {
using namespace tir;
namespace {

AttentionLetters letters_of_heads(const Tensor& bias) {
  const std::string scores = "bhst";
  return {"bshd", "bthd", "bthe", bias ? scores.substr(scores.size() - bias.ndim()) : "", "bshe"};
}

}  // namespace

AttentionLetters parse_attention(const std::string& subscripts) {
  EinsumLetters parsed = parse_einsum(subscripts);
  parsed.operands.resize(4);
  return {parsed.operands[0], parsed.operands[1], parsed.operands[2], parsed.operands[3], parsed.result};
}

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                 const AttentionOptions& options, const AttentionLetters& letters) {
  const AttentionParts parts(query, key, value, bias, options, letters);
  const bool has_blocks = has_attention_blocks(query.dtype(), parts.extent('s'), parts.extent('t'));
  return rounded_to(has_blocks ? attention_in_blocks(parts) : attention_at_once(parts), query.dtype());
}

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
                 const AttentionOptions& options) {
  return attention(query, key, value, bias, options, letters_of_heads(bias));
}

namespace {

// For each of `count` positions the number of sequences that end before it, from where they start.
Tensor sequence_of(const Tensor& starts, const PrimExpr& count, std::string_view name) {
  const IterVar n = te::reduce_axis(arith::simplify(starts.shape()[0] - 1), "n");
  return te::compute({count},
                     [&](const std::vector<Var>& i) {
                       const PrimExpr end = tir::cast(kInt64, starts.at({n->var + 1}));
                       return te::sum(select(end <= tir::cast(kInt64, i[0]), imm(1, kInt64), imm(0, kInt64)),
                                      {n});
                     },
                     {.name = std::string(name)});
}

}  // namespace

Tensor attention_var_len(const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor& query_starts, const Tensor& key_starts, AttentionOptions options) {
  const PrimExpr &queries = query.shape()[1], &keys = key.shape()[1];
  const DataType dtype = dtype_of_sums(query.dtype());
  const Tensor query_sequence = sequence_of(query_starts, queries, "T_query_sequence"),
               key_sequence = sequence_of(key_starts, keys, "T_key_sequence");
  const auto start = [](const Tensor& starts, const PrimExpr& sequence) {
    return tir::cast(kInt64,
                     starts.at({tir::min(sequence, starts.shape()[0] - 1)}));  // positions after the last
  };
  const Tensor mask =
      te::compute({imm(1, kInt64), imm(1, kInt64), queries, keys},
                  [&](const std::vector<Var>& i) {
                    const PrimExpr sequence = query_sequence.at({i[2]}),
                                   is_same = tir::equal(sequence, key_sequence.at({i[3]})),
                                   q = start(query_starts, sequence), k = start(key_starts, sequence),
                                   next = sequence + 1,
                                   is_visible = visible_key(
                                       options, tir::cast(kInt64, i[2]) - q, tir::cast(kInt64, i[3]) - k,
                                       start(query_starts, next) - q, start(key_starts, next) - k);
                    return select(is_visible ? tir::logical_and(is_same, is_visible) : is_same,
                                  make_const(dtype, 0), min_value(dtype));
                  },
                  {.name = "T_sequence_mask"});
  options.mask = CausalMask::kNone;
  options.window = -1;
  return rounded_to(attention_at_once({query, key, value, mask, options, letters_of_heads(mask)}),
                    query.dtype());
}

Tensor cross_entropy(const Tensor& predictions, const Tensor& labels) {
  const Tensor products = binary(predictions, labels, "T_multiply",
                                 [](PrimExpr x, PrimExpr y) { return widened(x) * widened(y); });
  const Tensor total = wide_sum(products, all_axes(predictions.ndim()));
  const PrimExpr count = predictions.ndim() > 1 ? predictions.shape()[0] : imm(1, kInt64);
  return elementwise(total, "T_cross_entropy", [&](PrimExpr v) {
    return tir::cast(predictions.dtype(), div(v * make_const(v->dtype, -1), tir::cast(v->dtype, count)));
  });
}

namespace {

// The weight of a sample's target class times `value(class)`, in dtype_of_sums; zero for a target that is
// ignored.  Targets are data: one that is not a class is clamped to the range of classes.
class NllWeights {
 public:
  NllWeights(const Tensor& predictions, const Tensor& targets, const Tensor& weights, int64_t ignore_index)
      : dtype_(dtype_of_sums(predictions.dtype())),
        targets_(targets),
        weights_(weights),
        last_(predictions.shape()[predictions.ndim() > 1 ? 1 : 0] - 1),
        ignore_index_(ignore_index) {}

  PrimExpr operator()(const std::vector<PrimExpr>& sample,
                      const std::function<PrimExpr(PrimExpr)>& value) const {
    const PrimExpr target = targets_.at(sample);
    const PrimExpr index = tir::min(tir::max(tir::cast(kInt64, target), imm(0, kInt64)), last_);
    const PrimExpr weight = weights_ ? widened(weights_.at({index})) : make_const_int(dtype_, 1);
    const PrimExpr counts = tir::not_equal(target, make_const_int(target->dtype, ignore_index_));
    return call(dtype_, "if_then_else",
                {counts, value ? weight * widened(value(index)) : weight, make_const_int(dtype_, 0)});
  }
  /// The sum of the weights of all samples.
  Tensor total() const {
    const Tensor each = te::compute(
        targets_.shape(), [&](const std::vector<Var>& i) { return (*this)({i.begin(), i.end()}, {}); },
        {.name = "T_nll_weights"});
    return wide_sum(each, all_axes(targets_.ndim()));
  }

 private:
  DataType dtype_;
  const Tensor &targets_, &weights_;
  PrimExpr last_;  // class
  int64_t ignore_index_;
};

}  // namespace

Tensor nll_loss(const Tensor& predictions, const Tensor& targets, const Tensor& weights,
                const std::string& reduction, int64_t ignore_index) {
  const NllWeights weight_of(predictions, targets, weights, ignore_index);
  const Tensor losses = te::compute(targets.shape(),
                                    [&](const std::vector<Var>& i) {
                                      const std::vector<PrimExpr> sample(i.begin(), i.end());
                                      return weight_of(sample, [&](PrimExpr index) {
                                        std::vector<PrimExpr> at = sample;
                                        at.insert(at.begin() + (at.empty() ? 0 : 1), index);
                                        return predictions.at(at) * make_const(predictions.dtype(), -1);
                                      });
                                    },
                                    {.name = "T_nll"});
  const DataType dtype = predictions.dtype();
  if (reduction == "none") return rounded_to(losses, dtype);
  const Tensor total = wide_sum(losses, all_axes(targets.ndim()));
  return rounded_to(reduction == "sum" ? total : divide(total, weight_of.total()), dtype);
}

Tensor nll_loss_backward(const Tensor& grad, const Tensor& predictions, const Tensor& targets,
                         const Tensor& weights, const std::string& reduction, int64_t ignore_index) {
  const DataType dtype = predictions.dtype();
  const NllWeights weight_of(predictions, targets, weights, ignore_index);
  const Tensor scale = reduction == "mean" ? binary(grad, weight_of.total(), "T_divide",
                                                    [](PrimExpr x, PrimExpr y) { return div(widened(x), y); })
                                           : grad;
  return te::compute(predictions.shape(),
                     [&](const std::vector<Var>& i) {
                       std::vector<PrimExpr> sample(i.begin(), i.end());
                       const size_t channel = sample.size() > 1 ? 1 : 0;
                       const PrimExpr own = tir::cast(kInt64, sample[channel]);
                       sample.erase(sample.begin() + static_cast<long>(channel));
                       return tir::cast(
                           dtype, weight_of(sample, [&](PrimExpr index) {
                             const PrimExpr value =
                                 widened(scale.at(reduction == "none" ? sample : std::vector<PrimExpr>{}));
                             return select(tir::equal(index, own), value * make_const(value->dtype, -1),
                                           make_const_int(value->dtype, 0));
                           }));
                     },
                     {.name = "T_nll_backward"});
}

}  // namespace tilewright::topi
