// The size of a statement, as an estimate of the cost of a copy.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The number of statements and expressions in `stmt`.
int64_t num_nodes(const Stmt& stmt);

}  // namespace tilewright::lower
