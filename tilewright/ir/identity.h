// Nodes whose identity is the object, not its contents: variables, buffers and te operations.
#pragma once
#include "tilewright/ir/node.h"

namespace tilewright::ir {

/// True for nodes that are referred to from many places; such a node is equal only to itself or to its
/// counterpart.
constexpr bool has_identity(Kind kind) {
  return kind == Kind::kVar || kind == Kind::kBuffer || kind == Kind::kRelaxVar ||
         kind == Kind::kDataflowVar || kind == Kind::kTePlaceholder || kind == Kind::kTeCompute ||
         kind == Kind::kTeExtern || kind == Kind::kTeScan;
}

/// The role of the fields around a node: the variables in it are used, defined, or defined with all in them.
enum class Mode { kUse, kDef, kDefRec };
/// The same inside of a field with `role`.
constexpr Mode inner_mode(Mode outer, Role role) {
  if (role == Role::kDefRec || outer == Mode::kDefRec) return Mode::kDefRec;
  return role == Role::kDef ? Mode::kDef : Mode::kUse;
}

/// True if both tensors have equal shape, dtype and bytes.
bool same_contents(const runtime::Tensor& a, const runtime::Tensor& b);

}  // namespace tilewright::ir
