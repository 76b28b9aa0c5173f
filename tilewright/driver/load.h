// Files that export_library has written, back as modules.
#pragma once
#include <string>

#include "tilewright/runtime/module.h"

namespace tilewright::driver {

/// The functions of a shared library or, linked in memory, of an object (.o), an archive of objects (.a,
/// .tar), LLVM IR (.ll), assembly (.s) or C (.c) that export_library wrote for this machine.
///
/// Raises UserError for what cannot be read or holds no functions, and where a compiler is needed and
/// missing.
runtime::Module load(const std::string& path);

}  // namespace tilewright::driver
