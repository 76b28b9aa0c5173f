// A second copy of a piece of program: its loops and blocks are nodes of their own.
#pragma once
#include <string>

#include "tilewright/schedule/core/state.h"

namespace tilewright::schedule {

/// `stmt` with new variables for all of its loops and new blocks, whose names get `suffix`.
Stmt fresh_copy(const Stmt& stmt, const std::string& suffix);

}  // namespace tilewright::schedule
