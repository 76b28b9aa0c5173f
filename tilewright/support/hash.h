// A 128-bit content hash: the same bytes give the same hash on every machine and in every version.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tilewright {

struct Hash128 {
  uint64_t high = 0, low = 0;
  friend constexpr auto operator<=>(const Hash128&, const Hash128&) = default;
  /// 32 lower-case hexadecimal digits.
  std::string hex() const;
};

/// Hashes a sequence of words with two multiply-xorshift lanes (constants: splitmix64, Steele et al. 2014).
class Hasher {
 public:
  Hasher& add(uint64_t word);
  Hasher& add(std::string_view bytes);
  Hasher& add(const Hash128& hash) { return add(hash.high).add(hash.low); }
  Hash128 finish() const;

 private:
  uint64_t a_ = 0x9E3779B97F4A7C15ull, b_ = 0xD1B54A32D192ED03ull, count_ = 0;
};

}  // namespace tilewright
