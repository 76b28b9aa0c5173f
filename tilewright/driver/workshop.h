// A temporary folder in which files are made before they are moved into place.
#pragma once
#include <filesystem>
#include <string>

namespace tilewright::driver {

/// A new folder beside `path`, which is removed with this object.
class Workshop {
 public:
  explicit Workshop(const std::filesystem::path& path);
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  /// Writes the file `name` in the folder and returns its path; raises UserError if the disk is full.
  std::string write(const std::string& name, const std::string& content) const;
  std::string place(const std::string& name) const { return (folder_ / name).string(); }
  void move_out(const std::string& file, const std::filesystem::path& target) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace tilewright::driver
