// Strings.  In a graph a string is its id, an int64: equal strings have equal ids, so that operators that move, choose or
// compare elements are those of integers.  The strings of the model itself have the first ids, in order of their bytes;
// others get theirs while the graph runs (runtime/builtin/strings.cc, docs/decisions/0032-strings.md).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// The strings that a model contains, and "", whose id is 0.
class StringTable {
 public:
  /// Those of tensors and of attributes that hold text.
  explicit StringTable(const Model& model);

  int64_t id(std::string_view text) const;
  std::vector<int64_t> ids(const std::vector<std::string>& texts) const;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;  // distinct, in order of their bytes
};

/// True if a value of the model, or of a subgraph, may hold strings.
bool may_hold_strings(const Model& model);
/// `model` with marks at the values that hold strings (Node::string_inputs, string_outputs, ValueInfo::is_string of the
/// outputs), at the nodes that cannot take them (Node::misuse), and with the ids of `table` in its tensors of strings.
Model with_marked_strings(const Model& model, const StringTable& table);

/// The pool of a call: the strings of the model, and those that are added while it runs.
Expr make_pool(Importer& importer, const StringTable& table);
/// The type of the pair of tensors in which strings enter and leave a graph, with the type `ids` inside: their bytes,
/// one after another, and for each string the number of bytes up to its end.
ir::Type type_of_texts(const ir::Type& ids);
/// The call of tilewright.string_`name` of the pool and `args`, which gives a value of type `type`.
Expr call_string_function(Importer& importer, std::string_view name, std::vector<Expr> args,
                          const ir::Type& type);
/// Attribute `name`, a list of strings, as ids; none if it is left out.
std::vector<int64_t> string_ids_attr(const Importer& importer, const Node& node, std::string_view name);
/// The id of attribute `name`, a string, or of `otherwise`.
int64_t string_id_attr(const Importer& importer, const Node& node, std::string_view name,
                       std::string_view otherwise);

}  // namespace tilewright::frontend::onnx
