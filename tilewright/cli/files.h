// Reading and writing of files: completely or not at all, even if the process is interrupted.
#pragma once
#include <string>

namespace tilewright::cli {

/// The bytes of the file at `path`.  Raises UserError if there is none, or it is unreadable or not a regular
/// file.
std::string read_file(const std::string& path);

/// From now on SIGINT, SIGTERM and SIGHUP remove the folders of all Outputs and end the process with exit
/// code 128 + signal (130 for Ctrl-C).  Call it once, before any thread is started.
void handle_interrupts();

/// A file that is being written: everything is written into a new folder beside `path`, which is removed with
/// this object, and moved into place at the end.
class Output {
 public:
  /// Raises UserError at once if `path` cannot be written: it is a folder, its folder is missing or not
  /// writable, or it exists and `is_forced` is false.
  Output(std::string path, bool is_forced);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const std::string& path() const { return path_; }
  /// The new folder.
  const std::string& folder() const { return folder_; }
  /// The path to write to: a file with the ending of path().
  std::string place() const;
  /// Writes `bytes` to place().  Raises UserError if that fails.
  void write(const std::string& bytes) const;
  /// Moves the file from place() to path().
  void commit() const;

 private:
  void require_free() const;
  std::string path_, folder_;
  bool is_forced_;
};

}  // namespace tilewright::cli
