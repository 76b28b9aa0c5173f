// What the indices of a program need of the sizes of a call.
#pragma once
#include <string>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The function with an attribute that says what its sure accesses need of sizes and scalar parameters and
/// nothing proves; the step check_sizes makes statements of it.  With the attribute kCheckDivisions
/// (annotations.h) if it may divide by 0 nevertheless.  The same function if there is nothing to ask.
///
/// name  what messages call the function
PrimFunc with_size_checks(const std::string& name, const PrimFunc& func);

}  // namespace tilewright::lower
