// What is costly to find out, on disk: code of kernels, figures of the machine.  Kept from one process to the
// next.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tilewright/support/hash.h"

namespace tilewright::driver {

/// A folder of entries, each under the hash of all that its bytes were made of.  Any number of threads and
/// processes may use one folder at once: entries appear whole, and a damaged one is as good as none.  What
/// cannot be read or written is not kept, which costs time and nothing else.
class DiskCache {
 public:
  /// `folder` is made when the first entry comes.
  DiskCache(std::filesystem::path folder, int64_t max_bytes);
  /// $TILEWRIGHT_CACHE_DIR, else tilewright in $XDG_CACHE_HOME or ~/.cache, of at most $TILEWRIGHT_CACHE_MB
  /// (10^6 bytes, default 500).  Nothing if there is no such folder, it may be 0 bytes, or others than this
  /// user can write to it: entries are code that runs.
  static std::optional<DiskCache> of_user();

  std::optional<std::string> find(const Hash128& key) const;
  void add(const Hash128& key, std::string_view bytes) const;
  /// Removes the entries that were not used for the longest time until the others take three quarters of
  /// max_bytes, if all take more than that.
  void trim() const;

 private:
  std::filesystem::path folder_;
  int64_t max_bytes_;
};

}  // namespace tilewright::driver
