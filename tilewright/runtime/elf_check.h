// A look at a shared library before the system's loader maps it: a truncated one would raise SIGBUS there.
#pragma once
#include <string>

namespace tilewright::runtime {

/// Raises UserError unless the file at `path` is a whole 64-bit ELF shared library for this machine.
void check_shared_library(const std::string& path);

}  // namespace tilewright::runtime
