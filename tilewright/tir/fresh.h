// Copies of a statement within one function: every copy must define new variables and buffers.
#pragma once
#include "tilewright/ir/rewrite.h"
#include "tilewright/tir/tir.h"

namespace tilewright::tir {

/// `body` with variables replaced by `values`, and new variables and buffers for all that it defines: loops,
/// lets, allocations, views and the axes and buffers of blocks.
Stmt fresh_copy(const Stmt& body, ir::Substitution values = {});

}  // namespace tilewright::tir
