#include "tilewright/support/file.h"

#include <filesystem>
#include <fstream>

namespace tilewright {

std::optional<std::string> read_bytes(const std::string& path) {
  std::error_code problem;
  const uintmax_t size = std::filesystem::file_size(path, problem);
  std::ifstream file(path, std::ios::binary);
  if (problem || !file) return std::nullopt;
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  return bytes;
}

}  // namespace tilewright
