// Creates tensors from values and shapes.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/converters/attributes.h"
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {
namespace {

void constant_of_shape(Importer& importer, const Node& node) {
  const relax::Shape shape = importer.require_known(node, 0);
  const Attribute* value = node.find("value");
  if (value && value->tensor.num_elements() != 1)
    throw UserError("attribute \"value\" has {} elements, expected 1", value->tensor.num_elements());
  Expr fill = number(0, kFloat32);
  if (value) {
    const runtime::Tensor element = runtime::Tensor::copy_of(value->tensor.compact().data_as<char>(),
                                                             static_cast<size_t>(value->tensor.num_bytes()),
                                                             std::vector<int64_t>{}, value->tensor.dtype());
    fill = relax::make_constant(element);
  }
  importer.emit(node, "relax.full", {relax::shape_expr(shape), fill});
}

Expr counted(Importer& importer, const Node& node, const ir::PrimExpr& count) {
  const ir::PrimExpr zero = relax::extent_imm(0), one = relax::extent_imm(1);
  return importer.bind(node, "relax.arange", {scalar_value(zero), scalar_value(count), scalar_value(one)},
                       {{"dtype", attr("int64")}});
}

// Emits the sequence start, start + delta, ... of `count` elements.
void emit_sequence(Importer& importer, const Node& node, const ir::PrimExpr& count) {
  const Expr start = importer.value(node, 0), delta = importer.value(node, 2);
  const Expr positions = importer.bound(converted(counted(importer, node, count), relax::dtype_of(start)));
  importer.emit(node, "relax.add", {start, importer.bind(node, "relax.multiply", {positions, delta})});
}

void range_of_integers(Importer& importer, const Node& node) {
  const auto one = [&](size_t input) {
    const relax::Shape given = importer.require_known(node, input);
    if (given.size() != 1) throw UserError("input {} has {} elements, expected 1", input, given.size());
    return given[0];
  };
  const ir::PrimExpr start = one(0), limit = one(1), delta = one(2), zero = relax::extent_imm(0);
  int64_t step = 0;
  importer.require(node, tir::not_equal(delta, zero), "the step is 0");
  tir::as_const_int(delta, &step);
  // the quotient is rounded up
  const ir::PrimExpr down = tir::floordiv(tir::operator-(start, limit), delta);
  const ir::PrimExpr count = importer.facts.simplify(tir::operator-(down));
  const bool is_plain = (is<ir::IntImmNode>(start) && is<ir::IntImmNode>(limit) && step != 0) ||
                        (step > 0 && importer.facts.can_prove(tir::operator<=(zero, count)));
  if (!is_plain) return emit_sequence(importer, node, importer.facts.simplify(tir::max(count, zero)));
  importer.emit(node, "relax.arange", {scalar_value(start), scalar_value(limit), scalar_value(delta)},
                {{"dtype", attr(relax::dtype_of(importer.value(node, 0)).str())}});
}

// The number of floats start, start + delta, ... before limit, if all three are known as quotients.
std::optional<ir::PrimExpr> known_count(Importer& importer, const Node& node) {
  const auto start = importer.elements(node.inputs[0]), limit = importer.elements(node.inputs[1]),
             delta = importer.elements(node.inputs[2]);
  if (!start || !limit || !delta || !start->shape.empty() || !limit->shape.empty() || !delta->shape.empty())
    return std::nullopt;
  const Element &a = start->elements[0], &b = limit->elements[0], &step = delta->elements[0];
  if (!step.is_number() || tir::is_zero(step.value)) return std::nullopt;
  // (b - a) / step, rounded up
  const ir::PrimExpr distance =
      tir::operator-(tir::operator*(a.value, b.divisor), tir::operator*(b.value, a.divisor));
  const ir::PrimExpr down = tir::floordiv(tir::operator*(distance, step.divisor),
                                          tir::operator*(step.value, a.divisor * b.divisor));
  return importer.facts.simplify(tir::max(tir::operator-(down), relax::extent_imm(0)));
}

// A range of floats that are only known at run time; so is its length.
void range_of_floats(Importer& importer, const Node& node) {
  const Expr start = importer.value(node, 0), limit = importer.value(node, 1),
             delta = importer.value(node, 2);
  std::vector<Expr> args;
  for (size_t n = 0; n < 3; ++n) {
    const Expr arg = importer.value(node, n);
    const auto* constant = arg.as<relax::ConstantNode>();
    if (constant && constant->data.num_elements() != 1)
      throw UserError("input {} has {} elements, expected 1", n, constant->data.num_elements());
    if (constant)
      args.push_back(scalar_value(tir::float_imm(importer.require_numbers(node, n)[0], kFloat64)));
  }
  const std::string dtype = relax::dtype_of(start).str();
  if (args.size() == 3) return importer.emit(node, "relax.arange", std::move(args), {{"dtype", attr(dtype)}});
  if (const auto count = known_count(importer, node)) return emit_sequence(importer, node, *count);
  // in double, like onnxruntime
  const auto call = [&](std::string_view op, std::vector<Expr> operands) {
    return importer.bind(node, op, std::move(operands));
  };
  const Expr distance = bound_as(importer, call("relax.subtract", {limit, start}), kFloat64);
  const Expr step = bound_as(importer, delta, kFloat64), zero = number(0, kFloat64);
  const Expr steps = call("relax.ceil", {call("relax.divide", {distance, step})});
  const Expr least = call("relax.maximum", {steps, zero});
  // -1: the step is 0; -2: infinite, or NaN
  const Expr has_end = call("relax.less", {least, number(0x1p53, kFloat64)}),
             is_still = call("relax.equal", {step, zero});
  const Expr counted = call("relax.where", {is_still, number(-1, kFloat64),
                                            call("relax.where", {has_end, least, number(-2, kFloat64)})});
  Node count = node;
  count.inputs = {node.outputs.at(0) + " (number of elements)"};
  importer.define(count.inputs[0], bound_as(importer, counted, kInt64));
  const ir::PrimExpr size = importer.require_known(count, 0).at(0);
  importer.require(node, tir::not_equal(size, relax::extent_imm(-1)), "the step is 0");
  importer.require(node, tir::not_equal(size, relax::extent_imm(-2)), "start, limit or step is not finite");
  emit_sequence(importer, node, size);
}

void range(Importer& importer, const Node& node) {
  if (relax::dtype_of(importer.value(node, 0)).is_float())
    range_of_floats(importer, node);
  else
    range_of_integers(importer, node);
}

void size(Importer& importer, const Node& node) {
  const ir::PrimExpr count =
      importer.facts.simplify(relax::num_elements(shape_of(node, importer.value(node, 0))));
  importer.define_known(node.outputs.at(0), Known{kInt64, {}, {{count}}, &node});
}

void eye_like(Importer& importer, const Node& node) {
  const Expr x = importer.value(node, 0);
  const Attribute* dtype = node.find("dtype");
  importer.emit(
      node, "relax.eye_like", {x},
      {{"k", attr(int_attr(node, "k", 0))},
       {"dtype",
        attr((dtype ? dtype_of(dtype->integer, "attribute \"dtype\"") : relax::dtype_of(x)).str())}});
}

void triangle(Importer& importer, const Node& node) {
  int64_t k = 0;
  if (node.inputs.size() > 1 && !node.inputs[1].empty()) {
    const std::vector<int64_t> given = importer.require_ints(node, 1);
    if (given.size() != 1) throw UserError("k has {} elements, expected 1", given.size());
    k = given[0];
  }
  importer.emit(node, int_attr(node, "upper", 1) ? "relax.triu" : "relax.tril", {importer.value(node, 0)},
                {{"k", attr(k)}});
}

ir::PrimExpr depth_of(Importer& importer, const Node& node) {
  if (relax::dtype_of(importer.value(node, 1)).is_float()) {
    const std::vector<double> depth = importer.require_numbers(node, 1);
    if (depth.size() == 1) return relax::extent_imm(static_cast<int64_t>(depth[0]));
    throw UserError("depth has {} elements, expected 1", depth.size());
  }
  const relax::Shape depth = importer.require_known(node, 1);
  if (depth.size() != 1) throw UserError("depth has {} elements, expected 1", depth.size());
  return depth[0];
}

// Negative indices count from the depth.
Expr positions_of(Importer& importer, const Node& node, const ir::PrimExpr& depth) {
  const Expr indices = importer.bound(converted(importer.value(node, 0), kInt64));
  const auto* constant = depth.as<ir::IntImmNode>();
  const Expr length =
      constant ? number(static_cast<double>(constant->value), kInt64)
               : importer.reshaped(
                     node, importer.bind(node, "relax.shape_to_tensor", {relax::shape_expr({depth})}), {});
  const Expr from_end = importer.bind(node, "relax.add", {indices, length});
  const Expr is_negative = importer.bind(node, "relax.less", {indices, number(0, kInt64)});
  return importer.bind(node, "relax.where", {is_negative, from_end, indices});
}

// With a depth or values that are only known at run time: compares the index with the class.
void open_one_hot(Importer& importer, const Node& node, const ir::PrimExpr& depth) {
  const Expr positions = positions_of(importer, node, depth), values = importer.value(node, 2);
  const size_t ndim = shape_of(node, positions).size() + 1;
  const int64_t axis = checked_axis(int_attr(node, "axis", -1), ndim);
  const auto value_at = [&](double index) {
    return importer.bind(node, "relax.take", {values, number(index, kInt64)},
                         {{"axis", attr(int64_t{0})}, {"mode", attr("clip")}});
  };
  relax::Shape along(ndim - static_cast<size_t>(axis), relax::extent_imm(1));
  along[0] = depth;
  const Expr classes = importer.reshaped(node, counted(importer, node, depth), along);
  const Expr spread =
      importer.bind(node, "relax.expand_dims", {positions}, {{"axis", attr(std::vector<int64_t>{axis})}});
  const Expr is_class = importer.bind(node, "relax.equal", {spread, classes});
  importer.emit(node, "relax.where", {is_class, value_at(1), value_at(0)});
}

void one_hot(Importer& importer, const Node& node) {
  const ir::PrimExpr depth = depth_of(importer, node);
  const Expr values_tensor = importer.value(node, 2);
  if (!is<ir::IntImmNode>(depth) || !is<relax::ConstantNode>(values_tensor))
    return open_one_hot(importer, node, depth);
  const std::vector<ir::PrimExpr> values = literals(importer, node, 2);
  if (values.size() != 2) throw UserError("values has {} elements, expected 2", values.size());
  const DataType dtype = relax::dtype_of(values_tensor);
  const auto prim = [&](const ir::PrimExpr& value) -> Expr { return scalar_value(tir::cast(dtype, value)); };
  importer.emit(
      node, "relax.one_hot", {positions_of(importer, node, depth), prim(values[1]), prim(values[0])},
      {{"depth", attr(depth.as<ir::IntImmNode>()->value)}, {"axis", attr(int_attr(node, "axis", -1))}});
}

constexpr AttributeRule kConstantOfShape[] = {{"value", Attribute::kTensor}};
constexpr AttributeRule kEyeLike[] = {{"dtype", Attribute::kInt}, {"k", Attribute::kInt}};
constexpr AttributeRule kRange[] = {flag("stash_type", 27)};
constexpr AttributeRule kTrilu[] = {flag("upper")};

constexpr ConverterRow kRows[] = {
    {"ConstantOfShape", constant_of_shape, 1, 1, kConstantOfShape, 1, 9},
    {"EyeLike", eye_like, 1, 1, kEyeLike, 1, 9},
    {"OneHot", one_hot, 3, 3, kAxis, 1, 9},
    {"Range", range, 3, 3, kRange, 1, 11},
    {"Size", size, 1, 1},
    {"Trilu", triangle, 1, 2, kTrilu, 1, 14},
    {"com.microsoft::Trilu", triangle, 1, 2, kTrilu},
};

}  // namespace

extern constinit const ConverterTable create_info = {kRows};

}  // namespace tilewright::frontend::onnx
