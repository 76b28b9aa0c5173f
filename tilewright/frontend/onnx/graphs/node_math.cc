#include "tilewright/frontend/onnx/graphs/node_math.h"

#include <utility>

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
  if (shape(x).size() < 2)
    throw UserError("an operand of a matrix product has {}, expected at least 2",
                    count_text(shape(x).size(), "dimension"));
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

std::vector<Expr> NodeMath::as_operator(std::string_view op, const std::vector<Expr>& inputs,
                                        std::vector<Attribute> attributes, size_t num_outputs) const {
  Node inner = node_;
  inner.op_type = op, inner.domain = "", inner.opset = 0;
  inner.attributes = std::move(attributes);
  const std::string name = fmt::format("{} ({} inside)", node_.any_name(), op);
  inner.inputs.clear(), inner.outputs.clear();
  for (size_t n = 0; n < inputs.size(); ++n) {
    inner.inputs.push_back(inputs[n] ? fmt::format("{} input {}", name, n) : "");
    if (inputs[n]) importer_.define(inner.inputs.back(), inputs[n]);
  }
  for (size_t n = 0; n < num_outputs; ++n) inner.outputs.push_back(fmt::format("{} output {}", name, n));
  const int64_t around = std::exchange(importer_.opset, kLastOpset);
  find_converter(op)->convert(importer_, inner);
  importer_.opset = around;
  std::vector<Expr> results;
  inner.inputs = inner.outputs;
  for (size_t n = 0; n < num_outputs; ++n) results.push_back(importer_.value(inner, n));
  return results;
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

namespace {
Attribute attribute(std::string name, Attribute::Kind kind) {
  Attribute made;
  made.name = std::move(name), made.kind = kind;
  return made;
}
}  // namespace

Attribute int_attribute(std::string name, int64_t value) {
  Attribute made = attribute(std::move(name), Attribute::kInt);
  made.integer = value;
  return made;
}
Attribute ints_attribute(std::string name, std::vector<int64_t> values) {
  Attribute made = attribute(std::move(name), Attribute::kInts);
  made.integers = std::move(values);
  return made;
}
Attribute text_attribute(std::string name, std::string value) {
  Attribute made = attribute(std::move(name), Attribute::kString);
  made.text = std::move(value);
  return made;
}

std::optional<int64_t> constant_extent(const ir::PrimExpr& value) {
  int64_t number = 0;
  return tir::as_const_int(value, &number) ? std::optional(number) : std::nullopt;
}

ir::PrimExpr quotient(Importer& importer, const ir::PrimExpr& value, const ir::PrimExpr& size) {
  return importer.facts.simplify(tir::floordiv(value, size));
}

}  // namespace tilewright::frontend::onnx
