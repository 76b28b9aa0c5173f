// Branches that an import has chosen although their condition is known only at run time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/frontend/onnx/read/model.h"

namespace tilewright::frontend::onnx {

/// Choices by the first output of their node, in the order in which they were made.  Where an import fails, next()
/// says whether one with other choices may not.
class Choices {
 public:
  /// Nodes that are converted from now on belong to `node` of the model's graph: itself, or its subgraphs.
  void enter(const Node& node) { current_ = &node; }
  /// The choice for the node whose first output is `name`; a new one is like the last that had to be changed.  Raises
  /// Unsupported after very many calls: a node converts its branches again when it has chosen one, so that nodes in
  /// branches of each other ask 2^depth times.
  bool is_first(const std::string& name);
  /// After an error in the node that was entered last: changes the last choice that this node depends on and that has
  /// not been changed yet, and forgets those after it.  False if there is none.
  bool next(const Graph& graph);

 private:
  struct Choice {
    std::string name;
    const Node* node;  // of the model's graph
    bool is_first;
    bool is_changed;
  };
  std::vector<Choice> made_;
  const Node* current_ = nullptr;
  bool first_guess_ = true;
  int64_t num_calls_ = 0;
};

}  // namespace tilewright::frontend::onnx
