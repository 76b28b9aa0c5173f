// Strings that become numbers, and numbers that become strings.
#pragma once
#include "tilewright/frontend/onnx/import/convert.h"

namespace tilewright::frontend::onnx {

/// True for a Cast or CastLike from or to strings.
bool casts_strings(const Node& node);
/// Defines the output of such a node; `dtype` is that of the output if it is one of numbers.
void cast_strings(Importer& importer, const Node& node, DataType dtype);
/// Input `input` as ids; raises UserError if it holds numbers.
Expr strings_of(Importer& importer, const Node& node, size_t input);

}  // namespace tilewright::frontend::onnx
