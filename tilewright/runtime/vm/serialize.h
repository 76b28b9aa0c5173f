// Executables as bytes.  Little-endian, versioned, with a checksum; constants are aligned to 64 bytes so that
// a file or a section of a library that is mapped into memory is used in place.
//
//   header    "TWVM", u32 version, u64 total number of bytes, u64 checksum of the rest, u64 bytes of `code`
//   code      strings, callees, notes, devices, functions, descriptions of the constants (dtype, shape, offset)
//   data      the constants, each at a multiple of 64 from the start
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/runtime/vm/bytecode.h"

namespace tilewright::runtime::vm {

inline constexpr uint32_t kExecutableVersion = 3;

std::vector<std::byte> save(const Executable& executable);
/// The executable in `bytes`, which are not trusted.  With an `owner` that keeps the bytes, constants are
/// used in place (if `bytes` starts at a multiple of 64) and are read-only; otherwise they are copied.  name:
/// how messages call the bytes.  Raises UserError if the bytes are damaged or of another version.
Executable load(std::span<const std::byte> bytes, const std::string& name,
                std::shared_ptr<const void> owner = nullptr);

}  // namespace tilewright::runtime::vm
