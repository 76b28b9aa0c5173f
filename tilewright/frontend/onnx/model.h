// An ONNX file as plain data: what the importer reads.  Only wire.h knows the file's messages.
// Source of the format: onnx.proto of the onnx package (github.com/onnx/onnx, docs/IR.md).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/runtime/tensor.h"

namespace tilewright::frontend::onnx {

struct Graph;

/// One attribute of a node; `kind` says which member holds it.
struct Attribute {
  enum Kind { kFloat, kInt, kString, kTensor, kGraph, kFloats, kInts, kStrings, kOther };
  std::string name;
  Kind kind = kOther;
  double number = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  runtime::Tensor tensor;
  std::shared_ptr<const Graph> graph;
};

struct Node {
  std::string op_type, domain, name;
  std::vector<std::string> inputs, outputs;  // "" for an optional one left out
  std::vector<Attribute> attributes;

  const Attribute* find(std::string_view attribute) const;
  /// "Conv", or of another domain than ONNX's own "com.microsoft::MatMulNBits".
  std::string op() const;
  /// "Conv node \"conv1\"" or, without a name, "Conv node that makes \"y\"": how messages call it.
  std::string shown() const;
};

/// An extent: a number, or a name ("batch"), or unknown (neither).
struct Dim {
  int64_t value = -1;
  std::string name;
  bool is_known() const { return value >= 0; }
  /// Without a name, or with the one that exporters give to all they know nothing of: each is another one.
  bool is_anonymous() const { return name.empty() || name == "?"; }
};

struct ValueInfo {
  std::string name;
  DataType dtype = DataType::void_();
  std::string dtype_problem;  // why there is none, if the file says one
  bool has_shape = false;
  std::vector<Dim> shape;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // each after those it needs
  std::map<std::string, runtime::Tensor> initializers;
  // inputs: without initializers; of a model's own graph, their open dimensions have names
  std::vector<ValueInfo> inputs, outputs;
};

struct Model {
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;  // version by domain; "" is ai.onnx
  Graph graph;
};

/// The model in the file `path`; tensors kept in other files beside it are read too.
/// Raises UserError if the file cannot be read, is not ONNX or cut short, has no graph, a cycle, a value that
/// nothing defines, a tensor whose data does not fit its shape, or data outside its folder.
Model load_model(const std::string& path);
/// The same from bytes; `folder` is where external data is looked for, empty: refused.
Model parse_model(std::string_view bytes, const std::string& folder, const std::string& shown_name);

/// Gives open dimensions of the inputs that have no name one: "x.0", or with as many "_" behind it as make it
/// differ from every name of the graph's own dimensions.
void name_dims(Graph& graph);
/// The open dimensions of the inputs, in order, each once.
std::vector<std::string> open_dims(const Graph& graph);

/// Extents by the name of an open dimension.
using FixedDims = std::map<std::string, int64_t>;
/// Gives open dimensions of the inputs numbers.  Raises UserError for a name that none has, and an extent
/// below 0 or other than what the model says.
void fix_dims(Model& model, const FixedDims& extents);

/// The dtype of an ONNX element type number; raises Unsupported with its name for what we have no dtype for.
DataType dtype_of(int64_t element_type, const std::string& what);

}  // namespace tilewright::frontend::onnx
