#include "tilewright/frontend/onnx/graphs/key_mask.h"

#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr double kMaskedScore = -10000;  // unless attribute mask_filter_value says else

ir::PrimExpr one() { return relax::extent_imm(1); }
bool is_same(const ir::PrimExpr& a, const ir::PrimExpr& b) {
  return relax::equal_extents(a, b) == relax::Answer::kYes;
}

// True for keys that count by the numbers in `mask`, one list of them for each part.
Expr counted_by_ends(const NodeMath& math, const Expr& mask, const ScoreExtents& extents) {
  const ir::PrimExpr &count = math.shape(mask)[0], &batch = extents.batch;
  arith::Analyzer& facts = math.importer().facts;
  const ir::PrimExpr both = facts.simplify(tir::operator*(batch, int64_t{2})),
                     packed = facts.simplify(tir::operator+(tir::operator*(batch, int64_t{3}), int64_t{2}));
  const bool has_starts = is_same(count, both);
  if (!has_starts && !is_same(count, packed) && !is_same(count, batch)) {
    if (constant_extent(count))
      throw Unsupported(
          "a mask of shape {} is none of [batch], [2 batch], [3 batch + 2], [batch, keys] and "
          "[batch, queries, keys]",
          relax::shape_text({count}));
    math.require_equal(count, batch, "the mask has {} lengths for a batch of {}", count, batch);
  }
  const Expr numbers = math.cast(mask, kInt64), keys = math.counted(extents.keys);
  const auto part = [&](const ir::PrimExpr& begin, const ir::PrimExpr& end) {
    return math.reshaped(math.sliced(numbers, 0, begin, end), {batch, one(), one(), one()});
  };
  const Expr before_end = math.call("relax.less", {keys, part(relax::extent_imm(0), batch)});
  if (!has_starts) return before_end;
  return math.both(before_end, math.call("relax.greater_equal", {keys, part(batch, both)}));
}

// The rows and columns of `mask` [b, 1, most, most] that belong to the queries and keys.
Expr cut_out(const NodeMath& math, const Expr& mask, const ScoreExtents& extents) {
  const ir::PrimExpr first = extents.past ? extents.past : relax::extent_imm(0),
                     end = math.importer().facts.simplify(tir::operator+(first, extents.queries));
  const relax::Shape shape = math.shape(mask);
  math.importer().require(
      math.node(), tir::logical_and(tir::operator<=(end, shape[2]), tir::operator<=(extents.keys, shape[3])),
      "the mask is {}, which has no room for {} queries and {} keys", shape, end, extents.keys);
  return math.first(math.sliced(mask, 2, first, end), 3, extents.keys);
}

}  // namespace

void hide_by_mask(const NodeMath& math, const Expr& mask, const ScoreExtents& extents, AttentionInputs* in) {
  const relax::Shape shape = math.shape(mask);
  if (shape.empty() || shape.size() > 4)
    throw UserError("the mask has {}, expected 1 to 4", count_text(shape.size(), "dimension"));
  Expr counts;
  if (shape.size() == 1) {
    counts = counted_by_ends(math, mask, extents);
  } else {
    const Expr own = shape.size() == 4 ? cut_out(math, mask, extents) : mask;
    counts = math.call("relax.greater", {own, math.number_like(own, 0)});
    if (shape.size() == 2) counts = math.reshaped(counts, {shape[0], one(), one(), shape[1]});
    if (shape.size() == 3) counts = math.reshaped(counts, {shape[0], one(), shape[1], shape[2]});
  }
  const double masked = float_attr(math.node(), "mask_filter_value", kMaskedScore);
  const DataType dtype = relax::dtype_of(in->query);
  const Expr bias = math.where(counts, number(0, dtype), number(masked, dtype));
  in->bias = in->bias ? math.add(in->bias, bias) : bias;
}

void hide_future(const NodeMath& math, const ScoreExtents& extents, AttentionInputs* in) {
  if (!in->bias) {
    in->causal_mask = extents.past ? "BottomRight" : "TopLeft";
    return;
  }
  const KeyPositions at =
      key_positions(math, extents.queries, extents.keys, extents.past ? math.extent(extents.past) : Expr());
  in->allow(math, math.call("relax.less_equal", {at.keys, at.queries}));
}

}  // namespace tilewright::frontend::onnx
