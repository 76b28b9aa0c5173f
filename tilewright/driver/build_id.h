// Which compiler this is: code that it made may be kept for the same one only.
#pragma once
#include <string>

namespace tilewright::driver {

/// The build ID that the linker gave the library or program with this code, in hexadecimal digits; "" if it
/// gave none.  Source: the note NT_GNU_BUILD_ID of ELF files, elf(5).
std::string build_id();

}  // namespace tilewright::driver
