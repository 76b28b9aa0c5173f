// What a copy of a statement costs.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// Statements and expressions in `stmt`.
int64_t num_nodes(const Stmt& stmt);

}  // namespace tilewright::lower
