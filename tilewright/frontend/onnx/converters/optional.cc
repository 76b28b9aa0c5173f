// Optional values.  Whether one is empty is mostly known when the model is imported; of inputs of the model it is
// asked when the graph runs.
// Source: onnx.ai/onnx/operators (Optional-15, OptionalHasElement-15, -18, OptionalGetElement-15, -18).
#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/lists.h"

namespace tilewright::frontend::onnx {
namespace {

void optional(Importer& importer, const Node& node) {
  if (importer.has_input(node, 0)) return importer.pass_on(node);
  if (!node.find("type")) throw UserError("it has no input, and no attribute \"type\"");
  importer.define(node.outputs[0], relax::call_op("relax.null_value", {}));
}

void define_truth(Importer& importer, const Node& node, bool truth) {
  importer.define_known(node.outputs[0], {kBoolType, {}, {{tir::bool_imm(truth)}}, &node});
}

void has_element(Importer& importer, const Node& node) {
  if (!importer.has_input(node, 0)) return define_truth(importer, node, false);
  if (importer.elements(node.inputs[0])) return define_truth(importer, node, true);
  const Expr value = importer.value(node, 0);
  if (is_empty_optional(value)) return define_truth(importer, node, false);
  const Contents* contents = importer.contents(value);
  if (!contents || !contents->is_optional) return define_truth(importer, node, true);
  importer.define(node.outputs[0], call_list_function(importer, "tilewright.optional_has", {value},
                                                      relax::tensor_type({}, kBoolType)));
}

void get_element(Importer& importer, const Node& node) {
  const Expr value = importer.value(node, 0);
  if (is_empty_optional(value)) throw UserError("input \"{}\" is empty", node.inputs[0]);
  const Contents* held = importer.contents(value);
  if (!held || !held->is_optional) return importer.pass_on(node);
  const Contents contents = *held;
  const ir::Type type = contents.type ? contents.type : relax::object_type();
  const Expr element = call_list_function(importer, "tilewright.optional_get", {value}, type);
  if (contents.inner) {
    importer.set_contents(element, *contents.inner);
    return importer.define(node.outputs[0], element);
  }
  importer.define(node.outputs[0], with_type(importer, element, type));
}

constexpr AttributeRule kType[] = {{"type", Attribute::kOther}};

constexpr ConverterRow kRows[] = {
    {"Optional", optional, 0, 1, kType, 1, 15},
    {"OptionalGetElement", get_element, 1, 1, {}, 1, 15},
    {"OptionalHasElement", has_element, 0, 1, {}, 1, 15},
};

}  // namespace

extern constinit const ConverterTable optional_info = {kRows};

}  // namespace tilewright::frontend::onnx
