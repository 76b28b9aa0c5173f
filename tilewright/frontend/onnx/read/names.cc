#include "tilewright/frontend/onnx/read/names.h"

#include "tilewright/support/utf8.h"

namespace tilewright::frontend::onnx {
namespace {

class Names {
 public:
  explicit Names(std::deque<std::string>& kept) : kept_(kept) {}

  void visit(std::string_view& name) {
    std::string shown = printable(name);
    if (shown != name) name = kept_.emplace_back(std::move(shown));
  }
  void visit(wire::Tensor& tensor) { visit(tensor.name); }
  void visit(wire::Attribute& attribute) {
    visit(attribute.name);
    visit(attribute.ref_attr_name);
    visit(attribute.t);
    if (attribute.g) visit(*attribute.g);
  }
  void visit(wire::Node& node) {
    visit(node.name);
    visit(node.op_type);
    visit(node.domain);
    visit(node.overload);
    visit(node.input);
    visit(node.output);
    visit(node.attribute);
  }
  void visit(wire::ValueInfo& value) {
    visit(value.name);
    visit(value.type);
  }
  void visit(wire::Type& type) {
    if (type.sequence_type && type.sequence_type->elem_type) visit(*type.sequence_type->elem_type);
    if (type.optional_type && type.optional_type->elem_type) visit(*type.optional_type->elem_type);
    if (!type.tensor_type || !type.tensor_type->shape) return;
    for (wire::Dimension& dim : type.tensor_type->shape->dim) {
      if (dim.name) visit(*dim.name);
    }
  }
  void visit(wire::Graph& graph) {
    visit(graph.name);
    visit(graph.node);
    visit(graph.initializer);
    visit(graph.input);
    visit(graph.output);
  }
  void visit(wire::Opset& opset) { visit(opset.domain); }
  void visit(wire::Function& function) {
    visit(function.name);
    visit(function.domain);
    visit(function.overload);
    visit(function.input);
    visit(function.output);
    visit(function.attribute);
    visit(function.attribute_proto);
    visit(function.node);
    visit(function.opset_import);
  }

  template <class T>
  void visit(std::vector<T>& list) {
    for (T& item : list) visit(item);
  }

 private:
  std::deque<std::string>& kept_;
};

}  // namespace

void make_names_printable(wire::Model& model, std::deque<std::string>& kept) {
  Names names(kept);
  names.visit(model.producer_name);
  names.visit(model.opset_import);
  names.visit(model.functions);
  if (model.graph) names.visit(*model.graph);
}

}  // namespace tilewright::frontend::onnx
