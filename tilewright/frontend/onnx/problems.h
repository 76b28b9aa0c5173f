// Collects everything that prevents a model from being imported, instead of the first error only.
#pragma once
#include <set>

#include "tilewright/frontend/onnx/model.h"
#include "tilewright/support/error.h"

namespace tilewright::frontend::onnx {

/// Nodes, or inputs of the graph, that cannot be imported for the same reason.
struct Problem {
  std::string op;                  // "Resize"; "" for inputs
  std::vector<std::string> names;  // of the nodes, or of their outputs; of the inputs
  std::string reason;              // the text of the error
};

/// Collects errors while nodes are converted in order.
class Problems {
 public:
  explicit Problems(const Model& model);

  /// Raises the errors of `node` that do not depend on other nodes.
  void check(const Node& node) const;
  /// True if an input of `node`, or of its subgraphs, could not be converted, so that its outputs cannot be either.
  bool follows(const Node& node);
  void add(const Node& node, const Error& error);
  void add(const ValueInfo& input, const Error& error);

  const std::vector<Problem>& list() const { return list_; }
  /// The number of nodes that only fail because an input could not be converted.
  size_t num_following() const { return num_following_; }

 private:
  void add(const std::string& op, const std::string& name, const std::string& reason);

  const Model& model_;
  const std::set<std::string> used_;
  std::set<std::string> not_made_;
  std::vector<Problem> list_;
  size_t num_following_ = 0;
};

/// Everything that prevents `model` from being imported; empty if import_model() would not raise.
Problems problems_of(const Model& model);

}  // namespace tilewright::frontend::onnx
