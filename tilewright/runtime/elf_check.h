// A look at a shared library before the system's loader maps it and runs what is in it: a truncated one would
// raise SIGBUS there, a damaged one anything.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace tilewright::runtime {

/// What a compiler appends to the bytes of a library, so that damage to them is found: a mark and their
/// checksum. The system's loader does not look behind the ELF file.
std::string library_seal(std::span<const std::byte> library);

/// Raises UserError unless the file at `path` is a whole 64-bit ELF shared library for this machine, and its
/// seal, if it has one, is right.
void check_shared_library(const std::string& path);

}  // namespace tilewright::runtime
