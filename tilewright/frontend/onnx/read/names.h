// Names in a model file, which may contain arbitrary bytes.
#pragma once
#include <deque>
#include <string>

#include "tilewright/frontend/onnx/read/wire.h"

namespace tilewright::frontend::onnx {

/// Escapes names that are not UTF-8, which neither Python nor a terminal can show, as `printable` does;
/// `kept` owns the new names and must live as long as `model`.
void make_names_printable(wire::Model& model, std::deque<std::string>& kept);

}  // namespace tilewright::frontend::onnx
