// Copies of a statement in one function: what it defines must be new in every copy.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// `body` with `values` put for variables, and variables and buffers of its own for all that it defines:
/// loops, lets, allocations, views and the axes and buffers of blocks.
Stmt fresh_copy(const Stmt& body, ir::Substitution values = {});

}  // namespace tilewright::tir
