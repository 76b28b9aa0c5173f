// Finds the tensors that a function changes: the loader refuses read-only memory for these parameters.
#pragma once
#include <vector>

#include "tilewright/tir/tir.h"

namespace tilewright::lower {
using namespace tir;

/// For each parameter of `func`, true if its elements may be written: by a store, or through a pointer that
/// is passed on (a pointer that is only read through, A.access_ptr("r"), does not count).
std::vector<bool> written_params(const PrimFunc& func);

}  // namespace tilewright::lower
