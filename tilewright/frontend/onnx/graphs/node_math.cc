#include "tilewright/frontend/onnx/graphs/node_math.h"

#include "tilewright/arith/analyzer.h"
#include "tilewright/support/count_text.h"

namespace tilewright::frontend::onnx {

Expr NodeMath::scaled(const Expr& x, double factor) const {
  return factor == 1 ? x : multiply(x, number_like(x, factor));
}

Expr NodeMath::extent(const ir::PrimExpr& value) const {
  if (const auto constant = constant_extent(value)) {
    const int64_t number = *constant;
    return relax::make_constant(runtime::Tensor::copy_of(&number, sizeof(number), runtime::Shape{}, kInt64));
  }
  return reshaped(call("relax.shape_to_tensor", {relax::shape_expr({value})}), {});
}

Expr NodeMath::counted(const ir::PrimExpr& count) const {
  return call("relax.arange",
              {scalar_value(relax::extent_imm(0)), scalar_value(count), scalar_value(relax::extent_imm(1))},
              {{"dtype", attr("int64")}});
}

Expr NodeMath::transposed(const Expr& x) const {
  std::vector<int64_t> axes;
  for (size_t n = 0; n < shape(x).size(); ++n) axes.push_back(static_cast<int64_t>(n));
  std::swap(axes[axes.size() - 2], axes.back());
  return permuted(x, axes);
}

Expr NodeMath::concat(const std::vector<Expr>& parts, int64_t axis) const {
  if (parts.size() == 1) return parts[0];
  return call("relax.concat", {relax::TupleNode::make(parts)}, {{"axis", attr(axis)}});
}

Expr NodeMath::sliced(const Expr& x, int64_t axis, const ir::PrimExpr& begin, const ir::PrimExpr& end,
                      int64_t step) const {
  const int64_t place = checked_axis(axis, shape(x).size());
  const ir::PrimExpr& whole = shape(x)[static_cast<size_t>(place)];
  if (step == 1 && tir::is_zero(begin) && relax::equal_extents(end, whole) == relax::Answer::kYes) return x;
  return call("relax.strided_slice",
              {x, relax::shape_expr({relax::extent_imm(place)}), relax::shape_expr({begin}),
               relax::shape_expr({end}), relax::shape_expr({relax::extent_imm(step)})});
}

Expr NodeMath::required(size_t n, std::string_view name) const {
  const Expr value = input(n);
  if (!value) throw UserError("input {} ({}) is left out, but is required", n, name);
  return value;
}

void NodeMath::require_ndim(const Expr& x, size_t ndim, std::string_view name) const {
  if (shape(x).size() != ndim)
    throw UserError("{} has {}, expected {}", name, count_text(shape(x).size(), "dimension"), ndim);
}

std::optional<int64_t> constant_extent(const ir::PrimExpr& value) {
  int64_t number = 0;
  return tir::as_const_int(value, &number) ? std::optional(number) : std::nullopt;
}

ir::PrimExpr quotient(Importer& importer, const ir::PrimExpr& value, const ir::PrimExpr& size) {
  return importer.facts.simplify(tir::floordiv(value, size));
}

}  // namespace tilewright::frontend::onnx
