// The size of a statement, as an estimate of the cost of a copy.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// Loop bodies with more nodes than this are not copied to take guards out of them.
inline constexpr int64_t kMostCopiedNodes = 4000;

/// The number of statements and expressions in `stmt`.
int64_t num_nodes(const Stmt& stmt);

}  // namespace tilewright::lower
