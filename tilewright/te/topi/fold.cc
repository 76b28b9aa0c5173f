#include "tilewright/te/topi/fold.h"

namespace tilewright::topi {
using namespace tir;

Tensor fold(const Tensor& x, const Shape& size, const Blocks& blocks) {
  const size_t count = size.size();
  int64_t elements = 1;
  for (int64_t extent : blocks.kernel) elements *= extent;
  Shape shape{x.shape()[0], floordiv(x.shape()[1], elements)};
  shape.insert(shape.end(), size.begin(), size.end());
  std::vector<IterVar> reduced;
  for (int64_t extent : blocks.kernel)
    reduced.push_back(te::reduce_axis(imm(extent, kInt64), fmt::format("k{}", reduced.size())));
  const DataType dtype = dtype_of_sums(x.dtype());
  const Tensor sums = te::compute(
      shape,
      [&](const std::vector<Var>& i) {
        PrimExpr hit = bool_imm(true), element = imm(0, kInt64), block = imm(0, kInt64);
        const PrimExpr zero = imm(0, kInt64);
        for (size_t n = 0; n < count; ++n) {
          const PrimExpr k = reduced[n]->var;
          const PrimExpr from_start = i[n + 2] + blocks.before[n] - k * blocks.dilations[n];
          const PrimExpr at = floordiv(from_start, blocks.strides[n]);
          hit = tir::logical_and(hit, tir::logical_and(zero <= from_start, at < blocks.counts[n]));
          if (blocks.strides[n] > 1)
            hit = tir::logical_and(hit, tir::equal(floormod(from_start, blocks.strides[n]), zero));
          element = element * blocks.kernel[n] + k;
          block = block * blocks.counts[n] + at;
        }
        const PrimExpr value = widened(x.at({i[0], i[1] * elements + element, block}));
        return te::sum(call(dtype, "if_then_else", {hit, value, make_const_int(dtype, 0)}), reduced);
      },
      {.name = "T_fold"});
  return rounded_to(sums, x.dtype());
}

}  // namespace tilewright::topi
