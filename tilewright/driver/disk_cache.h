// Caches expensive results on disk from one process to the next: code of kernels, measured properties of the
// machine.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tilewright/support/hash.h"

namespace tilewright::driver {

/// A folder of entries, each under the hash of everything that its bytes depend on.  Any number of threads
/// and processes may use a folder at the same time: entries are written completely or not at all, and damaged
/// ones are ignored.  Entries that cannot be read or written are not cached, which only costs time.
class DiskCache {
 public:
  /// `folder` is created when the first entry is written.
  DiskCache(std::filesystem::path folder, int64_t max_bytes);
  /// $TILEWRIGHT_CACHE_DIR, else tilewright in $XDG_CACHE_HOME or ~/.cache, of at most $TILEWRIGHT_CACHE_MB
  /// (10^6 bytes, default 500).  Nullopt if there is no such folder, the limit is 0, or other users can write
  /// to it: entries are code that will be run.
  static std::optional<DiskCache> of_user();

  std::optional<std::string> find(const Hash128& key) const;
  void add(const Hash128& key, std::string_view bytes) const;
  /// If the entries take more than max_bytes: removes those that were not used for the longest time until the
  /// rest take three quarters of max_bytes.
  void trim() const;

 private:
  std::filesystem::path folder_;
  int64_t max_bytes_;
};

}  // namespace tilewright::driver
