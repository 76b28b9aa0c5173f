// Checks a shared library before the system's loader maps it and runs its initialisers: a truncated file
// would raise SIGBUS there, a damaged one could do anything.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace tilewright::runtime {

/// The bytes that the compiler appends to a library so that damage is found: a marker and the checksum of
/// `library`. The system's loader ignores bytes behind the ELF file.
std::string library_seal(std::span<const std::byte> library);

/// Raises UserError unless the file at `path` is a complete 64-bit ELF shared library for this machine and
/// its seal, if it has one, is right.
void check_shared_library(const std::string& path);

}  // namespace tilewright::runtime
