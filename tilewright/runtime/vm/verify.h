// Whether an executable can be run without harm, whatever its bytes are.
#pragma once
#include <string>

#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::runtime::vm {

/// The first fault as a phrase, e.g. `instruction 3 of "main" uses register 9 of 4`; empty if there is none.
/// A sound executable never reads or writes outside of what it owns, and every function of it ends: the
/// interpreter relies on that and checks values only.
std::string find_fault(const Executable& executable);

}  // namespace tilewright::runtime::vm
