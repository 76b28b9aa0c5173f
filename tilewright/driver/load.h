// Loads files that export_library wrote.
#pragma once
#include <string>

#include "tilewright/runtime/module.h"

namespace tilewright::driver {

/// The functions of a shared library or, linked in memory, of an object (.o), an archive of objects (.a,
/// .tar), LLVM IR (.ll), assembly (.s) or C (.c) that export_library wrote for this machine.
///
/// Raises UserError for files that cannot be read or contain no functions, and if a required compiler is
/// missing.
/// missing.
runtime::Module load(const std::string& path);

}  // namespace tilewright::driver
