// Files as the commands read and write them: whole or not at all, also when the process is interrupted.
#pragma once
#include <string>

namespace tilewright::cli {

/// The bytes of the file at `path`.  Raises UserError if there is none, or it is no regular file or
/// unreadable.
std::string read_file(const std::string& path);

/// From here on SIGINT, SIGTERM and SIGHUP remove the folders of all Outputs and end the process with exit
/// code 128 + signal (130 for Ctrl-C).  Call it once, before any thread is started.
void handle_interrupts();

/// A file in the making: everything is written into a new folder beside `path`, which goes with this object,
/// and moved into place at the end.
class Output {
 public:
  /// Raises UserError at once if `path` could not be written in the end: it is a folder, its folder is
  /// missing or not writable, or it exists and `is_forced` is false.
  Output(std::string path, bool is_forced);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const std::string& path() const { return path_; }
  /// The new folder.
  const std::string& folder() const { return folder_; }
  /// Where to write: a file with the ending of path().
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
