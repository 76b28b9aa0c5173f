// Checks that an executable can be run safely, whatever its bytes are.
#pragma once
#include <string>

#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::runtime::vm {

/// The first fault as a phrase, e.g. `instruction 3 of "main" uses register 9 of 4`; empty if there is none.
/// A verified executable never reads or writes outside of its memory, and every function of it ends: the
/// interpreter relies on that and only checks values.
std::string find_fault(const Executable& executable);

}  // namespace tilewright::runtime::vm
