// Operators that are known, but are not imported, and why.
#pragma once
#include <string_view>

namespace tilewright::frontend::onnx {

struct RefusedOperator {
  std::string_view op, reason, help;
};
/// The row of the operator that Node::op calls so; null if there is none.
const RefusedOperator* find_refused(std::string_view op);

}  // namespace tilewright::frontend::onnx
