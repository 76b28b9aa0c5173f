// Nodes whose identity is the object, not its contents: variables, buffers and te operations.
#pragma once
#include "tilewright/ir/node.h"

namespace tilewright::ir {

/// True for nodes that are referred to from many places; such a node is equal only to itself or to its
/// counterpart.
constexpr bool has_identity(Kind kind) {
  return kind == Kind::kVar || kind == Kind::kBuffer || kind == Kind::kRelaxVar ||
         kind == Kind::kDataflowVar || kind == Kind::kTePlaceholder || kind == Kind::kTeCompute ||
         kind == Kind::kTeExtern;
}

/// True if both tensors have equal shape, dtype and bytes.
bool same_contents(const runtime::Tensor& a, const runtime::Tensor& b);

}  // namespace tilewright::ir
