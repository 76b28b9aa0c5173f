// Converts ONNX's messages to the plain structs of model.h, and validates them.
#include "tilewright/frontend/onnx/read/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tilewright/frontend/onnx/read/functions.h"
#include "tilewright/frontend/onnx/read/names.h"
#include "tilewright/frontend/onnx/read/tensor_data.h"
#include "tilewright/frontend/onnx/read/wire.h"
#include "tilewright/support/error.h"
#include "tilewright/support/file.h"

namespace tilewright::frontend::onnx {

const Attribute* Node::find(std::string_view attribute) const {
  for (const Attribute& item : attributes) {
    if (item.name == attribute) return &item;
  }
  return nullptr;
}

std::string Node::op() const { return domain.empty() ? op_type : domain + "::" + op_type; }

std::string Node::any_name() const {
  if (!name.empty()) return name;
  const auto named =
      std::find_if(outputs.begin(), outputs.end(), [](const std::string& output) { return !output.empty(); });
  return named == outputs.end() ? "?" : *named;
}

std::string Node::shown() const {
  if (!name.empty()) return fmt::format("{} node \"{}\"", op_type, name);
  return fmt::format("{} node that makes \"{}\"", op_type, outputs.empty() ? "" : outputs[0]);
}

namespace {

// Names that a subgraph uses from outside count as inputs of the node that contains it.
void free_names(const Graph& graph, std::set<std::string>* names) {
  std::set<std::string> own;
  for (const ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) own.insert(name);
  for (const Node& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  auto need = [&](const std::string& name) {
    if (!name.empty() && !own.count(name)) names->insert(name);
  };
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) need(input);
    for (const Attribute& attribute : node.attributes) {
      std::set<std::string> inner;
      if (attribute.graph) free_names(*attribute.graph, &inner);
      for (const std::string& name : inner) need(name);
    }
  }
  for (const ValueInfo& output : graph.outputs) need(output.name);
}

}  // namespace

std::set<std::string> needs_of(const Node& node) {
  std::set<std::string> names(node.inputs.begin(), node.inputs.end());
  names.erase("");
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph) free_names(*attribute.graph, &names);
  }
  return names;
}

namespace {

/// The names that nodes of a graph may read: those of the graph, and those of the graphs around it.
struct Visible {
  const Visible* outer = nullptr;
  std::set<std::string> own = {};

  bool has(const std::string& name) const {
    for (const Visible* each = this; each; each = each->outer) {
      if (each->own.contains(name)) return true;
    }
    return false;
  }
};

Graph read_graph(const wire::Graph& proto, const std::string& folder, const Visible* outer);

Attribute read_attribute(const wire::Attribute& proto, const std::string& folder, const Visible& visible) {
  Attribute result;
  result.name = proto.name;
  result.reference = proto.ref_attr_name;
  if (!result.reference.empty()) return result;
  switch (proto.type) {
    case wire::Attribute::kFloat:
      result.kind = Attribute::kFloat;
      result.number = proto.f;
      break;
    case wire::Attribute::kInt:
      result.kind = Attribute::kInt;
      result.integer = proto.i;
      break;
    case wire::Attribute::kString:
      result.kind = Attribute::kString;
      result.text = proto.s;
      break;
    case wire::Attribute::kTensor:
      result.kind = Attribute::kTensor;
      result.tensor = read_tensor(proto.t, folder, result.name, &result.texts);
      result.has_text_tensor = is_text(proto.t);
      break;
    case wire::Attribute::kGraph:
      if (!proto.g) throw UserError("attribute \"{}\" is a graph, but holds none", result.name);
      result.kind = Attribute::kGraph;
      result.graph = std::make_shared<const Graph>(read_graph(*proto.g, folder, &visible));
      break;
    case wire::Attribute::kFloats:
      result.kind = Attribute::kFloats;
      result.numbers.assign(proto.floats.begin(), proto.floats.end());
      break;
    case wire::Attribute::kInts:
      result.kind = Attribute::kInts;
      result.integers = proto.ints;
      break;
    case wire::Attribute::kStrings:
      result.kind = Attribute::kStrings;
      result.texts.assign(proto.strings.begin(), proto.strings.end());
      break;
    default: break;
  }
  return result;
}

Node read_node(const wire::Node& proto, const std::string& folder, const Visible& visible) {
  Node node{std::string(proto.op_type),
            std::string(proto.domain == "ai.onnx" ? "" : proto.domain),
            std::string(proto.name),
            {},
            {},
            {}};
  node.overload = proto.overload;
  node.inputs.assign(proto.input.begin(), proto.input.end());
  node.outputs.assign(proto.output.begin(), proto.output.end());
  if (node.outputs.empty()) throw UserError("{} has no output", node.shown());
  for (const auto& attribute : proto.attribute)
    node.attributes.push_back(read_attribute(attribute, folder, visible));
  return node;
}

ValueInfo read_type(const std::string& name, const wire::Type& proto) {
  ValueInfo info;
  info.name = name;
  for (const auto& [holder, form] : {std::pair(&proto.sequence_type, ValueInfo::kSequence),
                                     std::pair(&proto.optional_type, ValueInfo::kOptional)}) {
    if (!*holder || !(*holder)->elem_type) continue;
    info.form = form;
    info.element = std::make_shared<const ValueInfo>(read_type(name, *(*holder)->elem_type));
    return info;
  }
  if (!proto.tensor_type) return info;
  const wire::TensorType& type = *proto.tensor_type;
  info.is_string = type.elem_type == wire::Tensor::kString;
  try {
    if (info.is_string)
      info.dtype = kInt64;
    else if (type.elem_type != 0)
      info.dtype = dtype_of(type.elem_type, fmt::format("value \"{}\"", info.name));
  } catch (const Unsupported& problem) {
    info.dtype_problem = problem.text();
  }
  if (!type.shape) return info;
  info.has_shape = true;
  for (const wire::Dimension& dim : type.shape->dim) {
    Dim extent;
    if (dim.value && *dim.value >= 0)
      extent.value = *dim.value;
    else if (dim.name)
      extent.name = *dim.name;
    info.shape.push_back(std::move(extent));
  }
  return info;
}

// Raises the error for a cycle: the nodes from `first` to the last of `path`, which needs it again.
[[noreturn]] void refuse_cycle(const std::vector<Node>& nodes, const std::vector<size_t>& path,
                               size_t first) {
  constexpr size_t kMostShown = 8;
  std::vector<std::string> shown;
  for (auto at = std::find(path.begin(), path.end(), first); at != path.end(); ++at)
    shown.push_back(nodes[*at].shown());
  const size_t count = shown.size();
  if (count > kMostShown) shown.resize(kMostShown);
  throw UserError("the graph has a cycle: {}{}", fmt::join(shown, " needs "),
                  count > kMostShown ? fmt::format(" needs ... {} nodes", count)
                                     : fmt::format(" needs the {}", nodes[first].shown()))
      .help("an ONNX graph must be acyclic");
}

// The node that defines each name.  `known` are names of the graph that are defined without a node.
std::map<std::string, size_t> makers_of(const std::vector<Node>& nodes, const std::set<std::string>& known) {
  std::map<std::string, size_t> makers;
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const std::string& output : nodes[n].outputs) {
      if (!output.empty() && (known.count(output) || !makers.emplace(output, n).second))
        throw UserError("two nodes make \"{}\"; the second is the {}", output, nodes[n].shown());
    }
  }
  return makers;
}

// For each node, the nodes that define its inputs.  Names of the graph hide those of `outer`, the graphs around it.
std::vector<std::vector<size_t>> needed_nodes(const std::vector<Node>& nodes,
                                              const std::set<std::string>& known, const Visible* outer) {
  const std::map<std::string, size_t> makers = makers_of(nodes, known);
  std::vector<std::vector<size_t>> needed(nodes.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (const std::string& name : needs_of(nodes[n])) {
      if (known.count(name)) continue;
      const auto maker = makers.find(name);
      if (maker == makers.end() && outer && outer->has(name)) continue;
      if (maker == makers.end())
        throw UserError("{} reads \"{}\", which no node, input or initializer defines", nodes[n].shown(),
                        name)
            .help("the file is incomplete; check it with onnx.checker.check_model");
      needed[n].push_back(maker->second);
    }
  }
  return needed;
}

// The nodes in the order of the file, except that each comes after those it needs.
std::vector<Node> sorted(std::vector<Node> nodes, const std::set<std::string>& known, const Visible* outer) {
  const std::vector<std::vector<size_t>> needed = needed_nodes(nodes, known, outer);
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(nodes.size(), State::kNew);
  std::vector<size_t> order, path, next(nodes.size(), 0);
  for (size_t start = 0; start < nodes.size(); ++start) {
    if (states[start] == State::kNew) path.push_back(start);
    while (!path.empty()) {
      const size_t node = path.back();
      states[node] = State::kOpen;
      if (next[node] == needed[node].size()) {
        states[node] = State::kDone;
        order.push_back(node);
        path.pop_back();
        continue;
      }
      const size_t before = needed[node][next[node]++];
      if (states[before] == State::kOpen) refuse_cycle(nodes, path, before);
      if (states[before] == State::kNew) path.push_back(before);
    }
  }
  std::vector<Node> result;
  for (size_t n : order) result.push_back(std::move(nodes[n]));
  return result;
}

Graph read_graph(const wire::Graph& proto, const std::string& folder, const Visible* outer) {
  Graph graph;
  graph.name = proto.name;
  std::set<std::string> known;
  if (!proto.sparse_initializer.empty())
    throw Unsupported("the graph has sparse initializers").help("export them as dense tensors");
  for (const wire::Tensor& tensor : proto.initializer) {
    const std::string name(tensor.name);
    std::vector<std::string> texts;
    graph.initializers[name] = read_tensor(tensor, folder, name, &texts);
    if (is_text(tensor)) graph.texts[name] = std::move(texts);
    known.insert(name);
  }
  for (const wire::ValueInfo& input : proto.input) {
    const std::string name(input.name);
    const bool is_initializer = graph.initializers.contains(name);
    if (!is_initializer && known.contains(name))
      throw UserError("the graph has two inputs called \"{}\"", name);
    if (!is_initializer) graph.inputs.push_back(read_type(name, input.type));
    known.insert(name);
  }
  for (const wire::ValueInfo& output : proto.output)
    graph.outputs.push_back(read_type(std::string(output.name), output.type));
  // a subgraph may use any name of the enclosing graph; the order check below finds missing ones
  Visible visible{outer, known};
  for (const wire::Node& node : proto.node) visible.own.insert(node.output.begin(), node.output.end());
  for (const wire::Node& node : proto.node) graph.nodes.push_back(read_node(node, folder, visible));
  graph.nodes = sorted(std::move(graph.nodes), known, outer);
  for (const ValueInfo& output : graph.outputs) {
    if (!visible.has(output.name))
      throw UserError("graph output \"{}\" is not made by any node", output.name);
  }
  return graph;
}

Opsets read_opsets(const std::vector<wire::Opset>& protos) {
  Opsets opsets;
  for (const wire::Opset& opset : protos)
    opsets[std::string(opset.domain == "ai.onnx" ? "" : opset.domain)] = opset.version;
  return opsets;
}

Functions read_functions(const std::vector<wire::Function>& protos, const std::string& folder) {
  Functions functions;
  for (const wire::Function& proto : protos) {
    Function function;
    function.shown = fmt::format("{}::{}", proto.domain, proto.name);
    function.inputs.assign(proto.input.begin(), proto.input.end());
    function.outputs.assign(proto.output.begin(), proto.output.end());
    function.attributes.assign(proto.attribute.begin(), proto.attribute.end());
    function.opsets = read_opsets(proto.opset_import);
    const std::set<std::string> known(function.inputs.begin(), function.inputs.end());
    Visible visible{nullptr, known};
    for (const wire::Node& node : proto.node) visible.own.insert(node.output.begin(), node.output.end());
    try {
      for (const wire::Attribute& attribute : proto.attribute_proto)
        function.defaults.push_back(read_attribute(attribute, folder, Visible()));
      for (const wire::Node& node : proto.node) function.nodes.push_back(read_node(node, folder, visible));
      function.nodes = sorted(std::move(function.nodes), known, nullptr);
    } catch (Error& error) {
      error.add_prefix(fmt::format("function {}", function.shown));
      throw;
    }
    for (const std::string& output : function.outputs) {
      if (!visible.has(output))
        throw UserError("output \"{}\" of function {} is not made by any node", output, function.shown);
    }
    Node call{
        std::string(proto.name), std::string(proto.domain == "ai.onnx" ? "" : proto.domain), {}, {}, {}, {}};
    call.overload = proto.overload;
    if (!functions.emplace(function_key(call), std::move(function)).second)
      throw UserError("the model has two functions {}::{}", proto.domain, proto.name);
  }
  return functions;
}

std::string read_file(const std::string& path) {
  std::error_code problem;
  if (!std::filesystem::exists(path, problem))
    throw UserError("there is no file \"{}\"", path).help("check the path");
  if (std::filesystem::is_directory(path, problem))
    throw UserError("\"{}\" is a folder, expected an ONNX file", path).help("check the path");
  if (!std::filesystem::is_regular_file(path, problem))
    throw UserError("\"{}\" is not a regular file, expected an ONNX file", path).help("check the path");
  std::optional<std::string> bytes = read_bytes(path);
  if (!bytes) throw UserError("cannot read \"{}\"", path).help("check its permissions");
  return *std::move(bytes);
}

}  // namespace

Model parse_model(std::string_view bytes, const std::string& folder, const std::string& shown_name) {
  if (bytes.empty())
    throw UserError("\"{}\" is empty", shown_name).help("export or download the model again");
  wire::Model proto;
  if (!wire::decode(bytes, proto) || !proto.graph)
    throw UserError("\"{}\" is not an ONNX model, or is cut short", shown_name)
        .help("export or download the model again");
  std::deque<std::string> kept;
  make_names_printable(proto, kept);
  Model model;
  model.ir_version = proto.ir_version;
  model.producer = proto.producer_name;
  model.opsets = read_opsets(proto.opset_import);
  if (!model.opsets.count("")) model.opsets[""] = 1;
  model.graph = read_graph(*proto.graph, folder, nullptr);
  expand_functions(model, read_functions(proto.functions, folder));
  name_dims(model.graph);
  return model;
}

Model load_model(const std::string& path) {
  const std::string bytes = read_file(path);
  std::string folder = std::filesystem::path(path).parent_path().string();
  return parse_model(bytes, folder.empty() ? "." : folder, path);
}

}  // namespace tilewright::frontend::onnx
