// One table of what each operator takes.  Source: onnx.ai/onnx/operators, every version of each operator from
// opset 7 to 28; later ones than 22 differ in element types only.
#include "tilewright/frontend/onnx/schema.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::frontend::onnx {
namespace {

constexpr int64_t kAnyLeast = std::numeric_limits<int64_t>::min(),
                  kAnyMost = std::numeric_limits<int64_t>::max();
// no extent of a picture, window or list of channels is larger
constexpr int64_t kMostExtent = std::numeric_limits<int32_t>::max();
constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

/// An attribute: its kind, the range of its number or of each of its numbers, and the opsets that know it.
struct AttributeRule {
  std::string_view name;
  Attribute::Kind kind;
  int64_t least = kAnyLeast, most = kAnyMost;
  int64_t since = kFirstOpset, until = kLastOpset;
  bool is_required = false;
};

constexpr AttributeRule flag(std::string_view name, int64_t since = kFirstOpset, int64_t until = kLastOpset) {
  return {name, Attribute::kInt, 0, 1, since, until};
}
constexpr AttributeRule extents(std::string_view name, int64_t least, int64_t since = kFirstOpset) {
  return {name, Attribute::kInts, least, kMostExtent, since};
}

/// An operator in the opsets `since` to `until`; the first `min_inputs` inputs may not be left out.
struct OperatorRule {
  std::string_view op;
  size_t min_inputs, max_inputs;
  std::span<const AttributeRule> attributes = {};
  size_t max_outputs = 1;
  int64_t since = kFirstOpset, until = kLastOpset;
};

constexpr AttributeRule kAxis[] = {{"axis", Attribute::kInt}};
constexpr AttributeRule kRequiredAxis[] = {
    {"axis", Attribute::kInt, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kAxes[] = {{"axes", Attribute::kInts}};
constexpr AttributeRule kRequiredAxes[] = {
    {"axes", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kAllowZero[] = {flag("allowzero", 14)};
constexpr AttributeRule kPerm[] = {{"perm", Attribute::kInts, 0}};
constexpr AttributeRule kRatio[] = {{"ratio", Attribute::kFloat, 0, 1}};
constexpr AttributeRule kSeed[] = {{"seed", Attribute::kInt}};
constexpr AttributeRule kShape[] = {{"start", Attribute::kInt, kAnyLeast, kAnyMost, 15},
                                    {"end", Attribute::kInt, kAnyLeast, kAnyMost, 15}};
constexpr AttributeRule kSlice[] = {
    {"axes", Attribute::kInts},
    {"starts", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true},
    {"ends", Attribute::kInts, kAnyLeast, kAnyMost, kFirstOpset, kLastOpset, true}};
constexpr AttributeRule kConstant[] = {{"value", Attribute::kTensor},
                                       {"sparse_value", Attribute::kOther, kAnyLeast, kAnyMost, 11},
                                       {"value_float", Attribute::kFloat, kAnyLeast, kAnyMost, 12},
                                       {"value_floats", Attribute::kFloats, kAnyLeast, kAnyMost, 12},
                                       {"value_int", Attribute::kInt, kAnyLeast, kAnyMost, 12},
                                       {"value_ints", Attribute::kInts, kAnyLeast, kAnyMost, 12},
                                       {"value_string", Attribute::kString, kAnyLeast, kAnyMost, 12},
                                       {"value_strings", Attribute::kStrings, kAnyLeast, kAnyMost, 12}};
constexpr AttributeRule kBatchNorm[] = {{"epsilon", Attribute::kFloat, 0},
                                        {"momentum", Attribute::kFloat},
                                        flag("spatial", kFirstOpset, 8),
                                        flag("training_mode", 14)};
constexpr AttributeRule kGemm[] = {
    {"alpha", Attribute::kFloat}, {"beta", Attribute::kFloat}, flag("transA"), flag("transB")};
constexpr AttributeRule kAutoPad = {"auto_pad", Attribute::kString};
constexpr AttributeRule kKernelShape = {"kernel_shape", Attribute::kInts, 1,   kMostExtent,
                                        kFirstOpset,    kLastOpset,       true};
constexpr AttributeRule kConv[] = {kAutoPad,
                                   extents("dilations", 1),
                                   {"group", Attribute::kInt, 1, kMostExtent},
                                   extents("kernel_shape", 1),
                                   extents("pads", 0),
                                   extents("strides", 1)};
constexpr AttributeRule kMaxPool[] = {
    kAutoPad,           flag("ceil_mode", 10),    extents("dilations", 1, 10), kKernelShape,
    extents("pads", 0), flag("storage_order", 8), extents("strides", 1)};
constexpr AttributeRule kAveragePool[] = {
    kAutoPad,     flag("ceil_mode", 10), flag("count_include_pad"), extents("dilations", 1, 19),
    kKernelShape, extents("pads", 0),    extents("strides", 1)};

constexpr OperatorRule kOperators[] = {
    {"Abs", 1, 1},
    {"Add", 2, 2},
    {"AveragePool", 1, 1, kAveragePool},
    {"BatchNormalization", 5, 5, kBatchNorm, 5, kFirstOpset, 13},
    {"BatchNormalization", 5, 5, kBatchNorm, 3, 14},
    {"Concat", 1, kAnyNumber, kRequiredAxis},
    {"Constant", 0, 0, kConstant},
    {"Conv", 2, 3, kConv},
    {"Div", 2, 2},
    {"Dropout", 1, 1, kRatio, 2, kFirstOpset, 11},
    {"Dropout", 1, 3, kSeed, 2, 12},
    {"Erf", 1, 1, {}, 1, 9},
    {"Exp", 1, 1},
    {"Flatten", 1, 1, kAxis},
    {"Gather", 2, 2, kAxis},
    {"Gemm", 3, 3, kGemm, 1, kFirstOpset, 10},
    {"Gemm", 2, 3, kGemm, 1, 11},
    {"GlobalAveragePool", 1, 1},
    {"Identity", 1, 1},
    {"Log", 1, 1},
    {"MatMul", 2, 2},
    {"MaxPool", 1, 1, kMaxPool, 1, kFirstOpset, 7},
    {"MaxPool", 1, 1, kMaxPool, 2, 8},
    {"Mul", 2, 2},
    {"Neg", 1, 1},
    {"Relu", 1, 1},
    {"Reshape", 2, 2, kAllowZero},
    {"Shape", 1, 1, kShape},
    {"Sigmoid", 1, 1},
    {"Slice", 1, 1, kSlice, 1, kFirstOpset, 9},
    {"Slice", 3, 5, {}, 1, 10},
    {"Softmax", 1, 1, kAxis},
    {"Sqrt", 1, 1},
    {"Squeeze", 1, 1, kAxes, 1, kFirstOpset, 12},
    {"Squeeze", 1, 2, {}, 1, 13},
    {"Sub", 2, 2},
    {"Tanh", 1, 1},
    {"Transpose", 1, 1, kPerm},
    {"Unsqueeze", 1, 1, kRequiredAxes, 1, kFirstOpset, 12},
    {"Unsqueeze", 2, 2, {}, 1, 13},
};

const OperatorRule& rule_of(const Node& node, int64_t opset) {
  const OperatorRule* other = nullptr;
  for (const OperatorRule& rule : kOperators) {
    if (rule.op != node.op_type) continue;
    if (opset >= rule.since && opset <= rule.until) return rule;
    other = &rule;
  }
  TILEWRIGHT_CHECK(other, "operator {} has a converter, but no rule", node.op_type);
  throw UserError("the operator came with opset {}, the model has opset {}", other->since, opset);
}

std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string expected_number(size_t least, size_t most) {
  if (least == most) return fmt::format("{}", least);
  if (most == kAnyNumber) return fmt::format("at least {}", least);
  return fmt::format("{} {} {}", least, most == least + 1 ? "or" : "to", most);
}

void check_inputs(const Node& node, const OperatorRule& rule) {
  const size_t count = node.inputs.size();
  if (count < rule.min_inputs || count > rule.max_inputs)
    throw UserError("{}, expected {}", counted(count, "input"),
                    expected_number(rule.min_inputs, rule.max_inputs));
  const size_t num_required = rule.max_inputs == kAnyNumber ? count : rule.min_inputs;
  for (size_t n = 0; n < num_required; ++n) {
    if (node.inputs[n].empty()) throw UserError("input {} is left out, but is required", n);
  }
}

void check_outputs(const Node& node, const OperatorRule& rule, const std::set<std::string>& used) {
  if (node.outputs.size() > rule.max_outputs)
    throw UserError("{}, expected {}", counted(node.outputs.size(), "output"),
                    expected_number(1, rule.max_outputs));
  if (node.outputs[0].empty()) throw UserError("output 0 is left out, but is required");
  for (size_t n = 1; n < node.outputs.size(); ++n) {
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

// Constants may hold anything, an infinity too.
bool is_data(const AttributeRule& rule) { return rule.name.starts_with("value"); }

void check_value(const AttributeRule& rule, const Attribute& attribute) {
  if (attribute.kind != rule.kind)
    throw UserError("attribute \"{}\" is {}, expected {}", rule.name, shown(attribute.kind),
                    shown(rule.kind));
  if (is_data(rule)) return;
  if (rule.kind == Attribute::kInt) check_range(rule, attribute.integer);
  if (rule.kind == Attribute::kFloat) check_range(rule, attribute.number);
  for (int64_t value : attribute.integers) check_range(rule, value);
}

const AttributeRule& rule_of(const OperatorRule& owner, const Attribute& attribute, int64_t opset) {
  std::vector<std::string_view> names;
  for (const AttributeRule& rule : owner.attributes) {
    if (opset >= rule.since && opset <= rule.until) {
      if (rule.name == attribute.name) return rule;
      names.push_back(rule.name);
    } else if (rule.name == attribute.name) {
      throw UserError("attribute \"{}\" is of opset {} to {}, the model has opset {}", rule.name, rule.since,
                      rule.until, opset);
    }
  }
  throw UserError("there is no attribute \"{}\"", attribute.name)
      .help("{}", nearest_names_text(attribute.name, names));
}

void check_attributes(const Node& node, const OperatorRule& rule, int64_t opset) {
  for (const Attribute& attribute : node.attributes) {
    if (node.find(attribute.name) != &attribute)
      throw UserError("attribute \"{}\" is given twice", attribute.name);
    check_value(rule_of(rule, attribute, opset), attribute);
  }
  for (const AttributeRule& attribute : rule.attributes) {
    if (attribute.is_required && !node.find(attribute.name))
      throw UserError("attribute \"{}\" is missing", attribute.name);
  }
}

std::set<std::string> used_names(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes) names.insert(node.inputs.begin(), node.inputs.end());
  for (const ValueInfo& output : graph.outputs) names.insert(output.name);
  names.erase("");
  return names;
}

}  // namespace

void check_nodes(const Model& model) {
  const int64_t opset = model.opsets.at("");
  if (opset < kFirstOpset || opset > kLastOpset)
    throw Unsupported("the model is of opset {}, supported are {} to {}", opset, kFirstOpset, kLastOpset)
        .help("convert it with onnx.version_converter.convert_version(model, {})",
              std::clamp(opset, kFirstOpset, kLastOpset));
  const std::set<std::string> used = used_names(model.graph);
  for (const Node& node : model.graph.nodes) {
    try {
      const OperatorRule& rule = rule_of(node, opset);
      check_inputs(node, rule);
      check_outputs(node, rule, used);
      check_attributes(node, rule, opset);
    } catch (Error& error) {
      error.add_prefix(node.shown());
      throw;
    }
  }
}

}  // namespace tilewright::frontend::onnx
