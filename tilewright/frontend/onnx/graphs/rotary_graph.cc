#include "tilewright/frontend/onnx/graphs/rotary_graph.h"

namespace tilewright::frontend::onnx {

Expr rotated(const NodeMath& math, const RotaryInputs& in) {
  const relax::Shape shape = math.shape(in.x);
  const auto size = constant_extent(shape[3]);
  if (!size) throw Unsupported("the head size is known only at run time");
  const int64_t turned = in.num_turned > 0 ? in.num_turned : *size;
  if (turned > *size || turned % 2 != 0)
    throw UserError("{} of {} elements of a head are turned, expected an even number of them", turned, *size);
  const ir::PrimExpr zero = relax::extent_imm(0), half = relax::extent_imm(turned / 2),
                     end = relax::extent_imm(turned);
  math.require_equal(math.shape(in.cos)[2], half, "cos_cache has {} numbers for a position, expected {}",
                     math.shape(in.cos)[2], half);
  math.require_equal(math.shape(in.sin)[2], half, "sin_cache has {} numbers for a position, expected {}",
                     math.shape(in.sin)[2], half);
  const std::vector<int64_t> head_axis{in.has_heads_first ? 1 : 2};
  const Expr cos = math.with_axes(in.cos, head_axis), sin = math.with_axes(in.sin, head_axis);
  const Expr first =
      in.is_interleaved ? math.sliced(in.x, 3, zero, end, 2) : math.sliced(in.x, 3, zero, half);
  const Expr second = in.is_interleaved ? math.sliced(in.x, 3, relax::extent_imm(1), end, 2)
                                        : math.sliced(in.x, 3, half, end);
  const Expr real = math.subtract(math.multiply(cos, first), math.multiply(sin, second)),
             imaginary = math.add(math.multiply(sin, first), math.multiply(cos, second));
  std::vector<Expr> parts{real, imaginary};
  if (in.is_interleaved) {
    const Expr pairs = math.concat({math.with_axes(real, {4}), math.with_axes(imaginary, {4})}, 4);
    parts = {math.reshaped(pairs, {shape[0], shape[1], shape[2], end})};
  }
  if (turned < *size) parts.push_back(math.sliced(in.x, 3, end, shape[3]));
  return math.concat(parts, 3);
}

Expr rows_at(const NodeMath& math, const Expr& cache, const Expr& positions) {
  math.require_ndim(cache, 2, "a cache with position_ids");
  const Expr checked =
      math.call("relax.require_range",
                {positions, scalar_value(relax::extent_imm(0)),
                 scalar_value(math.importer().facts.simplify(tir::operator-(math.shape(cache)[0], 1))),
                 relax::StringValueNode::make(fmt::format("{}: position_ids", math.node().shown()))});
  return math.call("relax.take", {cache, checked}, {{"axis", attr(int64_t{0})}, {"mode", attr("clip")}});
}

}  // namespace tilewright::frontend::onnx
