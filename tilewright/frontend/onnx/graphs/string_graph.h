// Strings that become numbers, and numbers that become strings.
#pragma once
#include <utility>

#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// True for a Cast or CastLike from or to strings.
bool casts_strings(const Node& node);
/// Defines the output of such a node; `dtype` is that of the output if it is one of numbers.
void cast_strings(Importer& importer, const Node& node, DataType dtype);
/// The place of each of the strings `x` among all strings of the call in order, and the strings in that order.
std::pair<Expr, Expr> strings_in_order(Importer& importer, const Expr& x);
/// Input `input` as ids; raises UserError if it holds numbers.
Expr strings_of(Importer& importer, const Node& node, size_t input);

}  // namespace tilewright::frontend::onnx
