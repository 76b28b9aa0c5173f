// What becomes of each node of a model, and everything that prevents its import instead of the first error only.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "tilewright/frontend/onnx/read/model.h"
#include "tilewright/support/error.h"

namespace tilewright::frontend::onnx {

class Importer;

/// Nodes, or inputs of the graph, that cannot be imported for the same reason.
struct Problem {
  std::string op;                  // "Resize"; "" for inputs
  std::vector<std::string> names;  // of the nodes, or of their outputs; of the inputs
  std::string reason;              // the text of the error
};

/// What becomes of a node.
enum class Fate {
  kNative,       // compiled code computes it
  kComputed,     // its results are known when the model is imported
  kNeedsValues,  // it asks, when the model is imported, for elements that only a run knows
  kMissing,      // its operator cannot be imported
  kRefused,      // the operator can, this node cannot
  kFollows       // it needs the result of one of those
};

struct NodeReport {
  std::string op, name;  // `name` is that of its first output if it has none
  Fate fate;
  std::set<std::string> dtypes;  // of the inputs and outputs whose dtypes are known
  std::string reason;            // the text of the error
};

/// Collects errors while nodes are converted in order.
class Problems {
 public:
  explicit Problems(const Model& model);

  /// Raises the errors of `node` that do not depend on other nodes.
  void check(const Node& node) const;
  /// True if an input of `node`, or of its subgraphs, could not be converted, so that its outputs cannot be either.
  bool follows(const Node& node, const Importer& importer);
  void add(const Node& node, const Error& error, const Importer& importer);
  void add(const ValueInfo& input, const Error& error);

  /// Notes a node that was converted.
  void made(const Node& node, const Importer& importer);

  const std::vector<Problem>& list() const { return list_; }
  /// Every node in order, each before those of its subgraphs.
  const std::vector<NodeReport>& nodes() const { return nodes_; }
  /// The number of nodes that only fail because an input could not be converted.
  size_t num_following() const { return num_following_; }

 private:
  void add(const std::string& op, const std::string& name, const std::string& reason);
  void note(const Node& node, const Importer& importer, Fate fate, const std::string& reason);
  void note_subgraphs(const Node& node, Fate fate);

  const Model& model_;
  const std::set<std::string> used_;
  std::set<std::string> not_made_;
  std::vector<Problem> list_;
  std::vector<NodeReport> nodes_;
  size_t num_following_ = 0;
};

/// Everything that prevents `model` from being imported; empty if import_model() would not raise.
Problems problems_of(const Model& model);

}  // namespace tilewright::frontend::onnx
