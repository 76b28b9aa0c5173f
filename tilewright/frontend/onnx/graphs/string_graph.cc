#include "tilewright/frontend/onnx/graphs/string_graph.h"

#include "tilewright/frontend/onnx/import/strings.h"

namespace tilewright::frontend::onnx {

bool casts_strings(const Node& node) { return node.reads_strings(0) || node.makes_strings(0); }

void cast_strings(Importer& importer, const Node& node, DataType dtype) {
  const Expr x = importer.value(node, 0);
  if (node.reads_strings(0) && node.makes_strings(0)) return importer.define(node.outputs.at(0), x);
  if (node.makes_strings(0)) {
    const ir::Type type = relax::tensor_type(shape_of(node, x), kInt64);
    return importer.define(node.outputs.at(0), call_string_function(importer, "of_number", {x}, type));
  }
  if (dtype.bits < 8 && !dtype.is_bool())
    throw Unsupported("casts strings to {}, supported are numbers of 8 bits and more", dtype.str())
        .help("cast to int8 or uint8 first");
  const ir::Type type = relax::tensor_type(shape_of(node, x), dtype);
  importer.define(node.outputs.at(0), call_string_function(importer, "to_number",
                                                           {x, relax::DataTypeValueNode::make(dtype)}, type));
}

Expr strings_of(Importer& importer, const Node& node, size_t input) {
  if (!node.reads_strings(input))
    throw UserError("input \"{}\" is {}, expected strings", node.inputs.at(input),
                    importer.value_dtype(node.inputs[input]).str());
  return importer.value(node, input);
}

}  // namespace tilewright::frontend::onnx
