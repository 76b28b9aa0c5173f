#include "tilewright/cli/files.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "tilewright/support/error.h"
#include "tilewright/support/file.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

/// The folders that an interrupt removes.  Global, because signals belong to the process.
struct Unfinished {
  std::mutex mutex;
  std::set<std::string> folders;
};
Unfinished& unfinished() {
  static Unfinished folders;
  return folders;
}

// Removes the folder although other threads and the linker may still be writing into it.
void remove_folder(const std::string& folder) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (!fs::exists(folder, error)) return;
    usleep(10'000);
  }
}

[[noreturn]] void wait_for_signal(sigset_t signals) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  Unfinished& left = unfinished();
  std::lock_guard lock(left.mutex);  // never unlocked, so that no new output begins
  for (const std::string& folder : left.folders) remove_folder(folder);
  constexpr std::string_view kText = "\ninterrupted\n";
  (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  _exit(128 + signal);
}

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    throw UserError("there is no file \"{}\"", path).help("check the path");
  if (fs::is_directory(status))
    throw UserError("\"{}\" is a folder, expected a file", path).help("check the path");
  if (!fs::is_regular_file(status)) throw UserError("\"{}\" is not a regular file", path);
  std::optional<std::string> bytes = read_bytes(path);
  if (!bytes) throw UserError("cannot read \"{}\"", path).help("check its permissions");
  return *std::move(bytes);
}

void handle_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(wait_for_signal, signals).detach();
}

Output::Output(std::string path, bool is_forced) : path_(std::move(path)), is_forced_(is_forced) {
  std::error_code error;
  if (fs::is_directory(path_, error)) throw UserError("\"{}\" cannot be written: it is a folder", path_);
  if (fs::exists(path_, error) && !fs::is_regular_file(path_, error))
    throw UserError("\"{}\" cannot be written: it is not a regular file", path_);
  require_free();
  const fs::path parent = fs::path(path_).parent_path();
  std::string pattern = ((parent.empty() ? fs::path(".") : parent) / ".tilewright-XXXXXX").string();
  Unfinished& left = unfinished();
  std::lock_guard lock(left.mutex);
  if (!mkdtemp(pattern.data())) {
    throw UserError("\"{}\" cannot be written: {}", path_, std::generic_category().message(errno))
        .help("its folder must exist and be writable");
  }
  folder_ = pattern;
  left.folders.insert(folder_);
}

Output::~Output() {
  Unfinished& left = unfinished();
  std::lock_guard lock(left.mutex);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  left.folders.erase(folder_);
}

void Output::require_free() const {
  std::error_code error;
  if (!is_forced_ && fs::exists(fs::symlink_status(path_, error)))
    throw UserError("\"{}\" exists already", path_).help("use --force to replace it");
}

std::string Output::place() const {
  return (fs::path(folder_) / "out").string() + fs::path(path_).extension().string();
}

void Output::write(const std::string& bytes) const {
  std::ofstream file(place(), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw UserError("\"{}\" cannot be written: the disk may be full", path_);
}

void Output::commit() const {
  require_free();  // it may have appeared in the meantime
  std::error_code error;
  fs::rename(place(), path_, error);
  if (error) throw UserError("\"{}\" cannot be written: {}", path_, error.message());
}

}  // namespace tilewright::cli
