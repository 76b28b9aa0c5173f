#include "tilewright/frontend/onnx/import/problems.h"

#include <algorithm>

#include "tilewright/frontend/onnx/import/convert.h"
#include "tilewright/frontend/onnx/import/refused.h"
#include "tilewright/frontend/onnx/import/schema.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr std::string_view kMissingOperator = "the operator cannot be imported";

// Importer::open_input and its like all say so.
bool asks_for_values(const std::string& reason) {
  return reason.find("known only at run time") != std::string::npos;
}

}  // namespace

Problems::Problems(const Model& model) : model_(model), used_(used_names(model.graph)) {}

void Problems::check(const Node& node) const {
  if (!find_converter(node.op())) {
    const RefusedOperator* known = find_refused(node.op());
    throw Unsupported("{}", known ? known->reason : kMissingOperator);
  }
  check_opset(model_);
  check_node(node, node.opset, used_);
}

bool Problems::follows(const Node& node, const Importer& importer) {
  bool is_made = true;
  for (const std::string& name : needs_of(node)) is_made = is_made && !not_made_.count(name);
  if (is_made) return false;
  ++num_following_;
  not_made_.insert(node.outputs.begin(), node.outputs.end());
  not_made_.erase("");
  note(node, importer, find_converter(node.op()) ? Fate::kFollows : Fate::kMissing, "");
  return true;
}

void Problems::add(const Node& node, const Error& error, const Importer& importer) {
  add(node.op(), node.any_name(), error.text());
  not_made_.insert(node.outputs.begin(), node.outputs.end());
  not_made_.erase("");
  const Fate fate = !find_converter(node.op())      ? Fate::kMissing
                    : asks_for_values(error.text()) ? Fate::kNeedsValues
                                                    : Fate::kRefused;
  note(node, importer, fate, error.text());
}

void Problems::add(const ValueInfo& input, const Error& error) {
  add("", input.name, error.text());
  not_made_.insert(input.name);
}

void Problems::made(const Node& node, const Importer& importer) {
  const bool is_computed =
      !node.outputs.empty() &&
      std::all_of(node.outputs.begin(), node.outputs.end(),
                  [&](const std::string& output) { return output.empty() || importer.is_computed(output); });
  note(node, importer, is_computed ? Fate::kComputed : Fate::kNative, "");
}

void Problems::add(const std::string& op, const std::string& name, const std::string& reason) {
  for (Problem& problem : list_) {
    if (problem.op == op && problem.reason == reason) return problem.names.push_back(name);
  }
  list_.push_back({op, {name}, reason});
}

void Problems::note(const Node& node, const Importer& importer, Fate fate, const std::string& reason) {
  NodeReport report{node.op(), node.any_name(), fate, {}, reason};
  if (fate == Fate::kMissing) report.reason = kMissingOperator;
  const auto add = [&](const std::string& name, bool is_string) {
    const DataType dtype = importer.value_dtype(name);
    if (!dtype.is_void()) report.dtypes.insert(is_string ? "string" : dtype.str());
  };
  for (size_t n = 0; n < node.inputs.size(); ++n) add(node.inputs[n], node.reads_strings(n));
  for (size_t n = 0; n < node.outputs.size(); ++n) add(node.outputs[n], node.makes_strings(n));
  nodes_.push_back(std::move(report));
  note_subgraphs(node, fate);
}

// A node of a subgraph is compiled with the node that has it.
void Problems::note_subgraphs(const Node& node, Fate fate) {
  for (const Attribute& attribute : node.attributes) {
    if (!attribute.graph) continue;
    for (const Node& inner : attribute.graph->nodes) {
      const bool is_missing = !find_converter(inner.op());
      const Fate inner_fate = is_missing              ? Fate::kMissing
                              : fate == Fate::kNative ? Fate::kNative
                                                      : Fate::kFollows;
      nodes_.push_back(
          {inner.op(), inner.any_name(), inner_fate, {}, std::string(is_missing ? kMissingOperator : "")});
      note_subgraphs(inner, inner_fate);
    }
  }
}

}  // namespace tilewright::frontend::onnx
