#include "tilewright/frontend/onnx/graphs/recurrent_weights.h"

#include "tilewright/relax/fold/fold_call.h"
#include "tilewright/relax/graph/type_util.h"

namespace tilewright::frontend::onnx {
namespace {

Expr int_shape(const std::vector<int64_t>& values) { return relax::shape_expr(relax::extents(values)); }

// `value` as a constant if it depends on constants only, else null.  Exporters cut and join the weights of
// PyTorch's gates by operators.
Expr computed(relax::BlockBuilder& builder, const Expr& value) {
  if (!value || is<relax::ConstantNode>(value) || is<relax::ShapeExprNode>(value) ||
      is<relax::PrimValueNode>(value))
    return value;
  if (const auto* tuple = value.as<relax::TupleNode>()) {
    std::vector<Expr> elements;
    for (const Expr& element : tuple->elements) {
      elements.push_back(computed(builder, element));
      if (!elements.back()) return nullptr;
    }
    return relax::TupleNode::make(elements);
  }
  if (relax::VarBaseNode::classof(*value)) {
    const Expr made_of = builder.lookup_binding(ir::ref_as<relax::VarBaseNode>(value));
    return made_of ? computed(builder, made_of) : nullptr;
  }
  const auto* call = value.as<relax::CallNode>();
  if (!call || !relax::op_of(call)) return nullptr;
  std::vector<Expr> args;
  for (const Expr& arg : call->args) {
    args.push_back(computed(builder, arg));
    if (!args.back()) return nullptr;
  }
  const Expr normal = builder.normalize(with(relax::Call(call), [&](relax::CallNode& node) {
    node.args = std::move(args);
    node.type = nullptr;
  }));
  constexpr relax::FoldLimits kLimits{.max_growth = 16, .small_bytes = int64_t{1} << 30};
  int64_t steps = int64_t{1} << 40;
  return relax::fold_call(ir::ref_as<relax::CallNode>(normal), kLimits, &steps);
}

Expr computed_or_bound(Importer& importer, const Expr& value) {
  const Expr constant = computed(importer.builder, value);
  return constant ? constant : Expr(importer.builder.emit(value));
}

}  // namespace

RecurrentWeights::RecurrentWeights(Importer& importer, const Node& node, const Cell& cell)
    : importer_(importer),
      node_(node),
      cell_(cell),
      hidden_(cell.hidden),
      count_(cell.num_gates() * cell.hidden) {
  for (size_t n = 0; n < 8; ++n) {
    const bool is_weight = (n >= 1 && n <= 3) || n == 7;
    const Expr value = is_weight ? importer.value(node, n) : nullptr;
    const Expr constant = computed(importer.builder, value);
    values_.push_back(constant ? constant : value);
  }
}

// Elements begin : end of entry `index` of an input [directions, n] or [directions, n, m].
Expr RecurrentWeights::rows(size_t input, int64_t index, int64_t begin, int64_t end) const {
  const Expr& value = values_[input];
  relax::Shape shape = shape_of(node_, value);
  shape.erase(shape.begin());
  shape[0] = relax::extent_imm(end - begin);
  if (const auto* constant = value.as<relax::ConstantNode>()) {
    const runtime::Tensor part = constant->data.slice(0, index, index + 1).slice(1, begin, end);
    const Expr plain = relax::make_constant(part.compact().reshape(*relax::constant_extents(shape)));
    return computed_or_bound(importer_, converted(plain, cell_.dtype));
  }
  const Expr part =
      importer_.bind(node_, "relax.strided_slice",
                     {value, int_shape({0, 1}), int_shape({index, begin}), int_shape({index + 1, end})});
  return bound_as(importer_, importer_.reshaped(node_, part, shape), cell_.dtype);
}

// The same rows as columns of a matrix.
Expr RecurrentWeights::matrix(size_t input, int64_t index, int64_t begin, int64_t end) const {
  const Expr part = rows(input, index, begin, end);
  if (const auto* constant = part.as<relax::ConstantNode>())
    return relax::make_constant(constant->data.transpose(std::vector<int>{1, 0}).copy());
  return importer_.bind(node_, "relax.permute_dims", {part}, {{"axes", attr(std::vector<int64_t>{1, 0})}});
}

Expr RecurrentWeights::input(int64_t index) const { return matrix(1, index, 0, count_); }

Expr RecurrentWeights::bias(int64_t index) const {
  if (!has(3)) return nullptr;
  const int64_t added = cell_.resets_after ? 2 * hidden_ : count_;
  const Expr sum = computed_or_bound(
      importer_,
      relax::call_op("relax.add", {rows(3, index, 0, added), rows(3, index, count_, count_ + added)}));
  if (added == count_) return sum;
  const Expr both = relax::TupleNode::make(std::vector<Expr>{sum, rows(3, index, added, count_)});
  return computed_or_bound(importer_, relax::call_op("relax.concat", {both}, {{"axis", attr(0)}}));
}

std::vector<Expr> RecurrentWeights::of_steps(int64_t index) const {
  const int64_t last = count_ - hidden_;
  if (cell_.kind == CellKind::kGru && !cell_.resets_after)
    return {matrix(2, index, 0, last), matrix(2, index, last, count_)};
  std::vector<Expr> all{matrix(2, index, 0, count_)};
  if (cell_.kind == CellKind::kGru)
    all.push_back(
        has(3) ? rows(3, index, count_ + last, 2 * count_)
               : Expr(relax::make_constant(runtime::Tensor::zeros(runtime::Shape{hidden_}, cell_.dtype))));
  for (int64_t n = 0; cell_.kind == CellKind::kLstm && has(7) && n < 3; ++n)
    all.push_back(rows(7, index, n * hidden_, (n + 1) * hidden_));
  return all;
}

}  // namespace tilewright::frontend::onnx
