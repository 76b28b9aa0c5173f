// Everything that keeps a model from being imported, instead of the first error.
#pragma once
#include <set>

#include "tilewright/frontend/onnx/model.h"
#include "tilewright/support/error.h"

namespace tilewright::frontend::onnx {

/// Nodes, or inputs of the graph, that cannot be imported for one reason.
struct Problem {
  std::string op;                  // "Resize"; "" for inputs
  std::vector<std::string> names;  // of the nodes, or of what they make; of the inputs
  std::string reason;              // the text of the error
};

/// Collects what fails while nodes are converted in order.
class Problems {
 public:
  explicit Problems(const Model& model);

  /// Raises what keeps `node` from being converted, as far as the node alone says it.
  void check(const Node& node) const;
  /// Whether an input of `node` could not be made; then its outputs cannot either.
  bool follows(const Node& node);
  void add(const Node& node, const Error& error);
  void add(const ValueInfo& input, const Error& error);

  const std::vector<Problem>& list() const { return list_; }
  /// Nodes of which nobody can say more than that an input could not be made.
  size_t num_following() const { return num_following_; }

 private:
  void add(const std::string& op, const std::string& name, const std::string& reason);

  const Model& model_;
  const std::set<std::string> used_;
  std::set<std::string> not_made_;
  std::vector<Problem> list_;
  size_t num_following_ = 0;
};

/// What keeps `model` from being imported; none if import_model() has no reason to raise.
Problems problems_of(const Model& model);

}  // namespace tilewright::frontend::onnx
