#include "tilewright/frontend/onnx/graphs/string_graph.h"

#include "tilewright/frontend/onnx/import/strings.h"

namespace tilewright::frontend::onnx {

bool casts_strings(const Node& node) { return node.reads_strings(0) || node.makes_strings(0); }

void cast_strings(Importer& importer, const Node& node, DataType dtype) {
  const Expr x = importer.value(node, 0);
  if (node.reads_strings(0) && node.makes_strings(0)) return importer.define(node.outputs.at(0), x);
  const auto widest = [](DataType given) {
    if (given.is_float()) return kFloat64;
    return given == DataType::uint(64) ? given : kInt64;
  };
  if (node.makes_strings(0)) {
    const Expr wide = bound_as(importer, x, widest(relax::dtype_of(x)));
    const ir::Type type = relax::tensor_type(shape_of(node, x), kInt64);
    return importer.define(node.outputs.at(0), call_string_function(importer, "of_number", {wide}, type));
  }
  if (dtype.bits < 8 && !dtype.is_bool())
    throw Unsupported("casts strings to {}, supported are numbers of 8 bits and more", dtype.str())
        .help("cast to int8 or uint8 first");
  const DataType made = dtype == kFloat32 ? dtype : widest(dtype);
  const Expr numbers = call_string_function(importer, "to_number", {x, relax::DataTypeValueNode::make(dtype)},
                                            relax::tensor_type(shape_of(node, x), made));
  importer.define(node.outputs.at(0), bound_as(importer, numbers, dtype));
}

std::pair<Expr, Expr> strings_in_order(Importer& importer, const Expr& x) {
  const ir::Type places = relax::type_of(x), ids = relax::tensor_type({importer.new_size()}, kInt64);
  const Expr both = call_string_function(importer, "order", {x},
                                         relax::tuple_type({places, relax::tensor_type_of_ndim(1, kInt64)}));
  const Expr all =
      importer.builder.emit(relax::TupleGetItemNode::make(both, 1, relax::tensor_type_of_ndim(1, kInt64)));
  return {importer.builder.emit(relax::TupleGetItemNode::make(both, 0, places)),
          importer.builder.emit_match_cast(all, ids)};
}

Expr strings_of(Importer& importer, const Node& node, size_t input) {
  if (!node.reads_strings(input))
    throw UserError("input \"{}\" is {}, expected strings", node.inputs.at(input),
                    importer.value_dtype(node.inputs[input]).str());
  return importer.value(node, input);
}

}  // namespace tilewright::frontend::onnx
