#include "tilewright/frontend/onnx/import/schema.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tilewright/frontend/onnx/import/converter.h"
#include "tilewright/frontend/onnx/import/refused.h"
#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::frontend::onnx {
namespace {

const ConverterRow& row_of(const Node& node, int64_t opset) {
  const ConverterRow* row = find_converter(node.op(), opset);
  TILEWRIGHT_CHECK(row, "operator {} has no converter", node.op());
  if (row->is_of(opset)) return *row;
  if (opset > row->until)
    throw UserError("the operator ended with opset {}, the model has opset {}", row->until, opset);
  throw UserError("the operator was introduced in opset {}, the model has opset {}", row->since, opset);
}

std::string expected_number(size_t least, size_t most) {
  if (least == most) return fmt::format("{}", least);
  if (most == kAnyNumber) return fmt::format("at least {}", least);
  return fmt::format("{} {} {}", least, most == least + 1 ? "or" : "to", most);
}

void check_inputs(const Node& node, const ConverterRow& row) {
  const size_t count = node.inputs.size();
  if (count < row.min_inputs || count > row.max_inputs)
    throw UserError("{}, expected {}", count_text(count, "input"),
                    expected_number(row.min_inputs, row.max_inputs));
  const size_t num_required = row.max_inputs == kAnyNumber ? count : row.min_inputs;
  for (size_t n = 0; n < num_required; ++n) {
    if (node.inputs[n].empty()) throw UserError("input {} is left out, but is required", n);
  }
}

void check_outputs(const Node& node, const ConverterRow& row, const std::set<std::string>& used) {
  if (node.outputs.size() > row.max_outputs)
    throw UserError("{}, expected {}", count_text(node.outputs.size(), "output"),
                    expected_number(1, row.max_outputs));
  if (row.min_outputs > 0 && node.outputs[0].empty())
    throw UserError("output 0 is left out, but is required");
  for (size_t n = row.num_computed; n < node.outputs.size(); ++n) {
    if (used.count(node.outputs[n]))
      throw Unsupported("output {} (\"{}\") is used, but only the first can be computed", n, node.outputs[n]);
  }
}

std::string_view shown(Attribute::Kind kind) {
  switch (kind) {
    case Attribute::kFloat: return "a float";
    case Attribute::kInt: return "an integer";
    case Attribute::kString: return "a string";
    case Attribute::kTensor: return "a tensor";
    case Attribute::kGraph: return "a graph";
    case Attribute::kFloats: return "a list of floats";
    case Attribute::kInts: return "a list of integers";
    case Attribute::kStrings: return "a list of strings";
    case Attribute::kOther: return "of another kind";
  }
  throw InternalError("attribute kind {}", static_cast<int>(kind));
}

void check_range(const AttributeRule& rule, int64_t value) {
  if (value >= rule.least && value <= rule.most) return;
  throw UserError("attribute \"{}\" is {}, expected {}", rule.name, value,
                  rule.most == kAnyMost ? fmt::format("at least {}", rule.least)
                                        : fmt::format("{} to {}", rule.least, rule.most));
}

void check_range(const AttributeRule& rule, double value) {
  if (!std::isfinite(value))
    throw UserError("attribute \"{}\" is {}, expected a finite number", rule.name, value);
  if (rule.least != kAnyLeast && value < static_cast<double>(rule.least))
    throw UserError("attribute \"{}\" is {}, expected at least {}", rule.name, value, rule.least);
  if (rule.most != kAnyMost && value > static_cast<double>(rule.most))
    throw UserError("attribute \"{}\" is {}, expected at most {}", rule.name, value, rule.most);
}

// Constants may have any value, including infinity.
bool is_data(const AttributeRule& rule) {
  return rule.name.starts_with("value") || rule.name.starts_with("replaced_value");
}

void check_value(const AttributeRule& rule, const Attribute& attribute) {
  if (attribute.kind != rule.kind)
    throw UserError("attribute \"{}\" is {}, expected {}", rule.name, shown(attribute.kind),
                    shown(rule.kind));
  if (is_data(rule)) return;
  if (rule.kind == Attribute::kInt) check_range(rule, attribute.integer);
  if (rule.kind == Attribute::kFloat) check_range(rule, attribute.number);
  for (int64_t value : attribute.integers) check_range(rule, value);
}

const AttributeRule& rule_of(const ConverterRow& owner, const Attribute& attribute, int64_t opset) {
  std::vector<std::string_view> names;
  for (const AttributeRule& rule : owner.attributes) {
    if (opset >= rule.since && opset <= rule.until) {
      if (rule.name == attribute.name) return rule;
      names.push_back(rule.name);
    } else if (rule.name == attribute.name) {
      throw UserError("attribute \"{}\" exists in opset {} to {}, the model has opset {}", rule.name,
                      rule.since, rule.until, opset);
    }
  }
  throw UserError("there is no attribute \"{}\"", attribute.name)
      .help("{}", nearest_names_text(attribute.name, names));
}

void check_attributes(const Node& node, const ConverterRow& row, int64_t opset) {
  for (const Attribute& attribute : node.attributes) {
    if (node.find(attribute.name) != &attribute)
      throw UserError("attribute \"{}\" is given twice", attribute.name);
    if (opset < 6 && node.domain.empty() && attribute.name == "consumed_inputs")
      continue;  // a hint for memory
    check_value(rule_of(row, attribute, opset), attribute);
  }
  for (const AttributeRule& attribute : row.attributes) {
    const bool is_known = opset >= attribute.since && opset <= attribute.until;
    if (attribute.is_required && is_known && !node.find(attribute.name))
      throw UserError("attribute \"{}\" is missing", attribute.name);
  }
}

}  // namespace

std::set<std::string> names_read_by_nodes(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes) names.merge(needs_of(node));
  return names;
}

std::set<std::string> used_names(const Graph& graph) {
  std::set<std::string> names = names_read_by_nodes(graph);
  for (const ValueInfo& output : graph.outputs) names.insert(output.name);
  return names;
}

void check_opset(const Model& model) {
  const int64_t opset = model.opsets.at("");
  if (opset < kFirstOpset || opset > kLastOpset)
    throw Unsupported("the model has opset {}, supported are {} to {}", opset, kFirstOpset, kLastOpset)
        .help("convert it with onnx.version_converter.convert_version(model, {})",
              std::clamp(opset, kFirstOpset, kLastOpset));
}

void check_node(const Node& node, int64_t opset, const std::set<std::string>& used) {
  const ConverterRow& row = row_of(node, opset);
  check_inputs(node, row);
  check_outputs(node, row, used);
  check_attributes(node, row, opset);
}

namespace {
void check_each(const Graph& graph, int64_t opset, const CustomConverters& custom) {
  const std::set<std::string> used = used_names(graph);
  for (const Node& node : graph.nodes) {
    if (custom.contains(node.op())) continue;
    try {
      check_node(node, node.opset ? node.opset : opset, used);
    } catch (Error& error) {
      error.add_prefix(node.shown());
      throw;
    }
  }
}

using Missing = std::map<std::string, std::vector<std::string>>;  // nodes by operator

void add_missing(const Graph& graph, const CustomConverters& custom, bool with_subgraphs, Missing* missing) {
  for (const Node& node : graph.nodes) {
    if (!custom.contains(node.op()) && !find_converter(node.op()))
      (*missing)[node.op()].push_back(node.name.empty() ? (node.outputs.empty() ? "?" : node.outputs[0])
                                                        : node.name);
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph && with_subgraphs) add_missing(*attribute.graph, custom, true, missing);
    }
  }
}
}  // namespace

void refuse_unsupported(const Graph& graph, const CustomConverters& custom) {
  Missing missing;
  add_missing(graph, custom, false, &missing);
  if (missing.empty()) return;
  missing.clear();
  add_missing(graph, custom, true, &missing);
  std::string help = "express them with other operators where the model is exported";
  for (const auto& [op, nodes] : missing) {
    if (op.find("::") == std::string::npos) continue;
    help += fmt::format(", or say what one is: tilewright.frontend.onnx.register_converter(\"{}\", fn)", op);
    break;
  }
  if (const RefusedOperator* known = find_refused(missing.begin()->first); known && missing.size() == 1)
    help = known->help;
  std::vector<std::string> parts;
  for (auto& [op, nodes] : missing) {
    const size_t count = nodes.size();
    if (nodes.size() > 4) nodes.resize(4);
    parts.push_back(fmt::format("{} ({}{})", op, fmt::join(nodes, ", "),
                                count > 4 ? fmt::format(", ... {} nodes", count) : ""));
    if (const RefusedOperator* known = find_refused(op)) parts.back() += fmt::format(": {}", known->reason);
  }
  throw Unsupported("the model uses operators that cannot be imported: {}", fmt::join(parts, "; "))
      .help("{}", help);
}

void check_nodes(const Model& model, const CustomConverters& custom) {
  check_opset(model);
  check_each(model.graph, model.opsets.at(""), custom);
}

void check_graph(const Graph& graph, int64_t opset, const CustomConverters& custom) {
  refuse_unsupported(graph, custom);
  check_each(graph, opset, custom);
}

}  // namespace tilewright::frontend::onnx
