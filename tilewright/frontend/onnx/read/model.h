// An ONNX file as plain data, the input of the importer.  Only wire.h knows the file format. Source of the
// format: onnx.proto of the onnx package (github.com/onnx/onnx, docs/IR.md).
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tilewright/runtime/tensor.h"

namespace tilewright::frontend::onnx {

struct Graph;

/// One attribute of a node; `kind` selects the member that holds the value.
struct Attribute {
  enum Kind { kFloat, kInt, kString, kTensor, kGraph, kFloats, kInts, kStrings, kOther };
  std::string name;
  Kind kind = kOther;
  std::string reference;  // inside of a function: the attribute of its caller that has the value
  double number = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  runtime::Tensor tensor;  // of strings: their ids, which import/strings.h gives; `texts` has the strings
  bool has_text_tensor = false;  // `tensor` is one of strings
  std::shared_ptr<const Graph> graph;
};

struct Node {
  std::string op_type, domain, name;
  std::vector<std::string> inputs, outputs;  // "" for an optional one that is left out
  std::vector<Attribute> attributes;
  int64_t opset = 0;          // the version of its domain's operators; 0: that of the nodes around it
  std::string overload = {};  // of the function that it calls
  // Of inputs and outputs: whether they hold strings, and why they may not (import/strings.h).
  std::vector<bool> string_inputs = {}, string_outputs = {};
  std::string misuse = {};

  const Attribute* find(std::string_view attribute) const;
  /// "Conv"; with the domain if it is not ONNX's own: "com.microsoft::MatMulNBits".
  std::string op() const;
  bool reads_strings(size_t input) const { return input < string_inputs.size() && string_inputs[input]; }
  bool makes_strings(size_t output) const { return output < string_outputs.size() && string_outputs[output]; }
  /// The node's name; without one, that of its first output; "?" without either.
  std::string any_name() const;
  /// The node's name in messages: "Conv node \"conv1\"" or, without a name, "Conv node that makes \"y\"".
  std::string shown() const;
};

/// An extent: a number, a name ("batch"), or unknown (neither).
struct Dim {
  int64_t value = -1;
  std::string name;
  bool is_known() const { return value >= 0; }
  /// True without a name, or with the one that exporters give to all unknown dimensions: each is a different
  /// one.
  bool is_anonymous() const { return name.empty() || name == "?"; }
};

struct ValueInfo {
  /// A sequence holds any number of elements, an optional one or none; `element` describes them.
  enum Form { kTensor, kSequence, kOptional };
  std::string name;
  Form form = kTensor;
  std::shared_ptr<const ValueInfo> element;
  DataType dtype = DataType::void_();
  bool is_string = false;     // dtype is int64, that of ids
  std::string dtype_problem;  // why there is no dtype, if the file declares one
  bool has_shape = false;
  std::vector<Dim> shape;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // each after the nodes it needs
  std::map<std::string, runtime::Tensor> initializers;
  std::map<std::string, std::vector<std::string>> texts;  // of initializers that are strings
  // inputs: without initializers; in the main graph, their symbolic dimensions have names
  std::vector<ValueInfo> inputs, outputs;
};

/// The names that `node` reads, those that its subgraphs read from outside included.
std::set<std::string> needs_of(const Node& node);

struct Model {
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;  // version by domain; "" is ai.onnx
  Graph graph;
  bool holds_strings = false;  // a value does, as import/strings.h has found
};

/// The model in the file `path`, with tensors from other files beside it.  Raises UserError if the file
/// cannot be read, is not ONNX or truncated, has no graph, a cycle, an undefined value, a tensor whose data
/// does not fit its shape, or data outside of its folder.
Model load_model(const std::string& path);
/// The same from bytes; `folder` contains external data; if it is empty, external data is refused.
Model parse_model(std::string_view bytes, const std::string& folder, const std::string& shown_name);

/// Gives unnamed symbolic dimensions of the inputs a name: "x.0", with as many "_" appended as needed to
/// differ from the names of the graph's own dimensions.
void name_dims(Graph& graph);
/// The distinct symbolic dimensions of the inputs, in order.
std::vector<std::string> open_dims(const Graph& graph);

/// Extents by the name of a symbolic dimension.
using FixedDims = std::map<std::string, int64_t>;
/// Sets symbolic dimensions of the inputs to constants.  Raises UserError for an unknown name, and for an
/// extent that is negative or contradicts the model.
void fix_dims(Model& model, const FixedDims& extents);

/// The dtype of an ONNX element type; raises Unsupported with its name if there is no such dtype.
DataType dtype_of(int64_t element_type, const std::string& what);

}  // namespace tilewright::frontend::onnx
