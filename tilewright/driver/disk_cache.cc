#include "tilewright/driver/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "tilewright/runtime/vm/checksum.h"
#include "tilewright/support/error.h"
#include "tilewright/support/file.h"

namespace tilewright::driver {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultMegabytes = 500;
constexpr std::string_view kEnding = ".entry";
constexpr std::string_view kNewPrefix = ".new-";  // files that are still being written

// The header of an entry; entries are read on the machine that wrote them.
struct Header {
  char magic[8] = {'T', 'W', 'C', 'A', 'C', 'H', 'E', '1'};
  uint64_t size = 0, checksum = 0;
  friend bool operator==(const Header&, const Header&) = default;
};

Header header_of(std::string_view bytes) {
  Header header;
  header.size = bytes.size();
  header.checksum = runtime::vm::checksum(std::as_bytes(std::span(bytes)));
  return header;
}

// The value of an environment variable; an empty one counts as unset.
std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  return text && *text ? std::optional<std::string>(text) : std::nullopt;
}

fs::path folder_of_user() {
  if (const auto folder = variable("TILEWRIGHT_CACHE_DIR")) return *folder;
  if (const auto caches = variable("XDG_CACHE_HOME")) return fs::path(*caches) / "tilewright";
  if (const auto home = variable("HOME")) return fs::path(*home) / ".cache" / "tilewright";
  return {};
}

int64_t bytes_of_user() {
  const std::optional<std::string> text = variable("TILEWRIGHT_CACHE_MB");
  if (!text) return kDefaultMegabytes * 1'000'000;
  int64_t megabytes = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), megabytes);
  constexpr int64_t kMost = 1'000'000'000;
  if (error != std::errc() || end != text->data() + text->size() || megabytes < 0 || megabytes > kMost)
    throw UserError("TILEWRIGHT_CACHE_MB is \"{}\", expected 0 to {}", *text, kMost)
        .help("it is how many 10^6 bytes of compiled kernels are kept on disk, 0 for none");
  return megabytes * 1'000'000;
}

// True if only this user can write to the folder; a missing folder counts, since it will be created so.
bool is_private(const fs::path& folder) {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0) return errno == ENOENT;
  return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Creates the folder and its parents, accessible to this user alone.
bool make_private(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), S_IRWXU) == 0) return true;
  return errno == EEXIST && is_private(folder);
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

struct Entry {
  fs::path path;
  int64_t num_bytes = 0;
  fs::file_time_type used;
};

// The entries of the folder; removes incomplete files of processes that died.
std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may remove it meanwhile
    Entry entry{at->path(), static_cast<int64_t>(at->file_size(gone)), at->last_write_time(gone)};
    if (gone) continue;
    if (entry.path.extension() == kEnding)
      entries.push_back(std::move(entry));
    else if (entry.path.filename().string().starts_with(kNewPrefix) &&
             fs::file_time_type::clock::now() - entry.used > std::chrono::hours(1))
      fs::remove(entry.path, gone);
  }
  return entries;
}

fs::path path_of(const fs::path& folder, const Hash128& key) {
  return folder / (key.hex() + std::string(kEnding));
}

}  // namespace

DiskCache::DiskCache(fs::path folder, int64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {}

std::optional<DiskCache> DiskCache::of_user() {
  const fs::path folder = folder_of_user();
  const int64_t max_bytes = bytes_of_user();
  if (folder.empty() || max_bytes == 0 || !is_private(folder)) return std::nullopt;
  return DiskCache(folder, max_bytes);
}

std::optional<std::string> DiskCache::find(const Hash128& key) const {
  const fs::path path = path_of(folder_, key);
  std::optional<std::string> bytes = read_bytes(path.string());
  Header header;
  if (!bytes || bytes->size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes->data(), sizeof header);
  bytes->erase(0, sizeof header);
  if (header != header_of(*bytes)) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);  // trim uses the time
  return bytes;
}

void DiskCache::add(const Hash128& key, std::string_view bytes) const {
  if (!make_private(folder_)) return;
  std::string made = (folder_ / (std::string(kNewPrefix) + "XXXXXX")).string();
  const int file = mkostemp(made.data(), O_CLOEXEC);
  if (file < 0) return;
  const Header header = header_of(bytes);
  const bool is_written =
      write_all(file, {reinterpret_cast<const char*>(&header), sizeof header}) && write_all(file, bytes);
  const bool is_whole = close(file) == 0 && is_written;
  if (!is_whole || rename(made.c_str(), path_of(folder_, key).c_str()) != 0) unlink(made.c_str());
}

void DiskCache::trim() const {
  std::vector<Entry> entries = entries_of(folder_);
  int64_t num_bytes = 0;
  for (const Entry& entry : entries) num_bytes += entry.num_bytes;
  if (num_bytes <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (num_bytes <= max_bytes_ / 4 * 3) return;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    num_bytes -= entry.num_bytes;
  }
}

}  // namespace tilewright::driver
