#include "tilewright/frontend/onnx/import/string_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "tilewright/frontend/onnx/read/wire.h"

namespace tilewright::frontend::onnx {
namespace {

using Flags = std::vector<bool>;

/// What an operator's results hold.
enum class Makes : uint8_t {
  kNumbers,
  kStrings,  // output 0
  kSame,     // all of them strings if its inputs are
  kFirst,    // output 0 strings if its inputs are
};

/// An operator that takes strings: the inputs that may be strings, a bit for each.  Those of them that are given are all
/// strings, or none of them.
struct Rule {
  std::string_view op;
  uint32_t inputs;
  Makes makes;
};

constexpr uint32_t kAll = ~0u;

// Moves, choices and comparisons of elements, sequences, and the operators of text.
constexpr Rule kRules[] = {
    {"CenterCropPad", 1, Makes::kSame},
    {"Compress", 1, Makes::kSame},
    {"Concat", kAll, Makes::kSame},
    {"ConcatFromSequence", 1, Makes::kSame},
    {"DepthToSpace", 1, Makes::kSame},
    {"Equal", kAll, Makes::kNumbers},
    {"Expand", 1, Makes::kSame},
    {"Flatten", 1, Makes::kSame},
    {"Gather", 1, Makes::kSame},
    {"GatherElements", 1, Makes::kSame},
    {"GatherND", 1, Makes::kSame},
    {"Identity", 1, Makes::kSame},
    {"OneHot", 0b100, Makes::kSame},
    {"Optional", 1, Makes::kSame},
    {"OptionalGetElement", 1, Makes::kSame},
    {"OptionalHasElement", 1, Makes::kNumbers},
    {"Pad", 0b101, Makes::kSame},
    {"RegexFullMatch", 1, Makes::kNumbers},
    {"Reshape", 1, Makes::kSame},
    {"ReverseSequence", 1, Makes::kSame},
    {"Scatter", 0b101, Makes::kSame},
    {"ScatterElements", 0b101, Makes::kSame},
    {"ScatterND", 0b101, Makes::kSame},
    {"SequenceAt", 1, Makes::kSame},
    {"SequenceConstruct", kAll, Makes::kSame},
    {"SequenceErase", 1, Makes::kSame},
    {"SequenceInsert", 0b11, Makes::kSame},
    {"SequenceLength", 1, Makes::kNumbers},
    {"Shape", 1, Makes::kNumbers},
    {"Size", 1, Makes::kNumbers},
    {"Slice", 1, Makes::kSame},
    {"SpaceToDepth", 1, Makes::kSame},
    {"Split", 1, Makes::kSame},
    {"SplitToSequence", 1, Makes::kSame},
    {"Squeeze", 1, Makes::kSame},
    {"StringConcat", kAll, Makes::kStrings},
    {"StringNormalizer", 1, Makes::kStrings},
    {"StringSplit", 1, Makes::kStrings},
    {"TfIdfVectorizer", 1, Makes::kNumbers},
    {"Tile", 1, Makes::kSame},
    {"Transpose", 1, Makes::kSame},
    {"Unique", 1, Makes::kFirst},
    {"Unsqueeze", 1, Makes::kSame},
    {"Where", 0b110, Makes::kSame},
    {"ai.onnx.ml::ArrayFeatureExtractor", 1, Makes::kSame},
    {"ai.onnx.ml::OneHotEncoder", 1, Makes::kNumbers},
};

bool has_texts(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  return attribute && (!attribute->texts.empty() || attribute->kind == Attribute::kString);
}
bool says_string(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  return attribute && attribute->integer == wire::Tensor::kString;
}

/// Operators whose attributes say what they make.
struct Choice {
  std::string_view op;
  uint32_t inputs;
  bool (*makes_strings)(const Node& node);  // output 0
};

bool has_string_labels(const Node& node) { return has_texts(node, "classlabels_strings"); }

constexpr Choice kChoices[] = {
    {"Cast", 1, [](const Node& node) { return says_string(node, "to"); }},
    {"CastLike", 0b11, [](const Node& node) { return node.reads_strings(1); }},
    {"Constant", 0,
     [](const Node& node) {
       const Attribute* value = node.find("value");
       return has_texts(node, "value_string") || node.find("value_strings") ||
              (value && value->has_text_tensor);
     }},
    {"SequenceEmpty", 0, [](const Node& node) { return says_string(node, "dtype"); }},
    {"ai.onnx.ml::CategoryMapper", 1, [](const Node& node) { return !node.reads_strings(0); }},
    {"ai.onnx.ml::LabelEncoder", 1,
     [](const Node& node) {
       const Attribute* values = node.find("values_tensor");
       return has_texts(node, "values_strings") || (values && values->has_text_tensor) ||
              (has_texts(node, "classes_strings") && !node.reads_strings(0));
     }},
    {"ai.onnx.ml::LinearClassifier", 0, has_string_labels},
    {"ai.onnx.ml::SVMClassifier", 0, has_string_labels},
    {"ai.onnx.ml::TreeEnsembleClassifier", 0, has_string_labels},
};

template <class Row, size_t kCount>
const Row* find(const Row (&rows)[kCount], std::string_view op) {
  const auto found =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& row) { return row.op == op; });
  return found == std::end(rows) ? nullptr : found;
}

/// Goes through nodes in order; the names of each graph hide those around it.
class Marker {
 public:
  /// Marks the nodes of `graph`, whose inputs hold strings where `inputs` is true.  Returns the same of its outputs.
  Flags mark(Graph& graph, const Flags& inputs) {
    scopes_.emplace_back();
    for (const auto& [name, data] : graph.initializers) define(name, graph.texts.contains(name));
    for (size_t n = 0; n < graph.inputs.size(); ++n)
      define(graph.inputs[n].name, n < inputs.size() && inputs[n]);
    for (Node& node : graph.nodes) mark(node);
    Flags outputs;
    for (const ValueInfo& output : graph.outputs) outputs.push_back(holds_strings(output.name));
    scopes_.pop_back();
    return outputs;
  }

  /// True if one of the values holds strings.
  bool has_found() const { return has_found_; }

 private:
  bool holds_strings(const std::string& name) const {
    for (size_t n = scopes_.size(); n-- > 0;) {
      if (const auto found = scopes_[n].find(name); found != scopes_[n].end()) return found->second;
    }
    return false;
  }

  void define(const std::string& name, bool is_string) {
    scopes_.back()[name] = is_string;
    has_found_ = has_found_ || is_string;
  }

  void mark(Node& node) {
    node.string_inputs.clear();
    for (const std::string& input : node.inputs)
      node.string_inputs.push_back(!input.empty() && holds_strings(input));
    node.string_outputs = results(node);
    node.string_outputs.resize(node.outputs.size());
    for (size_t n = 0; n < node.outputs.size(); ++n) define(node.outputs[n], node.string_outputs[n]);
  }

  Flags results(Node& node) {
    const std::string op = node.op();
    if (op == "If") return branches(node);
    if (op == "Loop") return loop(node);
    if (op == "Scan" || op == "SequenceMap") return body(node, node.string_inputs);
    const Rule* rule = find(kRules, op);
    const Choice* choice = find(kChoices, op);
    require_allowed(node, rule ? rule->inputs : choice ? choice->inputs : 0, rule != nullptr);
    if (!rule && !choice) return {};
    if (choice) return {choice->makes_strings(node)};
    const bool is_string =
        std::find(node.string_inputs.begin(), node.string_inputs.end(), true) != node.string_inputs.end();
    if (rule->makes == Makes::kNumbers) return {};
    if (rule->makes == Makes::kStrings) return {true};
    return Flags(rule->makes == Makes::kFirst ? 1 : node.outputs.size(), is_string);
  }

  // Notes strings that the operator does not take; `agree`: those that it does are all strings or none.
  static void require_allowed(Node& node, uint32_t allowed, bool agree) {
    const auto is_allowed = [&](size_t input) { return allowed >> std::min<size_t>(input, 31) & 1; };
    const std::string *text = nullptr, *number = nullptr;
    for (size_t n = 0; n < node.inputs.size(); ++n) {
      if (node.inputs[n].empty()) continue;
      if (node.string_inputs[n] && !is_allowed(n)) {
        node.misuse = fmt::format("input \"{}\" holds strings, expected numbers", node.inputs[n]);
        return;
      }
      if (is_allowed(n)) (node.string_inputs[n] ? text : number) = &node.inputs[n];
    }
    if (agree && text && number)
      node.misuse = fmt::format("input \"{}\" holds strings, but input \"{}\" numbers", *text, *number);
    for (const Attribute& attribute : node.attributes) {
      const bool is_data = node.op_type == "Constant" || node.op_type == "LabelEncoder";
      if (attribute.has_text_tensor && !is_data)
        node.misuse = fmt::format("attribute \"{}\" holds strings, expected numbers", attribute.name);
    }
  }

  // Marks the subgraph in attribute `name`.
  Flags subgraph(Node& node, std::string_view name, const Flags& inputs) {
    for (Attribute& attribute : node.attributes) {
      if (attribute.name != name || !attribute.graph) continue;
      Graph graph = *attribute.graph;
      Flags outputs = mark(graph, inputs);
      attribute.graph = std::make_shared<const Graph>(std::move(graph));
      return outputs;
    }
    return {};
  }

  Flags body(Node& node, const Flags& inputs) { return subgraph(node, "body", inputs); }

  Flags branches(Node& node) {
    Flags then = subgraph(node, "then_branch", {});
    const Flags otherwise = subgraph(node, "else_branch", {});
    if (then != otherwise && then.size() == otherwise.size())
      node.misuse = "one of its branches returns strings where the other returns numbers";
    return then;
  }

  Flags loop(Node& node) {
    Flags outputs = body(node, node.string_inputs);
    if (!outputs.empty()) outputs.erase(outputs.begin());  // the condition
    for (size_t n = 2; n < node.inputs.size() && n - 2 < outputs.size(); ++n) {
      if (node.string_inputs[n] != outputs[n - 2])
        node.misuse =
            fmt::format("the carried value \"{}\" holds strings in one iteration and numbers in the next",
                        node.inputs[n]);
    }
    return outputs;
  }

  std::vector<std::map<std::string, bool>> scopes_;
  bool has_found_ = false;
};

}  // namespace

bool is_of_strings(const ValueInfo& info) {
  return info.is_string || (info.element && is_of_strings(*info.element));
}

bool mark_strings(Graph& graph) {
  Flags inputs;
  for (const ValueInfo& input : graph.inputs) inputs.push_back(is_of_strings(input));
  Marker marker;
  const Flags outputs = marker.mark(graph, inputs);
  for (size_t n = 0; n < outputs.size(); ++n) graph.outputs[n].is_string = outputs[n];
  return marker.has_found();
}

}  // namespace tilewright::frontend::onnx
