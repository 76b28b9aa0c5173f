// Variables and pointers that a statement uses but does not define, in order of first use.
#pragma once
#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

std::vector<Var> free_vars(const Stmt& body);

}  // namespace tilewright::lower
