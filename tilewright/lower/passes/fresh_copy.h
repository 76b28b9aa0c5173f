// Copies of a statement in one function: what it defines must be new in every copy.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// `body` with `values` put for variables, and new loop variables, let variables and allocated buffers.
Stmt fresh_copy(const Stmt& body, Substitution values = {});
/// Statements and expressions in `stmt`: what a copy costs.
int64_t num_nodes(const Stmt& stmt);

}  // namespace tilewright::lower
