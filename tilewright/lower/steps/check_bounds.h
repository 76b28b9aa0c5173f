// Divisions that the step check_bounds would put a check before.
#pragma once
#include <string>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {

/// True if the function called `name` has a division in an index or extent by what may be 0.
bool may_divide_by_zero(const std::string& name, const tir::PrimFunc& func);

}  // namespace tilewright::lower
