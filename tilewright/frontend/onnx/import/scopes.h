// The names that nodes of a graph see: those of the graph itself, and those of the graphs around it.
#pragma once
#include <unordered_map>
#include <vector>

#include "tilewright/frontend/onnx/import/known.h"
#include "tilewright/relax/graph/relax.h"

namespace tilewright::frontend::onnx {

/// Values by name, one scope for each open graph: an inner name hides the same name outside.  A name may have a
/// tensor, known elements, or both.
class Scopes {
 public:
  using Expr = relax::Expr;

  /// Opens a scope for the names of `graph`.
  void open(const Graph& graph);
  void close() { scopes_.pop_back(); }

  /// The value called `name`; null if there is none, or only its elements are known.
  Expr value(const std::string& name) const;
  /// The elements of the value called `name` where they are not all constant, or null; *depth is the number of the
  /// scope that has them.
  const Known* known(const std::string& name, size_t* depth = nullptr) const;
  /// The node that makes the value called `name`; null for inputs and initializers.
  const Node* maker(const std::string& name) const;

  /// Definitions in the innermost scope.
  void define(const std::string& name, Expr value) { scopes_.back().values[name] = std::move(value); }
  void define_known(const std::string& name, Known known) { scopes_.back().known[name] = std::move(known); }
  /// The elements of a value that is defined already.
  void add_known(const std::string& name, Known known);

  struct Scope {
    std::unordered_map<std::string, Expr> values;
    std::unordered_map<std::string, Known> known;
    std::unordered_map<std::string, const Node*> makers;
    bool has(const std::string& name) const { return values.contains(name) || known.contains(name); }
  };
  using Inner = std::vector<Scope>;
  /// Opens a scope right inside of scope `depth`; those between are hidden until leave() gets them back.
  Inner enter(size_t depth);
  void leave(Inner inner);

 private:
  const Scope* find(const std::string& name, size_t* depth) const;
  std::vector<Scope> scopes_;
};

}  // namespace tilewright::frontend::onnx
