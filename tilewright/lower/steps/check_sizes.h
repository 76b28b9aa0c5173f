// The conditions on the sizes of a call that the indices of a program need.
#pragma once
#include <string>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// The function with an attribute that lists the unproved conditions on sizes and scalar parameters under
/// which its sure accesses stay in their buffers; the step check_sizes makes statements of it.  Also has the
/// attribute kCheckDivisions (annotations.h) if a division by 0 is still possible.  The same function if
/// there is no condition.
///
/// name  how messages call the function
PrimFunc with_size_checks(const std::string& name, const PrimFunc& func);

}  // namespace tilewright::lower
