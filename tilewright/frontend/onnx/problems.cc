#include "tilewright/frontend/onnx/problems.h"

#include "tilewright/frontend/onnx/convert.h"
#include "tilewright/frontend/onnx/schema.h"

namespace tilewright::frontend::onnx {

Problems::Problems(const Model& model) : model_(model), used_(used_names(model.graph)) {}

void Problems::check(const Node& node) const {
  if (!find_converter(node.op())) throw Unsupported("the operator cannot be imported");
  check_opset(model_);
  check_node(node, node.opset, used_);
}

bool Problems::follows(const Node& node) {
  bool is_made = true;
  for (const std::string& input : node.inputs) is_made = is_made && !not_made_.count(input);
  if (is_made) return false;
  ++num_following_;
  not_made_.insert(node.outputs.begin(), node.outputs.end());
  not_made_.erase("");
  return true;
}

void Problems::add(const Node& node, const Error& error) {
  add(node.op(), node.name.empty() ? node.outputs.at(0) : node.name, error.text());
  not_made_.insert(node.outputs.begin(), node.outputs.end());
  not_made_.erase("");
}

void Problems::add(const ValueInfo& input, const Error& error) {
  add("", input.name, error.text());
  not_made_.insert(input.name);
}

void Problems::add(const std::string& op, const std::string& name, const std::string& reason) {
  for (Problem& problem : list_) {
    if (problem.op == op && problem.reason == reason) return problem.names.push_back(name);
  }
  list_.push_back({op, {name}, reason});
}

}  // namespace tilewright::frontend::onnx
