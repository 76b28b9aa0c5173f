// Identifies this compiler: cached code may only be used by the compiler that made it.
#pragma once
#include <string>

namespace tilewright::driver {

/// The build ID that the linker gave the library or program with this code, in hexadecimal; "" if it has
/// none.  Source: the note NT_GNU_BUILD_ID of ELF files, elf(5).
std::string build_id();

}  // namespace tilewright::driver
