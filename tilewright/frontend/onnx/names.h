// Names in a model file, which may hold any bytes.
#pragma once
#include <deque>
#include <string>

#include "tilewright/frontend/onnx/wire.h"

namespace tilewright::frontend::onnx {

/// Gives names that are no UTF-8, which neither Python nor a terminal can show, the form of `printable`;
/// `kept` holds those and lives as long as `model`.
void make_names_printable(wire::Model& model, std::deque<std::string>& kept);

}  // namespace tilewright::frontend::onnx
