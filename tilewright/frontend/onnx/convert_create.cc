// Tensors made of numbers and shapes.  Source: onnx.ai/onnx/operators, opset 7 to 22.
#include "tilewright/arith/analyzer.h"
#include "tilewright/frontend/onnx/convert.h"

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

// Numbers that are known now stay numbers.
void range(Importer& importer, const Node& node) {
  const auto start = importer.known(node, 0), limit = importer.known(node, 1),
             delta = importer.known(node, 2);
  if (start && limit && delta) {
    const auto prim = [](const relax::Shape& one) { return relax::PrimValueNode::make(one.at(0)); };
    return importer.emit(node, "relax.arange", {prim(*start), prim(*limit), prim(*delta)},
                         {{"dtype", attr(relax::dtype_of(importer.value(node, 0)).str())}});
  }
  std::vector<Expr> args;
  for (size_t n = 0; n < 3; ++n) {
    const std::vector<double> numbers = importer.require_numbers(node, n);
    if (numbers.size() != 1) throw UserError("input {} has {} elements, expected 1", n, numbers.size());
    args.push_back(relax::PrimValueNode::make(tir::float_imm(numbers[0], kFloat64)));
  }
  importer.emit(node, "relax.arange", std::move(args),
                {{"dtype", attr(relax::dtype_of(importer.value(node, 0)).str())}});
}

void size(Importer& importer, const Node& node) {
  importer.define_known(node.outputs.at(0),
                        {arith::simplify(relax::num_elements(shape_of(node, importer.value(node, 0))))},
                        true);
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

// Indices below 0 count from the depth on.
void one_hot(Importer& importer, const Node& node) {
  const std::vector<double> depth = importer.require_numbers(node, 1);
  const std::vector<ir::PrimExpr> values = literals(importer, node, 2);
  if (depth.size() != 1) throw UserError("depth has {} elements, expected 1", depth.size());
  if (values.size() != 2) throw UserError("values has {} elements, expected 2", values.size());
  const DataType dtype = relax::dtype_of(importer.value(node, 2));
  const Expr indices = importer.builder.emit(converted(importer.value(node, 0), kInt64));
  const Expr from_end = importer.bind(node, "relax.add", {indices, number(depth[0], kInt64)});
  const Expr is_negative = importer.bind(node, "relax.less", {indices, number(0, kInt64)});
  const Expr positions = importer.bind(node, "relax.where", {is_negative, from_end, indices});
  const auto prim = [&](const ir::PrimExpr& value) -> Expr {
    return relax::PrimValueNode::make(tir::cast(dtype, value));
  };
  importer.emit(
      node, "relax.one_hot", {positions, prim(values[1]), prim(values[0])},
      {{"depth", attr(static_cast<int64_t>(depth[0]))}, {"axis", attr(int_attr(node, "axis", -1))}});
}

constexpr ConverterRow kConverters[] = {
    {"ConstantOfShape", constant_of_shape},
    {"EyeLike", eye_like},
    {"OneHot", one_hot},
    {"Range", range},
    {"Size", size},
    {"Trilu", triangle},
};

}  // namespace

std::span<const ConverterRow> create_converters() { return kConverters; }

}  // namespace tilewright::frontend::onnx
