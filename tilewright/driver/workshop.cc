#include "tilewright/driver/workshop.h"

#include <unistd.h>

#include <fstream>

#include "tilewright/support/error.h"

namespace tilewright::driver {

namespace fs = std::filesystem;

Workshop::Workshop(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::string pattern = (parent / ".tilewright-XXXXXX").string();
  if (!mkdtemp(pattern.data())) {
    throw UserError("{} cannot be written: {}", path.string(), std::generic_category().message(errno))
        .help("the folder must exist and be writable");
  }
  folder_ = pattern;
}

Workshop::~Workshop() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Workshop::write(const std::string& name, const std::string& content) const {
  std::string file_name = place(name);
  std::ofstream file(file_name, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) throw UserError("{} cannot be written: the disk may be full", file_name);
  return file_name;
}

void Workshop::move_out(const std::string& file, const fs::path& target) const {
  std::error_code error;
  fs::rename(file, target, error);
  if (error) throw UserError("{} cannot be written: {}", target.string(), error.message());
}

}  // namespace tilewright::driver
