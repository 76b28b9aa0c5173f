#include "tilewright/frontend/onnx/read/functions.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tilewright/support/count_text.h"
#include "tilewright/support/error.h"
#include "tilewright/support/near.h"

namespace tilewright::frontend::onnx {
namespace {

// functions that call others twice each make 2^depth nodes
constexpr size_t kMostNodes = size_t{1} << 16;
constexpr size_t kMostDepth = 100;

// Calls `use` with each name that `nodes` define, also inside of their subgraphs.
template <class Use>
void each_name(const std::vector<Node>& nodes, const Use& use) {
  for (const Node& node : nodes) {
    for (const std::string& output : node.outputs) use(output);
    for (const Attribute& attribute : node.attributes) {
      if (!attribute.graph) continue;
      for (const ValueInfo& input : attribute.graph->inputs) use(input.name);
      for (const auto& [name, data] : attribute.graph->initializers) use(name);
      each_name(attribute.graph->nodes, use);
    }
  }
}

// What the nodes around a node mean by names.
struct Scope {
  std::string prefix;                        // "caller/"; "" outside of functions
  std::map<std::string, std::string> names;  // of values of the function: those of the graph
  std::vector<Attribute> attributes;         // of the call
  const Opsets* opsets;
  bool is_function() const { return !prefix.empty(); }
};

class Expansion {
 public:
  Expansion(const Functions& functions, const Model& model) : functions_(functions), opsets_(model.opsets) {
    for (const ValueInfo& input : model.graph.inputs) taken_.insert(input.name);
    for (const auto& [name, data] : model.graph.initializers) taken_.insert(name);
    each_name(model.graph.nodes, [&](const std::string& name) { taken_.insert(name); });
  }

  std::vector<Node> expanded(const std::vector<Node>& nodes, const Scope& scope) {
    std::vector<Node> result;
    for (const Node& node : nodes) add(node, scope, &result);
    return result;
  }

 private:
  std::string actual(const std::string& name, const Scope& scope) const {
    const auto found = scope.names.find(name);
    return found == scope.names.end() ? name : found->second;
  }

  // A counter for each name: calls without names of their own ask for the same one again and again.
  std::string new_name(const std::string& name) {
    if (taken_.insert(name).second) return name;
    int64_t& number = next_[name];
    while (true) {
      const auto [numbered, is_new] = taken_.insert(fmt::format("{}_{}", name, ++number));
      if (is_new) return *numbered;
    }
  }

  Graph inside(const Graph& graph, const Scope& scope) {
    Graph result;
    result.name = graph.name;
    for (const auto& [name, data] : graph.initializers) result.initializers[actual(name, scope)] = data;
    for (const auto& [name, texts] : graph.texts) result.texts[actual(name, scope)] = texts;
    result.inputs = graph.inputs;
    result.outputs = graph.outputs;
    for (ValueInfo& input : result.inputs) input.name = actual(input.name, scope);
    for (ValueInfo& output : result.outputs) output.name = actual(output.name, scope);
    result.nodes = expanded(graph.nodes, scope);
    return result;
  }

  // The version of the operators of `domain` that nodes of `scope` mean.
  int64_t opset_of(const std::string& domain, const Scope& scope) const {
    for (const Opsets* opsets : {scope.opsets, &opsets_}) {
      const auto found = opsets->find(domain);
      if (found != opsets->end()) return found->second;
    }
    return 1;
  }

  Node bound(const Node& node, const Scope& scope) {
    Node result = node;
    result.opset = opset_of(node.domain, scope);
    if (scope.is_function()) result.name = scope.prefix + (node.name.empty() ? node.op_type : node.name);
    for (std::string& input : result.inputs) input = actual(input, scope);
    for (std::string& output : result.outputs) output = actual(output, scope);
    result.attributes.clear();
    for (Attribute attribute : node.attributes) {
      if (!attribute.reference.empty() && scope.is_function()) {
        const auto given =
            std::find_if(scope.attributes.begin(), scope.attributes.end(),
                         [&](const Attribute& each) { return each.name == attribute.reference; });
        if (given == scope.attributes.end()) continue;  // the caller leaves it out
        const std::string name = attribute.name;
        attribute = *given;
        attribute.name = name;
      } else if (attribute.graph) {
        attribute.graph = std::make_shared<const Graph>(inside(*attribute.graph, scope));
      }
      result.attributes.push_back(std::move(attribute));
    }
    return result;
  }

  void add(const Node& node, const Scope& scope, std::vector<Node>* result) {
    if (scope.is_function() && ++num_nodes_ > kMostNodes)
      throw UserError("its functions make more than {} nodes", kMostNodes)
          .help("export it without functions");
    Node actual = bound(node, scope);
    const auto function = functions_.find(function_key(actual));
    if (function == functions_.end()) return result->push_back(std::move(actual));
    try {
      check_call(actual, function->second);
    } catch (Error& error) {
      error.add_prefix(actual.shown());
      throw;
    }
    call(actual, function->second, result);
  }

  void check_call(const Node& node, const Function& function) const {
    if (const auto first = std::find(open_.begin(), open_.end(), &function); first != open_.end()) {
      std::vector<std::string> shown;
      for (auto each = first; each != open_.end(); ++each) shown.push_back((*each)->shown);
      throw UserError("function {} calls {}", fmt::join(shown, ", which calls "), function.shown)
          .help("functions of ONNX cannot call themselves");
    }
    if (open_.size() == kMostDepth)
      throw UserError("functions call each other more than {} deep", kMostDepth)
          .help("export it without functions");
    if (node.inputs.size() > function.inputs.size())
      throw UserError("{}, expected at most {}", count_text(node.inputs.size(), "input"),
                      function.inputs.size());
    if (node.outputs.size() > function.outputs.size())
      throw UserError("{}, expected at most {}", count_text(node.outputs.size(), "output"),
                      function.outputs.size());
    std::vector<std::string_view> names(function.attributes.begin(), function.attributes.end());
    for (const Attribute& attribute : function.defaults) names.push_back(attribute.name);
    for (const Attribute& attribute : node.attributes) {
      if (std::find(names.begin(), names.end(), attribute.name) == names.end())
        throw UserError("there is no attribute \"{}\"", attribute.name)
            .help("{}", nearest_names_text(attribute.name, names));
    }
  }

  // Puts the nodes of `function`, which `node` calls, into `result`.
  void call(const Node& node, const Function& function, std::vector<Node>* result) {
    const auto made = std::find_if(node.outputs.begin(), node.outputs.end(),
                                   [](const std::string& output) { return !output.empty(); });
    const std::string caller = !node.name.empty() ? node.name : made == node.outputs.end() ? "" : *made;
    Scope scope{caller + "/", {}, node.attributes, &function.opsets};
    for (const Attribute& attribute : function.defaults) {
      if (!node.find(attribute.name)) scope.attributes.push_back(attribute);
    }
    for (size_t n = 0; n < function.inputs.size(); ++n)
      scope.names[function.inputs[n]] = n < node.inputs.size() ? node.inputs[n] : "";
    // an output that is an input, or another output, is a copy
    std::vector<size_t> copies;
    for (size_t n = 0; n < node.outputs.size(); ++n) {
      if (node.outputs[n].empty()) continue;
      if (!scope.names.emplace(function.outputs[n], node.outputs[n]).second) copies.push_back(n);
    }
    each_name(function.nodes, [&](const std::string& name) {
      if (!name.empty() && !scope.names.count(name)) scope.names[name] = new_name(scope.prefix + name);
    });
    open_.push_back(&function);
    for (const Node& inner : function.nodes) add(inner, scope, result);
    open_.pop_back();
    for (size_t n : copies) {
      Node copy{"Identity",        "", scope.prefix + "Identity", {actual(function.outputs[n], scope)},
                {node.outputs[n]}, {}};
      copy.opset = opset_of("", scope);
      result->push_back(std::move(copy));
    }
  }

  const Functions& functions_;
  const Opsets& opsets_;
  std::map<std::string, int64_t> next_;  // by name: the last number behind it
  std::set<std::string> taken_;          // names of values
  std::vector<const Function*> open_;    // the calls around a node
  size_t num_nodes_ = 0;                 // of functions
};

}  // namespace

std::string function_key(const Node& node) { return fmt::format("{}:{}", node.op(), node.overload); }

void expand_functions(Model& model, const Functions& functions) {
  Expansion expansion(functions, model);
  model.graph.nodes = expansion.expanded(model.graph.nodes, Scope{"", {}, {}, &model.opsets});
}

}  // namespace tilewright::frontend::onnx
