// Sequences and optional values.  A sequence whose number of elements is known when a model is imported is a tuple of
// them; others are lists of the virtual machine, which runtime/builtin/lists.cc changes and reads.
#pragma once
#include <memory>

#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// What a list or an optional value of the virtual machine holds.
struct Contents {
  bool is_optional = false;
  ir::Type type;                          // of the elements if they are tensors; null if nothing is known
  std::shared_ptr<const Contents> inner;  // of the elements if they are lists
};

/// A sequence: a tuple, or a list of the virtual machine.
struct Sequence {
  Expr value;
  const relax::TupleNode* elements = nullptr;  // null: their number is known only at run time
  ir::Type type;                               // of each element; null if there is none
};

/// Input `input` of the node, a sequence.  Raises UserError if it is something else.
Sequence sequence_of(Importer& importer, const Node& node, size_t input);
/// Defines the node's first output as a sequence of these elements, or as a list.
void define_tuple(Importer& importer, const Node& node, std::vector<Expr> elements);
void define_list(Importer& importer, const std::string& name, const Expr& list, const ir::Type& type);
/// The type of values that are of one of both types; a null type is that of no value.
ir::Type either_type(const ir::Type& a, const ir::Type& b);
/// A variable with the value of `value`, whose type includes `type`; extents that it does not know get a dimension.
Expr with_type(Importer& importer, const Expr& value, const ir::Type& type);
/// The call of a function of runtime/builtin/lists.cc.
Expr call_list_function(Importer& importer, std::string_view name, std::vector<Expr> args,
                        const ir::Type& type);
/// What a value holds that is one of both; null if neither is a list or optional value.  A tuple is a list of its
/// elements.
std::shared_ptr<const Contents> either_contents(const Importer& importer, const Expr& a, const Expr& b);
/// The contents of an input of the graph that is declared as `info`.
Contents contents_of(const ValueInfo& info);
/// True for the value that stands for an empty optional.
bool is_empty_optional(const Expr& value);

}  // namespace tilewright::frontend::onnx
