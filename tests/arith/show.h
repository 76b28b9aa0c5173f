// Expressions as text for the tests of this folder: Python's operators and precedence.
#pragma once
#include <string>

#include "tilewright/tir/tir.h"

namespace tilewright::arith_test {
std::string show(const tir::PrimExpr& expr);
}
