// Files as bytes.
#pragma once
#include <optional>
#include <string>

namespace tilewright {

/// The bytes of the file at `path`; nullopt if it cannot be read.
std::optional<std::string> read_bytes(const std::string& path);

}  // namespace tilewright
