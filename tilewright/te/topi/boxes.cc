#include "tilewright/te/topi/boxes.h"

#include "tilewright/te/topi/softmax.h"

namespace tilewright::topi {
using namespace tir;

Tensor multibox_boxes(const Tensor& offsets, const Tensor& anchors, const MultiboxOptions& options) {
  const DataType dtype = offsets.dtype();
  const auto number = [&](double value) { return make_const(dtype, value); };
  return te::compute(
      {offsets.shape()[0], anchors.shape()[1], imm(4, kInt64)},
      [&](const std::vector<Var>& i) {
        // boxes have y first, all other tensors x
        const PrimExpr side = imm(1, kInt64) - floormod(i[2], imm(2, kInt64)),
                       is_x = tir::equal(side, imm(0, kInt64)), first = i[1] * imm(4, kInt64) + side;
        const auto variance = [&](size_t n) {
          return select(is_x, number(options.variances[n]), number(options.variances[n + 1]));
        };
        const PrimExpr low = anchors.at({imm(0, kInt64), i[1], side}),
                       high = anchors.at({imm(0, kInt64), i[1], side + imm(2, kInt64)}), extent = high - low,
                       center = offsets.at({i[0], first}) * variance(0) * extent + (low + high) * number(0.5),
                       growth =
                           call(dtype, "exp", {offsets.at({i[0], first + imm(2, kInt64)}) * variance(2)}),
                       half = growth * extent * number(0.5);
        const PrimExpr place = select(i[2] < imm(2, kInt64), center - half, center + half);
        return options.clip ? tir::min(tir::max(place, number(0)), number(1)) : place;
      },
      {.name = "T_boxes"});
}

Tensor multibox_scores(const Tensor& logits, const MultiboxOptions& options) {
  const Tensor scores = options.is_logits ? softmax(logits, 1) : logits;
  return te::compute(
      logits.shape(),
      [&](const std::vector<Var>& i) {
        const PrimExpr score = scores.at({i.begin(), i.end()}), zero = make_const(score->dtype, 0);
        const PrimExpr kept = select(make_const(score->dtype, options.threshold) <= score, score, zero);
        return options.keep_background ? kept : select(tir::equal(i[1], imm(0, kInt64)), zero, kept);
      },
      {.name = "T_kept_scores"});
}

}  // namespace tilewright::topi
